// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/CacheFolder.h"
#include "runtime/Error.h"
#include "runtime/File.h"
#include "runtime/Fork.h"
#include "runtime/SlowWork.h"
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <thread>
#include <unistd.h>

namespace taylor::runtime {
namespace {

namespace fs = std::filesystem;

constexpr const char *kLayout = "v2"; // of the cache folder
constexpr const char *kWayOut = "set TAYLOR_CACHE_DIR to a folder of your own";

/// Who may have written what is here: the user or root, and no one else.
void checkTrust(const struct stat &status, const std::string &path) {
  bool isFolder = S_ISDIR(status.st_mode);
  if (status.st_uid != geteuid() && status.st_uid != 0)
    fail("expected '", path, "' in the kernel cache to belong to user ", geteuid(), " or root, but got user ",
         status.st_uid, ": remove it, or ", kWayOut);
  if (status.st_mode & 022) {
    std::ostringstream mode;
    mode << std::oct << std::setw(4) << std::setfill('0') << (status.st_mode & 07777);
    fail("expected '", path, "' in the kernel cache to be writable by its owner alone, but got mode ",
         mode.str(), ": ", isFolder ? "run chmod go-w on it, or " : "remove it, or ", kWayOut);
  }
}

/// A folder on the way in which anyone may rename the next one could lead a compiler elsewhere. Whoever owns
/// it is not asked: in a container that may be a number without a name.
void checkAncestors(const std::string &path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  for (fs::path parent = real.parent_path(); !error && parent != real;
       real = parent, parent = parent.parent_path()) {
    struct stat status;
    if (stat(parent.c_str(), &status) == 0 && (status.st_mode & S_IWOTH) && !(status.st_mode & S_ISVTX))
      fail("expected folders above the kernel cache that not everyone may write, but got '", parent.string(),
           "': run chmod o-w on it, or ", kWayOut);
  }
}

/// Whatever the umask says, no one else may write them.
void makeFolders(const fs::path &path) {
  std::error_code error;
  if (path.empty() || fs::exists(path, error))
    return;
  makeFolders(path.parent_path());
  mkdir(path.c_str(), 0755);
}

/// `O_NOFOLLOW` says ELOOP (on a folder ENOTDIR) for a link.
std::string reasonOf(int error, bool isLink) {
  return isLink ? "it is a symbolic link" : std::strerror(error);
}

/// The process that holds a lock on a file, by /proc/locks; 0 where that does not tell.
long holderOf(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    return 0;
  std::ostringstream wanted;
  wanted << std::hex << std::setfill('0') << std::setw(2) << major(status.st_dev) << ':' << std::setw(2)
         << minor(status.st_dev) << std::dec << ':' << status.st_ino;
  std::ifstream locks("/proc/locks");
  // "1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF"; waiting ones have "->" after the number.
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, file;
    long process = 0;
    if (words >> number >> kind >> mode >> access >> process >> file && kind == "FLOCK" &&
        file == wanted.str())
      return process;
  }
  return 0;
}

double lockSeconds() {
  constexpr double usual = 600, most = 1e6;
  const char *text = std::getenv("TAYLOR_LOCK_SECONDS");
  if (!text || !*text)
    return usual;
  double value = 0;
  const char *last = text + std::strlen(text);
  auto [end, error] = std::from_chars(text, last, value);
  if (error != std::errc() || end != last || !(value >= 0) || value > most)
    fail("expected a number of seconds from 0 to 1000000 in TAYLOR_LOCK_SECONDS, but got '", text, "'");
  return value;
}

} // namespace

std::string cacheFolder() {
  if (const char *folder = std::getenv("TAYLOR_CACHE_DIR"); folder && *folder)
    return folder;
  if (std::string folder = userCacheFolder(); !folder.empty())
    return folder;
  fail("requires a cache folder: set TAYLOR_CACHE_DIR, XDG_CACHE_HOME or HOME");
}

CacheFolder::CacheFolder() : path(cacheFolder() + "/" + kLayout) { openFolder(); }

CacheFolder::~CacheFolder() {
  if (descriptor >= 0)
    close(descriptor);
}

void CacheFolder::openFolder() {
  descriptor = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) {
    int reason = errno;
    if (reason == ENOENT || reason == ENOTDIR) {
      std::error_code ignored;
      if (!fs::is_symlink(path, ignored))
        return; // requireWritable() says what is wrong, if anything
    }
    fail("expected a folder that can be opened as '", path,
         "', but got: ", reasonOf(reason, reason == ELOOP || reason == ENOTDIR), ": remove it, or ", kWayOut);
  }
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    fail("could not look at '", path, "': ", std::strerror(errno));
  checkTrust(status, path);
  std::string parent = cacheFolder();
  if (stat(parent.c_str(), &status) == 0)
    checkTrust(status, parent);
  checkAncestors(parent);
}

void CacheFolder::requireWritable() {
  if (descriptor < 0) {
    makeFolders(path); // what goes wrong shows below
    openFolder();
  }
  if (descriptor < 0 || faccessat(descriptor, ".", W_OK | X_OK, AT_EACCESS) != 0)
    fail("requires a cache folder that can be written, but got '", path,
         "': set TAYLOR_CACHE_DIR or XDG_CACHE_HOME to another");
}

std::optional<std::string> CacheFolder::read(const std::string &name) const {
  if (descriptor < 0)
    return std::nullopt;
  int file = openat(descriptor, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    if (errno == ENOENT)
      return std::nullopt;
    fail("expected a file that can be read as '", pathOf(name),
         "', but got: ", reasonOf(errno, errno == ELOOP), ": remove it, or ", kWayOut);
  }
  try {
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
      fail("expected a regular file as '", pathOf(name), "', but got something else: remove it, or ",
           kWayOut);
    checkTrust(status, pathOf(name));
    std::string bytes = readDescriptor(file);
    close(file);
    return bytes;
  } catch (const Error &) {
    close(file);
    throw;
  }
}

/// A new file, or (with the flags) one that is there.
int CacheFolder::create(const std::string &name, int flags) const {
  int file = openat(descriptor, name.c_str(), O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | flags, 0644);
  if (file < 0)
    fail("expected a file that can be written as '", pathOf(name),
         "', but got: ", reasonOf(errno, errno == ELOOP), ": remove it, or ", kWayOut);
  return file;
}

void CacheFolder::write(const std::string &name, const std::string &bytes) const {
  std::string partial = name + ".partial";
  remove(partial);
  int file = create(partial, O_WRONLY | O_EXCL);
  int reason = 0;
  for (size_t done = 0; done < bytes.size() && !reason;) {
    ssize_t count = ::write(file, bytes.data() + done, bytes.size() - done);
    if (count > 0)
      done += size_t(count);
    else if (count == 0 || errno != EINTR)
      reason = count == 0 ? EIO : errno;
  }
  if (close(file) != 0 && !reason)
    reason = errno;
  if (reason) {
    remove(partial);
    fail("could not write '", pathOf(name), "': ", std::strerror(reason));
  }
  rename(partial, name);
}

void CacheFolder::remove(const std::string &name) const { unlinkat(descriptor, name.c_str(), 0); }

void CacheFolder::rename(const std::string &from, const std::string &to) const {
  if (renameat(descriptor, from.c_str(), descriptor, to.c_str()) != 0)
    fail("could not rename '", pathOf(from), "': ", std::strerror(errno));
}

std::string CacheFolder::readOutput(const std::string &name) const {
  int file = openat(descriptor, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0)
    fail("'", pathOf(name), "': ", std::strerror(errno));
  try {
    std::string bytes = readDescriptor(file);
    close(file);
    return bytes;
  } catch (const Error &error) {
    close(file);
    fail("'", pathOf(name), "': ", error.what());
  }
}

CompileLock::CompileLock(const CacheFolder &folder, const std::string &name, const std::string &what) {
  double limit = lockSeconds();
  UnsharedDescriptors::open([&] { descriptor = folder.create(name, O_RDWR); }, {&descriptor});
  auto begin = std::chrono::steady_clock::now();
  bool told = false;
  while (int reason = lockFile(descriptor)) {
    std::chrono::duration<double> waited = std::chrono::steady_clock::now() - begin;
    long holder = reason == EWOULDBLOCK && (waited.count() > kPatience || waited.count() > limit)
                      ? holderOf(descriptor)
                      : 0;
    std::string process = holder > 0 ? "process " + std::to_string(holder) : "another process";
    if (reason != EWOULDBLOCK) {
      UnsharedDescriptors::close(descriptor);
      fail("could not lock '", folder.pathOf(name), "': ", std::strerror(reason));
    }
    if (waited.count() > limit) {
      UnsharedDescriptors::close(descriptor);
      fail("requires the lock '", folder.pathOf(name), "' to compile ", what, ", but ", process,
           " has held it for ", limit,
           " s: wait for that process or end it; TAYLOR_LOCK_SECONDS sets how long to wait");
    }
    if (!told && waited.count() > kPatience) {
      fprintf(stderr, "taylor: waiting for %s, which compiles %s; at most %g s\n", process.c_str(),
              what.c_str(), limit);
      told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

CompileLock::~CompileLock() {
  if (descriptor >= 0)
    flock(descriptor, LOCK_UN); // for a child that inherited it all the same
  UnsharedDescriptors::close(descriptor);
}

} // namespace taylor::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/support/Files.h"
#include "runtime/File.h"
#include "trainer/support/Error.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

[[noreturn]] void failSystem(const char *verb, const fs::path &path) {
  fail("cannot ", verb, " '", path.string(), "': ", std::strerror(errno));
}

/// Closes on every way out.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
};

void syncFolder(const fs::path &path) {
  Descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.number < 0 || ::fsync(folder.number) != 0)
    failSystem("flush", path);
}

/// What `read` returns. The runtime's errors say the reason alone; they get the file's name.
template <typename Read> auto naming(const fs::path &path, Read read) {
  try {
    return read();
  } catch (const runtime::NotAFile &) {
    fail("expected a file, but '", path.string(), "' is something else");
  } catch (const Error &error) {
    fail("cannot read '", path.string(), "': ", error.what());
  }
}

} // namespace

MappedFile::MappedFile(const fs::path &path) {
  runtime::OpenFile file = naming(path, [&] { return runtime::OpenFile(path.string()); });
  bytes = file.size();
  if (bytes == 0)
    return;
  void *mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (mapped == MAP_FAILED)
    failSystem("map", path);
  begin = static_cast<const char *>(mapped);
}

MappedFile &MappedFile::operator=(MappedFile &&other) noexcept {
  std::swap(begin, other.begin);
  std::swap(bytes, other.bytes);
  return *this;
}

MappedFile::~MappedFile() {
  if (begin)
    ::munmap(const_cast<char *>(begin), bytes);
}

void requireFolder(const fs::path &folder, std::string_view what, std::string_view option) {
  std::error_code error;
  fs::path nearest = fs::absolute(folder).lexically_normal();
  while (!fs::exists(nearest, error) && nearest.has_relative_path())
    nearest = nearest.parent_path();
  if (!fs::is_directory(nearest, error))
    fail("requires a folder for ", what, ", but '", nearest.string(), "' is a file; name another with ",
         option);
  if (::access(nearest.c_str(), W_OK | X_OK) != 0)
    fail("requires a folder that can be written for ", what, ", but got '", folder.string(), "': '",
         nearest.string(), "': ", std::strerror(errno), "; name another with ", option);
}

void requireWritable(const fs::path &path, std::string_view option) {
  std::error_code error;
  bool there = fs::exists(path, error);
  fs::path checked = there ? path : fs::absolute(path).lexically_normal().parent_path();
  int reason = there && fs::is_directory(path, error)                  ? EISDIR
               : !there && fs::is_regular_file(checked, error)         ? ENOTDIR
               : ::access(checked.c_str(), there ? W_OK : W_OK | X_OK) ? errno
                                                                       : 0;
  if (reason)
    fail("cannot write '", path.string(), "': ", std::strerror(reason), "; name another with ", option);
}

int64_t sizeOf(const fs::path &path) {
  std::error_code error;
  int64_t size = fs::file_size(path, error);
  if (error)
    fail("cannot read '", path.string(), "': ", error.message());
  return size;
}

int64_t timeOf(const fs::path &path) {
  std::error_code error;
  fs::file_time_type time = fs::last_write_time(path, error);
  if (error)
    fail("cannot read '", path.string(), "': ", error.message());
  return time.time_since_epoch().count();
}

void removeFile(const fs::path &path) {
  std::error_code error;
  fs::remove(path, error);
  if (error)
    fail("cannot remove '", path.string(), "': ", error.message());
}

std::string readFile(const fs::path &path) {
  return naming(path, [&] { return runtime::readFile(path.string()); });
}

DurableFile::DurableFile(const fs::path &path)
    : path(path), descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
  if (descriptor < 0)
    failSystem("write", path);
}

DurableFile::~DurableFile() { ::close(descriptor); }

void DurableFile::write(std::string_view contents) {
  while (!contents.empty()) {
    ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      failSystem("write", path);
    contents.remove_prefix(written);
  }
}

void DurableFile::finish() {
  if (::fsync(descriptor) != 0)
    failSystem("write", path);
}

void writeDurably(const fs::path &path, std::string_view contents) {
  DurableFile file(path);
  file.write(contents);
  file.finish();
}

void replaceDurably(const fs::path &path, std::string_view contents) {
  fs::path hidden = path.parent_path() / ("." + path.filename().string() + ".new");
  writeDurably(hidden, contents);
  if (::rename(hidden.c_str(), path.c_str()) != 0)
    failSystem("create", path);
  syncFolder(fs::absolute(path).parent_path());
}

AtomicFolder::AtomicFolder(fs::path where) : target(fs::absolute(where).lexically_normal()) {
  if (!target.has_filename())
    target = target.parent_path();
  std::string prefix = "." + target.filename().string() + ".";
  temporary = target.parent_path() / text(prefix, ::getpid());
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(target.parent_path(), error))
    if (entry.path().filename().string().starts_with(prefix))
      fs::remove_all(entry.path(), error);
  fs::create_directories(temporary, error);
  if (error)
    fail("cannot create '", temporary.string(), "': ", error.message());
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  fs::remove_all(temporary, ignored);
}

void AtomicFolder::commit() { replaceFolder(temporary, target); }

/// Where the two cannot be exchanged: a kill between the steps leaves neither under its name.
static void replaceInTwoSteps(const fs::path &made, const fs::path &target) {
  fs::path aside = made;
  aside += ".old";
  if (::rename(target.c_str(), aside.c_str()) != 0)
    failSystem("replace", target);
  if (::rename(made.c_str(), target.c_str()) != 0) {
    int reason = errno;
    ::rename(aside.c_str(), target.c_str());
    errno = reason;
    failSystem("create", target);
  }
  std::error_code ignored;
  fs::remove_all(aside, ignored);
}

void replaceFolder(const fs::path &made, const fs::path &target) {
  syncFolder(made);
  std::error_code error;
  if (!fs::exists(target, error)) {
    if (::rename(made.c_str(), target.c_str()) != 0)
      failSystem("create", target);
  } else if (::renameat2(AT_FDCWD, made.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) != 0) {
    // In one step: at no instant is there neither the old folder nor the new one. NFS and Lustre have no such
    // step, nor have old kernels.
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
      failSystem("create", target);
    replaceInTwoSteps(made, target);
  }
  syncFolder(fs::absolute(target).parent_path());
}

FileLock::FileLock(const fs::path &path, const char *wayOut) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error)
    fail("cannot create the folder '", path.parent_path().string(), "': ", error.message(), wayOut);
  descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0)
    fail("cannot lock '", path.string(), "': ", std::strerror(errno), wayOut);
}

std::unique_ptr<FileLock> FileLock::attempt(const fs::path &path) {
  std::unique_ptr<FileLock> lock(new FileLock(path, ""));
  switch (int reason = runtime::lockFile(lock->descriptor)) {
  case 0:
    return lock;
  case EWOULDBLOCK:
    return nullptr;
  case ENOSYS:
  case EOPNOTSUPP:
  case ENOLCK:
    lock->exclusive = false;
    return lock;
  default:
    errno = reason;
    failSystem("lock", path);
  }
}

FileLock::FileLock(const fs::path &path, void (*waiting)(), const char *wayOut) : FileLock(path, wayOut) {
  if (runtime::lockFile(descriptor) == 0)
    return;
  waiting();
  errno = runtime::lockFile(descriptor, /*wait=*/true);
  if (errno)
    failSystem("lock", path);
}

bool FileLock::isStill(const fs::path &path) const {
  struct stat locked, there;
  return ::fstat(descriptor, &locked) == 0 && ::stat(path.c_str(), &there) == 0 &&
         locked.st_dev == there.st_dev && locked.st_ino == there.st_ino;
}

FileLock::~FileLock() { ::close(descriptor); }

fs::path cacheFolder() {
  std::string folder = runtime::userCacheFolder();
  if (folder.empty())
    fail("requires HOME or XDG_CACHE_HOME to be set: the tokenizer and tokens are cached there");
  return folder;
}

uint64_t fnv1a(std::string_view bytes, uint64_t hash) {
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3ULL;
  return hash;
}

size_t validUtf8Prefix(std::string_view bytes) {
  size_t i = 0;
  auto byte = [&](size_t at) -> unsigned {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0;
  };
  auto continues = [&](size_t at) { return (byte(at) & 0xC0) == 0x80; };
  while (i < bytes.size()) {
    unsigned lead = byte(i);
    if (lead < 0x80) {
      i += 1;
    } else if (lead >= 0xC2 && lead <= 0xDF && continues(i + 1)) {
      i += 2;
    } else if ((lead & 0xF0) == 0xE0 && continues(i + 1) && continues(i + 2)) {
      unsigned point = (lead & 0x0F) << 12 | (byte(i + 1) & 0x3F) << 6;
      if (point < 0x800 || (point >= 0xD800 && point <= 0xDFFF))
        return i;
      i += 3;
    } else if (lead >= 0xF0 && lead <= 0xF4 && continues(i + 1) && continues(i + 2) && continues(i + 3)) {
      unsigned point = (lead & 0x07) << 18 | (byte(i + 1) & 0x3F) << 12;
      if (point < 0x10000 || point > 0x10FFFF)
        return i;
      i += 4;
    } else {
      return i;
    }
  }
  return i;
}

} // namespace taylor::trainer

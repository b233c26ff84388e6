// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/File.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace taylor::runtime {

/// Bytes of a regular file.
static size_t sizeOf(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0)
    fail(std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    throw NotAFile();
  return size_t(status.st_size);
}

// Without O_NONBLOCK, opening a pipe would wait for its writer.
OpenFile::OpenFile(const std::string &path) : number(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (number < 0)
    fail(std::strerror(errno));
  try {
    bytes = sizeOf(number);
  } catch (...) {
    close(number);
    throw;
  }
}

OpenFile::~OpenFile() { close(number); }

std::string readDescriptor(int descriptor) {
  std::string bytes(sizeOf(descriptor), '\0');
  for (size_t done = 0; done < bytes.size();) {
    ssize_t count = pread(descriptor, bytes.data() + done, bytes.size() - done, off_t(done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      fail("could not be read: ", std::strerror(errno));
    if (count == 0) // another program has shortened it
      bytes.resize(done);
    done += size_t(count);
  }
  return bytes;
}

std::string readFile(const std::string &path) { return readDescriptor(OpenFile(path).descriptor()); }

int lockFile(int descriptor, bool wait) {
  while (flock(descriptor, wait ? LOCK_EX : LOCK_EX | LOCK_NB) != 0)
    if (errno != EINTR)
      return errno;
  return 0;
}

std::string userCacheFolder() {
  // The XDG specification says to ignore relative paths.
  if (const char *xdg = std::getenv("XDG_CACHE_HOME"); xdg && *xdg == '/')
    return std::string(xdg) + "/taylor";
  const char *home = std::getenv("HOME");
  return home && *home ? std::string(home) + "/.cache/taylor" : "";
}

} // namespace taylor::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_RUNTIME_FILE_H
#define TAYLOR_RUNTIME_FILE_H
#include "runtime/Error.h"
#include <string>

namespace taylor::runtime {

/// What is thrown for a folder, a pipe or a device.
struct NotAFile : Error {
  NotAFile() : Error("expected a regular file") {}
};

/// A regular file, open for reading. A pipe or device is refused before it is read, so nothing waits for a
/// writer. Throws Error with the reason alone: callers say which file.
class OpenFile {
public:
  explicit OpenFile(const std::string &path);
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;
  ~OpenFile();

  int descriptor() const { return number; }
  size_t size() const { return bytes; } ///< When it was opened.

private:
  int number;
  size_t bytes = 0;
};

/// The bytes of a regular file. Throws as OpenFile does.
std::string readFile(const std::string &path);

/// The same of an open descriptor, which stays open.
std::string readDescriptor(int descriptor);

/// Takes an exclusive lock (flock) of an open file, which ends with the descriptor. 0 where it has it;
/// without `wait` EWOULDBLOCK where another process has it; else the error's number.
int lockFile(int descriptor, bool wait = false);

/// Where a user's programs keep what they can make again: $XDG_CACHE_HOME/taylor, else ~/.cache/taylor; empty
/// without HOME.
std::string userCacheFolder();

} // namespace taylor::runtime

#endif

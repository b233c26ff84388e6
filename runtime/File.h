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

} // namespace taylor::runtime

#endif

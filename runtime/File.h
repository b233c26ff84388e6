// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_RUNTIME_FILE_H
#define TAYLOR_RUNTIME_FILE_H
#include <string>

namespace taylor::runtime {

/// The bytes of a regular file. A pipe or device is refused before it is read, so nothing waits for a writer.
/// Throws Error with the reason alone: callers say which file.
std::string readFile(const std::string &path);

/// The same of an open descriptor, which stays open.
std::string readDescriptor(int descriptor);

} // namespace taylor::runtime

#endif

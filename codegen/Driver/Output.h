// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that appear whole or not at all.
#ifndef TAYLOR_CODEGEN_DRIVER_OUTPUT_H
#define TAYLOR_CODEGEN_DRIVER_OUTPUT_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace taylor {

struct OutputFile {
  std::string path;
  std::string contents;
  bool isProgram = false;
};

/// Whether files of these names could be written, before the work for them is done: a message for the first
/// that could not, empty if all can. Leaves nothing behind.
std::string checkOutputs(const std::vector<std::string> &paths);

/// Writes all files or none: each under a temporary name in its folder, then renamed. Returns a message,
/// empty on success.
std::string writeFiles(const std::vector<OutputFile> &files);

} // namespace taylor

#endif

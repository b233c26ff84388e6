// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of the machine that make machine code of a text: an assembler, a compiler of C.
#ifndef TAYLOR_CODEGEN_ARTIFACT_EXTERNALTOOL_H
#define TAYLOR_CODEGEN_ARTIFACT_EXTERNALTOOL_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace taylor {

/// What a program did: the file it wrote, what it said, and why it failed, if it did.
struct ToolRun {
  std::string output, log, failure;
};

/// Runs `PROGRAM OPTIONS.. INPUT -o OUTPUT` on temporary files. `suffix`: that of the input's name, without
/// the dot. Nothing, and a message in `error`, where there is no such file to be had.
std::optional<ToolRun> runTool(llvm::StringRef program, llvm::ArrayRef<llvm::StringRef> options,
                               llvm::StringRef input, llvm::StringRef suffix, std::string &error);

} // namespace taylor

#endif

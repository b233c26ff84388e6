// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/CommandLine.h"

#include "TaylorVersion.h"
#include "llvm/Config/llvm-config.h"

std::string taylor::getVersion(llvm::StringRef program) {
  return program.str() + " " TAYLOR_VERSION " (commit " TAYLOR_GIT_HASH "), LLVM " LLVM_VERSION_STRING;
}

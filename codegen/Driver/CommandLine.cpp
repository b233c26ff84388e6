// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/CommandLine.h"

#include "codegen/Driver/Version.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

void taylor::prepareCommandLine(llvm::StringRef program) {
  for (auto &option : llvm::cl::getRegisteredOptions())
    if (!option.first.starts_with("help") && option.first != "version")
      option.second->setHiddenFlag(llvm::cl::Hidden);
  llvm::cl::SetVersionPrinter(
      [line = getVersion(program)](llvm::raw_ostream &stream) { stream << line << "\n"; });
}

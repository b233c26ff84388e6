// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/Choices.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include "codegen/Targets/Choices.cpp.inc"

std::string taylor::unsupportedTarget(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known) {
  return ("unsupported target '" + name + "'; expected " + llvm::join(known.drop_back(), ", ") + " or " +
          known.back())
      .str();
}

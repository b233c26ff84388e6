// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Switches of LLVM's optimiser and code generator that have no other door than its command line.
#ifndef TAYLOR_CODEGEN_ARTIFACT_LLVMSWITCH_H
#define TAYLOR_CODEGEN_ARTIFACT_LLVMSWITCH_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/CommandLine.h"

namespace taylor {

/// A switch that is on, or off, as long as this lives: others in this process use the same LLVM. Where this
/// LLVM does not have it, nothing happens (`exists`). Not for two threads at a time.
class LLVMSwitch {
public:
  LLVMSwitch(llvm::StringRef name, bool value) : option(find(name)) {
    if (option) {
      before = option->getValue();
      option->setValue(value);
    }
  }
  ~LLVMSwitch() {
    if (option)
      option->setValue(before);
  }
  LLVMSwitch(const LLVMSwitch &) = delete;
  LLVMSwitch &operator=(const LLVMSwitch &) = delete;

  static bool exists(llvm::StringRef name) { return find(name); }

private:
  static llvm::cl::opt<bool> *find(llvm::StringRef name) {
    auto &options = llvm::cl::getRegisteredOptions();
    auto found = options.find(name);
    return found == options.end() ? nullptr : static_cast<llvm::cl::opt<bool> *>(found->second);
  }

  llvm::cl::opt<bool> *option;
  bool before = false;
};

} // namespace taylor

#endif

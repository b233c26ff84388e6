// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's code generator for the machine that loads artifacts.
#ifndef TAYLOR_CODEGEN_ARTIFACT_HOSTMACHINE_H
#define TAYLOR_CODEGEN_ARTIFACT_HOSTMACHINE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"
#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
}

namespace taylor {

/// Position-independent code for an x86-64 processor by LLVM's name, with features as LLVM takes them
/// ("+avx2,-avx512f"). Null, and a reason in `error`, where LLVM has no such code generator.
std::unique_ptr<llvm::TargetMachine> makeHostMachine(llvm::StringRef cpu, llvm::StringRef features,
                                                     std::string &error);

/// Assembly text of the module, or an object file's bytes.
mlir::LogicalResult emitHostCode(llvm::Module &module, llvm::TargetMachine &machine, bool assembly,
                                 llvm::SmallVectorImpl<char> &out, std::string &error);

} // namespace taylor

#endif

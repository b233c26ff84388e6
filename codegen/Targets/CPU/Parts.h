// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Objects of one processor's code, one for each large kernel, generated on all cores.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_PARTS_H
#define TAYLOR_CODEGEN_TARGETS_CPU_PARTS_H
#include "codegen/Targets/CPU/Processors.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace mlir::tile::cpu {

/// The name of a symbol of ours in an artifact where another target has the same functions:
/// "taylor_forward" for x86-64-v3 is "taylor_x86_64_v3_forward".
std::string nameForTarget(StringRef symbol, StringRef target);

/// Object files of a module in the LLVM dialect, which is left without its functions: one for each large
/// kernel, and one for the entry points and the rest. The bytes do not depend on the number of cores, which
/// is that of the context's threads. With `renames`, symbols have their `nameForTarget`. Diagnostics say why
/// not.
FailureOr<std::vector<SmallVector<char, 0>>> emitParts(ModuleOp module, const Processor &target,
                                                       bool renames);

} // namespace mlir::tile::cpu
#endif

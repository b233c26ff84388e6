// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of the CPU backend, in the order they run: tile, vector, llvm.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_PASSES_H
#define TAYLOR_CODEGEN_TARGETS_CPU_PASSES_H
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Statistics.h"

namespace mlir::tile::cpu {

#define GEN_PASS_DECL
#include "codegen/Targets/CPU/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/Targets/CPU/Passes.h.inc"

/// Tile programs down to the vector level: lowering, elementary functions, clean-up.
void buildVectorPipeline(OpPassManager &pm, StringRef target);
/// From there to the LLVM dialect.
void buildLLVMPipeline(OpPassManager &pm);

} // namespace mlir::tile::cpu
#endif

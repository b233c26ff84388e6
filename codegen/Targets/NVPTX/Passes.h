// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of the NVPTX backend, in the order they run: tile, simt, llvm, PTX.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_PASSES_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_PASSES_H
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/Statistics.h"

namespace mlir::simt {

#define GEN_PASS_DECL
#include "codegen/Targets/NVPTX/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/Targets/NVPTX/Passes.h.inc"

struct Machine;

/// Tile programs to tiles over threads, with copies scheduled and buffers placed. `f32Products`: `tf32` or
/// `fma`.
void buildSimtPipeline(OpPassManager &manager, const Machine &target, llvm::StringRef f32Products = "fma");
/// Makes the whole known as `taylor-simt-pipeline`.
void registerSimtPipeline();

} // namespace mlir::simt
#endif

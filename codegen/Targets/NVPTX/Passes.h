// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of the NVPTX backend, in the order they run: tile, simt, llvm, PTX.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_PASSES_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_PASSES_H
#include "codegen/Targets/Choices.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/EnumOption.h"
#include "passes/Statistics.h"

namespace mlir::simt {

#define GEN_PASS_DECL
#include "codegen/Targets/NVPTX/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "codegen/Targets/NVPTX/Passes.h.inc"

struct Machine;

/// Tile programs to tiles over threads, with copies scheduled and buffers placed.
void buildSimtPipeline(OpPassManager &manager, const Machine &target,
                       taylor::F32Products f32Products = taylor::F32Products::FMA);
/// Makes the whole known as `taylor-simt-pipeline`.
void registerSimtPipeline();

} // namespace mlir::simt
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_PASSES_LOWERTOTILE_PASSES_H
#define TAYLOR_PASSES_LOWERTOTILE_PASSES_H

#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/Tile/TileSizes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/LowerToTile/Fusion/FusionDialect.h"
#include "passes/Statistics.h"

namespace taylor {

#define GEN_PASS_DECL
#include "passes/LowerToTile/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/LowerToTile/Passes.h.inc"

/// Gives each function of a module the plan of `sizes`, in place of one that it has.
void setPlan(mlir::ModuleOp module, const TileSizes &sizes);

/// From functions at the pairwise level, with plans, to tile programs, tidied: taylor-lower-to-tile, fewer
/// operations per pair, then hoisting of what a loop does not change, and sharing of equal operations. Passes
/// that are not for all targets run on those functions and programs whose plan asks for them.
void buildTilePipeline(mlir::OpPassManager &manager);

/// Its two halves: what decides the form of sums over pairs, functions over arrays still; and from these to
/// tile programs.
void buildFormPipeline(mlir::OpPassManager &manager);
void buildProgramPipeline(mlir::OpPassManager &manager);

/// The second half in two: functions with their kernels (`fusion.kernel`), and their tile programs.
void buildKernelPipeline(mlir::OpPassManager &manager);
void buildEmissionPipeline(mlir::OpPassManager &manager);

/// What has memory and which kernel computes it, of functions as they are: the end of `buildKernelPipeline`,
/// known as `taylor-plan-kernels`.
void buildPlanKernelsPipeline(mlir::OpPassManager &manager);
/// The kernels of a function for what it keeps. taylor-fit-kernels repeats this.
void buildFormingPipeline(mlir::OpPassManager &functions);

/// Makes `buildTilePipeline`, after taylor-plan-tiles, known as `taylor-tile-pipeline`, and
/// `buildPlanKernelsPipeline` as `taylor-plan-kernels`.
void registerTilePipeline();

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_PASSES_LOWERTOTILE_PASSES_H
#define TAYLOR_PASSES_LOWERTOTILE_PASSES_H

#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/LowerToTile/TileSizes.h"

namespace taylor {

#define GEN_PASS_DECL
#include "passes/LowerToTile/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/LowerToTile/Passes.h.inc"

/// From functions at the pairwise level to tile programs, tidied: taylor-lower-to-tile, fewer operations per
/// pair, then hoisting of what a loop does not change, and sharing of equal operations. `sizes` comes from
/// the target's table; it says whether taylor-split-sums comes before, and taylor-narrow-products behind.
void buildTilePipeline(mlir::OpPassManager &manager, const TileSizes &sizes = {});

/// Its two halves: what decides the form of sums over pairs, functions over arrays still; and from these to
/// tile programs.
void buildFormPipeline(mlir::OpPassManager &manager, const TileSizes &sizes);
void buildProgramPipeline(mlir::OpPassManager &manager, const TileSizes &sizes);

/// Makes `buildTilePipeline` known as `taylor-tile-pipeline`.
void registerTilePipeline();

} // namespace taylor

#endif

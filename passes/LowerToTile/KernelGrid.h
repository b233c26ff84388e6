// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the blocks of a `fusion.kernel` lie: how many tokens each has, and what is on the grid next to its
// axes.
#ifndef TAYLOR_PASSES_LOWERTOTILE_KERNELGRID_H
#define TAYLOR_PASSES_LOWERTOTILE_KERNELGRID_H

#include "dialect/Tile/TileTypes.h"
#include "passes/LowerToTile/FusionDialect.h"
#include "passes/LowerToTile/PairTiles.h"

#include "llvm/ADT/SetVector.h"

namespace taylor {

/// Of a kernel that is local to tokens: the operations over whose keys it loops.
llvm::SetVector<mlir::Operation *> rowPairsOf(fusion::KernelOp kernel);

/// Tokens of a block: sums over blocks are those of `TileSizes::tokens`, and loops over keys want blocks of
/// queries.
int64_t blockSize(fusion::KernelOp kernel, const TileSizes &sizes);

// Of a kernel of pairs
bool hasKeysOnGrid(fusion::KernelOp kernel, const TileSizes &sizes);
bool hasDiagonalsOnGrid(fusion::KernelOp kernel, const TileSizes &sizes);
/// Its last extent, also of a kernel of steps: its blocks of keys or of diagonals, or in how many parts they
/// are cut.
mlir::tile::ExtentAttr partsOf(fusion::KernelOp kernel, const TileSizes &sizes);

} // namespace taylor

#endif

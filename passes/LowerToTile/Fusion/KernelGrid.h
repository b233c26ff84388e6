// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What follows from tile sizes before anything is emitted: how large the score tiles of an operation over
// pairs are, what of it is on the grid, and how the blocks of a `fusion.kernel` lie.
#ifndef TAYLOR_PASSES_LOWERTOTILE_FUSION_KERNELGRID_H
#define TAYLOR_PASSES_LOWERTOTILE_FUSION_KERNELGRID_H

#include "dialect/Tile/TileSizes.h"
#include "dialect/Tile/TileTypes.h"
#include "passes/LowerToTile/Fusion/FusionDialect.h"

#include "llvm/ADT/SetVector.h"

namespace taylor {

//===----------------------------------------------------------------------===//
// Of an operation over pairs
//===----------------------------------------------------------------------===//

/// Whether any of the results is a sum of this kind.
bool sumsInto(PairwiseOp op, PairOutput kind);
/// Whether all results are sums into rows.
bool isRowsOnly(PairwiseOp op);
/// Score tiles of an operation whose results all are.
ScoreTile rowTile(PairwiseOp op, const TileSizes &sizes);
/// Score tiles of the others.
ScoreTile columnTile(PairwiseOp op, const TileSizes &sizes);
/// Whether an operation's diagonals are on the grid of a kernel of its own: it sums into nothing else.
bool hasDiagonalsOnGrid(PairwiseOp op, const TileSizes &sizes);
/// Queries, and keys, of its score tiles.
int64_t diagonalTile(PairwiseOp op, const TileSizes &sizes);
/// Whether each block of keys of an operation with sums into columns is a block of the grid.
bool hasKeysOnGrid(PairwiseOp op, const TileSizes &sizes);

//===----------------------------------------------------------------------===//
// Of a kernel
//===----------------------------------------------------------------------===//

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

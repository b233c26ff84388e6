// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the plan of an operation over pairs is asked before anything is emitted: which loops it has, how large
// its score tiles are, and what of it is on the grid.
#ifndef TAYLOR_PASSES_LOWERTOTILE_PAIRTILES_H
#define TAYLOR_PASSES_LOWERTOTILE_PAIRTILES_H

#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/TileSizes.h"

namespace taylor {

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

} // namespace taylor

#endif

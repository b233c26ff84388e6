// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/PairTiles.h"

using namespace mlir;
using namespace taylor;

bool taylor::sumsInto(PairwiseOp op, PairOutput kind) {
  return llvm::any_of(op.getSums().getAsRange<PairSumAttr>(),
                      [&](PairSumAttr sum) { return sum.getKind() == kind; });
}

bool taylor::isRowsOnly(PairwiseOp op) {
  return llvm::all_of(op.getSums().getAsRange<PairSumAttr>(), [](PairSumAttr sum) {
    return sum.getKind() == PairOutput::Rows || sum.getKind() == PairOutput::Maximum;
  });
}

ScoreTile taylor::rowTile(PairwiseOp op, const TileSizes &sizes) {
  return op.getNumProducts() > 1 ? sizes.derivedRows : sizes.rows;
}

ScoreTile taylor::columnTile(PairwiseOp op, const TileSizes &sizes) {
  bool sumsScalars = llvm::any_of(op.getSums().getAsRange<PairSumAttr>(), [](PairSumAttr sum) {
    return !sum.getWeighted() && sum.getKind() != PairOutput::Rows;
  });
  ScoreTile tile = sizes.columns;
  if (sumsScalars)
    tile.keys = std::min(tile.keys, sizes.scalarKeys);
  return tile;
}

bool taylor::hasDiagonalsOnGrid(PairwiseOp op, const TileSizes &sizes) {
  return sizes.rowSums != RowSums::Parts &&
         llvm::all_of(op.getSums().getAsRange<PairSumAttr>(),
                      [](PairSumAttr sum) { return sum.getKind() == PairOutput::Diagonals; });
}

int64_t taylor::diagonalTile(PairwiseOp op, const TileSizes &sizes) {
  ScoreTile tile = rowTile(op, sizes);
  return std::min(tile.queries, tile.keys);
}

bool taylor::hasKeysOnGrid(PairwiseOp op, const TileSizes &sizes) {
  return !sumsInto(op, PairOutput::Diagonals) &&
         (sizes.rowSums == RowSums::Atomic ||
          (sizes.rowSums == RowSums::Separate && !sumsInto(op, PairOutput::Rows)));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Fusion/KernelGrid.h"

using namespace mlir;
using namespace taylor;
using fusion::KernelKind;
using fusion::KernelOp;
using fusion::StoreOp;

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

llvm::SetVector<Operation *> taylor::rowPairsOf(KernelOp kernel) {
  llvm::SetVector<Operation *> pairs;
  if (kernel.isLocal())
    for (fusion::SumOp sum : kernel.getSums())
      pairs.insert(sum.getValue().getDefiningOp());
  return pairs;
}

int64_t taylor::blockSize(KernelOp kernel, const TileSizes &sizes) {
  llvm::SetVector<Operation *> rowPairs = rowPairsOf(kernel);
  if (rowPairs.empty() || llvm::any_of(kernel.getStores(), [](StoreOp store) { return store.getParts(); }))
    return sizes.tokens;
  int64_t queries = std::numeric_limits<int64_t>::max();
  for (Operation *op : rowPairs)
    queries = std::min(queries, rowTile(cast<PairwiseOp>(op), sizes).queries);
  return queries;
}

bool taylor::hasKeysOnGrid(KernelOp kernel, const TileSizes &sizes) {
  return hasKeysOnGrid(cast<PairwiseOp>(kernel.getPlanned()), sizes);
}

bool taylor::hasDiagonalsOnGrid(KernelOp kernel, const TileSizes &sizes) {
  return hasDiagonalsOnGrid(cast<PairwiseOp>(kernel.getPlanned()), sizes);
}

tile::ExtentAttr taylor::partsOf(KernelOp kernel, const TileSizes &sizes) {
  MLIRContext *context = kernel.getContext();
  bool isPairs = kernel.getKind() == KernelKind::Pairs;
  if (isPairs && hasDiagonalsOnGrid(kernel, sizes))
    return tile::ExtentAttr::get(axisAttr(context, AxisRole::Lag),
                                 diagonalTile(cast<PairwiseOp>(kernel.getPlanned()), sizes));
  if (isPairs && hasKeysOnGrid(kernel, sizes))
    return tile::ExtentAttr::get(axisAttr(context, AxisRole::Key),
                                 columnTile(cast<PairwiseOp>(kernel.getPlanned()), sizes).keys);
  SmallVector<AxisRef> axes = kernel.getAxes();
  if (axes.size() < 2)
    return tile::ExtentAttr::get(context, axes.empty() ? sizes.blocks : 1);
  return tile::ExtentAttr::get(context, sizes.blocks, {StringRef(axes[0]), StringRef(axes[1])});
}

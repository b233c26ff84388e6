// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/KernelGrid.h"

using namespace mlir;
using namespace taylor;
using fusion::KernelKind;
using fusion::KernelOp;
using fusion::StoreOp;

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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Tile/TileDialect.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#define DEBUG_TYPE "taylor-split-sums"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_SPLITSUMSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

class SplitSums : public ::taylor::impl::SplitSumsPassBase<SplitSums> {
public:
  using SplitSumsPassBase::SplitSumsPassBase;

private:
  void runOnOperation() override;
};

} // namespace

void SplitSums::runOnOperation() {
  bool diagonalsOnly = this->diagonalsOnly;
  if (getOperation().getPlanAttr()) {
    RowSums rowSums = tile::getTileSizes(getOperation()).rowSums;
    if (rowSums == RowSums::Parts)
      return;
    diagonalsOnly = rowSums == RowSums::Atomic;
  }
  SmallVector<PairwiseOp> operations(getOperation().getBody().front().getOps<PairwiseOp>());
  for (PairwiseOp op : operations) {
    SmallVector<bool> rows, columns, diagonals;
    for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>()) {
      rows.push_back(sum.getKind() == PairOutput::Rows && !diagonalsOnly);
      diagonals.push_back(sum.getKind() == PairOutput::Diagonals);
      columns.push_back(!rows.back() && !diagonals.back());
    }
    SmallVector<SmallVector<bool>> kinds = {rows, columns, diagonals};
    llvm::erase_if(kinds, [](const SmallVector<bool> &kept) { return !llvm::is_contained(kept, true); });
    if (op.hasMaximum() || kinds.size() < 2)
      continue;
    LDBG() << op.getLoc() << ": " << kinds.size() << " operations in place of one";
    ++numSplit;
    OpBuilder builder(op);
    for (const SmallVector<bool> &kept : kinds) {
      PairwiseOp part = clonePairwise(builder, op, kept);
      auto result = part.getResults().begin();
      for (auto [old, keep] : llvm::zip(op.getResults(), kept))
        if (keep)
          old.replaceAllUsesWith(*result++);
    }
    op.erase();
  }
}

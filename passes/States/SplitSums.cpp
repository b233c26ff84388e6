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
    // Rows, then columns and totals, then diagonals.
    SmallVector<unsigned> group =
        llvm::map_to_vector(op.getSums().getAsRange<PairSumAttr>(), [&](PairSumAttr sum) {
          return sum.getKind() == PairOutput::Diagonals                ? 2u
                 : sum.getKind() == PairOutput::Rows && !diagonalsOnly ? 0u
                                                                       : 1u;
        });
    size_t count = llvm::SmallDenseSet<unsigned>(llvm::from_range, group).size();
    if (op.hasMaximum() || count < 2)
      continue;
    LDBG() << op.getLoc() << ": " << count << " operations in place of one";
    ++numSplit;
    dividePairwise(op, group);
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/PairwiseRewrite.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_SPLITSUMSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

class SplitSums : public ::taylor::impl::SplitSumsPassBase<SplitSums> {
  void runOnOperation() override;
};

} // namespace

void SplitSums::runOnOperation() {
  SmallVector<PairwiseOp> operations(getOperation().getBody().front().getOps<PairwiseOp>());
  for (PairwiseOp op : operations) {
    SmallVector<bool> rows, others;
    for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>()) {
      rows.push_back(sum.getKind() == PairOutput::Rows);
      others.push_back(!rows.back());
    }
    if (op.hasMaximum() || !llvm::is_contained(rows, true) || !llvm::is_contained(others, true))
      continue;
    OpBuilder builder(op);
    for (const SmallVector<bool> &kept : {rows, others}) {
      PairwiseOp part = clonePairwise(builder, op, kept);
      auto result = part.getResults().begin();
      for (auto [old, keep] : llvm::zip(op.getResults(), kept))
        if (keep)
          old.replaceAllUsesWith(*result++);
    }
    op.erase();
  }
}

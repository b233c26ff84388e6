// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of weights by intervals over scalar regions. Passes.td has the rule.
#include "dialect/Refusal.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/Algebra/ScalarRanges.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "llvm/Support/Format.h"

#define DEBUG_TYPE "taylor-check-half-weights"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CHECKHALFWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

struct CheckHalfWeightsPass : taylor::impl::CheckHalfWeightsPassBase<CheckHalfWeightsPass> {
  void runOnOperation() override {
    auto isHalf = [](const TileSizes &sizes) { return sizes.productType == ProductType::F16; };
    // A backward, and a function's other forms, compute the forward's weights again.
    if (!getOperation().getSources() || getOperation().isTwin() || !tile::isPlanned(getOperation(), isHalf))
      return;
    for (PairwiseOp op : getOperation().getBody().getOps<PairwiseOp>()) {
      if (failed(check(op)))
        return signalPassFailure();
      ++numChecked;
    }
  }

  static LogicalResult check(PairwiseOp op) {
    for (auto sum : op.getSums().getAsRange<PairSumAttr>()) {
      if (sum.getKind() == PairOutput::Maximum || !sum.getWeighted())
        continue;
      Range range = rangeOfWeight(op, sum.getYielded());
      LDBG() << op.getLoc() << ": weights of " << describe(range);
      if (!(range.largest() <= kLargestHalf))
        return refuse(op.emitError())
               << "expected weights of at most 65504, the largest number of f16, in which GPUs multiply "
                  "them, but got "
               << describe(range) << ": use bf16, or bound the score, as in score(max(min(s, 8.0), -8.0))";
    }
    return success();
  }

  static std::string describe(Range range) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g to %g", range.low, range.high);
    return text;
  }
};

} // namespace

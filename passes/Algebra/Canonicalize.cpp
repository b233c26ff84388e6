// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR's canonicalizer, which says so where it does not come to an end. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "taylor-canonicalize"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CANONICALIZEPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {
struct Canonicalize : taylor::impl::CanonicalizePassBase<Canonicalize> {
  using CanonicalizePassBase::CanonicalizePassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName name : context->getRegisteredOperations())
      name.getCanonicalizationPatterns(all, context);
    patterns = FrozenRewritePatternSet(std::move(all));
    return success();
  }

  void runOnOperation() override {
    bool isChanged = false;
    LogicalResult isDone = applyPatternsGreedily(
        getOperation(), patterns, GreedyRewriteConfig().setMaxIterations(maxIterations), &isChanged);
    LDBG() << getOperation()->getLoc() << (isChanged ? ": simplified" : ": is as simple as it gets");
    numChanged += isChanged;
    if (succeeded(isDone))
      return;
    getOperation()->emitError("requires a canonical form after ")
        << maxIterations.getValue()
        << " rounds of rewrites, but the last one still changed something; raise max-iterations";
    signalPassFailure();
  }

private:
  FrozenRewritePatternSet patterns;
};
} // namespace

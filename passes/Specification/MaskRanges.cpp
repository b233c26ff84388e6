// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Specification/DocumentMask.h"
#include "passes/Specification/MaskConditions.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace taylor;

namespace {

/// The mask of one operation.
class RangeKeeper {
public:
  RangeKeeper(Region &mask, function_ref<Value(BlockArgument)> arrayOf)
      : terminator(mask.front().getTerminator()), arrayOf(arrayOf), builder(terminator) {}

  bool run() {
    for (OpOperand &condition : terminator->getOpOperands())
      condition.set(keep(condition.get()));
    return changed;
  }

private:
  /// What is left of a condition: it holds wherever the condition does.
  Value keep(Value condition) {
    Operation *op = condition.getDefiningOp();
    if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
      IRMapping parts;
      for (Value part : op->getOperands())
        parts.map(part, keep(part));
      return builder.clone(*op, parts)->getResult(0);
    }
    auto compare = dyn_cast_if_present<arith::CmpFOp>(op);
    std::optional<DocumentCondition> same = readDocuments(condition, arrayOf);
    if ((compare && readPositions(compare)) || (same && boundRanges(same->keys)))
      return condition;
    changed = true;
    return arith::ConstantOp::create(builder, condition.getLoc(), builder.getBoolAttr(true));
  }

  Operation *terminator;
  function_ref<Value(BlockArgument)> arrayOf;
  OpBuilder builder;
  bool changed = false;
};

} // namespace

bool taylor::keepRanges(SpecOp spec) {
  bool changed = false;
  auto keepIn = [&](Region &mask, function_ref<Value(BlockArgument)> arrayOf) {
    if (!mask.empty())
      changed |= RangeKeeper(mask, arrayOf).run();
  };
  for (Operation &op : spec.getBody().front()) {
    if (auto sums = dyn_cast<RecurrencesOp>(op))
      keepIn(sums.getVisible(),
             [&](BlockArgument argument) { return sums.getExtras()[argument.getArgNumber()]; });
    if (auto pairs = dyn_cast<PairwiseOp>(op))
      keepIn(pairs.getVisible(), [&](BlockArgument argument) { return pairs.getArrayOf(argument); });
  }
  return changed;
}

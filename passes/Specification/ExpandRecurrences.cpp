// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/Debug.h"
#include "passes/Passes.h"
#include "passes/Specification/Series.h"

#include "mlir/IR/IRMapping.h"

#define DEBUG_TYPE "taylor-expand-recurrences"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_EXPANDRECURRENCESPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// Each order has a state of finite size only if the weight is a polynomial of the score and the mask the
/// causal or full one.
bool hasStates(RecurrencesOp op) {
  return op.getFirstOrder() && op.getScore().empty() && op.getWeight().empty() && op.getVisible().empty();
}

ArrayAttr sumsOf(MLIRContext *context, ArrayRef<Sum> sums) {
  return ArrayAttr::get(
      context, llvm::map_to_vector(sums, [&](Sum sum) { return Attribute(SumAttr::get(context, sum)); }));
}

LogicalResult expand(RecurrencesOp op) {
  FailureOr<Series> series = readSeries(op);
  if (failed(series))
    return failure();
  LDBG() << op.getLoc() << ": " << series->coefficients.size() << " orders from " << series->first << " on";
  OpBuilder builder(op);
  MLIRContext *context = op.getContext();
  SmallVector<Sum> kinds;
  SmallVector<Value> old;
  SmallVector<Type> types;
  for (Sum kind : {Sum::Numerator, Sum::Mass})
    if (Value result = op.getSum(kind)) {
      kinds.push_back(kind);
      old.push_back(result);
      types.push_back(result.getType());
    }

  SmallVector<Value> totals(kinds.size());
  for (auto [index, coefficient] : llvm::enumerate(series->coefficients)) {
    if (kinds.empty() || coefficient == 0.0)
      continue;
    auto term = RecurrenceOp::create(
        builder, op.getLoc(), types, op.getQuery(), op.getKey(), op.getValue(), op.getDecay(),
        /*state=*/Value(), sumsOf(context, kinds), builder.getI64IntegerAttr(series->first + index),
        builder.getF64FloatAttr(coefficient), op.getMaskAttr());
    IRMapping mapping;
    op.getScale().cloneInto(&term.getScale(), mapping);
    for (auto [total, result] : llvm::zip_equal(totals, term.getResults()))
      total = total ? buildSum(builder, op.getLoc(), total, result) : Value(result);
  }
  for (auto [result, total] : llvm::zip_equal(old, totals))
    result.replaceAllUsesWith(total);

  if (Value count = op.getSum(Sum::Count)) {
    // A count has no orders: it stays a sum of its own.
    auto rest = RecurrencesOp::create(
        builder, op.getLoc(), TypeRange(count.getType()), op.getQuery(), op.getKey(), op.getValue(),
        op.getDecay(), op.getExtras(), sumsOf(context, Sum::Count), /*all_orders=*/UnitAttr(),
        *op.getFirstOrder(), *op.getLastOrder(), op.getCoefficientsAttr(), op.getMaskAttr());
    IRMapping mapping;
    op.getScale().cloneInto(&rest.getScale(), mapping);
    count.replaceAllUsesWith(rest.getResult(0));
  }
  op.erase();
  return success();
}

class ExpandRecurrences : public ::taylor::impl::ExpandRecurrencesPassBase<ExpandRecurrences> {
  void runOnOperation() override;
};

} // namespace

void ExpandRecurrences::runOnOperation() {
  WalkResult result = getOperation()->walk([&](RecurrencesOp op) -> WalkResult {
    bool onlyCount = op.getSums().size() == 1 && op.getSum(Sum::Count);
    if (!hasStates(op) || onlyCount) {
      LDBG() << op.getLoc() << ": stays, since "
             << (onlyCount ? "a count has no orders" : "no order of it has a state");
      return success();
    }
    ++numExpanded;
    return expand(op);
  });
  if (result.wasInterrupted())
    signalPassFailure();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/States/TokenCarrier.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor;

/// Only documents of taylor-add-documents tell by their number whether an earlier call began them.
LogicalResult TokenCarrier::checkOrder(ArrayOpInterface op) {
  std::optional<MutableOperandRange> read = op.getDocuments();
  Value within = read && !read->empty() ? (*read)[0].get() : Value();
  std::string name = "'" + op->getName().getStringRef().str();
  if (auto scan = dyn_cast<ScanOp>(op.getOperation()); scan && scan.getLengths())
    return carried.refuse(op->getLoc(), "size(u) is known where a document ends, not in its pieces",
                          "take the length from an input or a parameter");
  if (op.getReach() == Reach::After)
    return carried.refuse(op->getLoc(), name + " reverse' reads tokens of later calls",
                          "write it over the tokens before, or compile without");
  auto align = within ? within.getDefiningOp<AlignOp>() : AlignOp();
  if (!within || documents.isLocal(align ? align.getArray() : within))
    return success();
  return carried.refuse(op->getLoc(), name + " within(..)' may begin again in a later call",
                        "compile with --documents instead");
}

LogicalResult TokenCarrier::carry(ArrayOpInterface op) {
  if (failed(checkOrder(op)))
    return failure();
  builder.setInsertionPointAfter(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](RecurrentOpInterface recurrent) {
        carryRecurrent(recurrent);
        return success();
      })
      .Case([&](ConvolveOp convolve) { return windows.carryConvolution(convolve); })
      .Case([&](ScanOp scan) -> LogicalResult {
        if (scan.isShift())
          return windows.carryShift(scan);
        if (scan.getKind() == ScanKind::Max)
          carryMaximum(scan);
        else
          carrySum(scan);
        return success();
      });
}

void TokenCarrier::carrySum(ScanOp op) {
  AxisRef token = op.getAxis();
  ArrayType type = withBatch(op.getResult().getType());
  Value initial = carried.addInitial("sum", type.without({token}).clone(carried.real()));
  Value terms = buildTerms(builder, op), before = initial, left = initial;
  if (op.getWithin()) {
    before = documents.keepIfBegun(initial, documents.getStarts(token));
    left = documents.keepIfBegun(initial, documents.getLastStart());
    terms = documents.keepLastDocument(terms, token);
  }
  Value whole = buildSum(builder, op.getLoc(), op.getResult(), before);
  op.getResult().replaceAllUsesExcept(whole, whole.getDefiningOp());
  if (!op.getExclusive() && token == AxisRole::Key)
    runningSums[whole] = initial;
  Value added = buildReduce(builder, op.getLoc(), Reduction::Sum, token, terms, {},
                            [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  carried.setFinal(initial, buildSum(builder, op.getLoc(), left, added));
}

void TokenCarrier::carryMaximum(ScanOp op) {
  AxisRef token = op.getAxis();
  ArrayType type = withBatch(op.getResult().getType());
  Value initial = carried.addInitial("maximum", type.without({token}).clone(carried.real()));
  // Without earlier tokens `initial` is 0, which must not take part. A maximum has no derivative.
  auto join = [&](Value array) {
    SmallVector<Value> arrays{array, initial, places.getPosition()};
    if (op.getWithin())
      arrays.push_back(documents.getStarts(token));
    return buildMap(builder, op.getLoc(), arrays, {}, [](OpBuilder &b, Location at, ValueRange x) -> Value {
      Value before = StopGradientOp::create(b, at, x[1]);
      Value larger = arith::MaximumFOp::create(b, at, x[0], before);
      Value first = x.size() > 3 ? x[3] : buildNumber(b, at, x[2].getType(), 0.0);
      Value goesOn = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OLT, first, x[2]);
      return arith::SelectOp::create(b, at, goesOn, larger, x[0]);
    });
  };
  Value whole = join(op.getResult());
  op.getResult().replaceAllUsesExcept(whole, whole.getDefiningOp());
  documents.replace(op.getResult(), whole);
  Value inclusive = whole;
  if (op.getExclusive())
    inclusive = join(buildRunningMaximum(builder, buildTerms(builder, op), token, op.getWithin(),
                                         /*exclusive=*/false, buildStopped));
  carried.setFinal(initial, places.buildAtLast(inclusive, token, initial));
}

/// The last result is what is carried; the first token continues from it.
void TokenCarrier::carryRecurrent(RecurrentOpInterface op) {
  Value result = op->getResult(0);
  AxisRef token = tokenOf(op);
  ArrayType type = withBatch(arrayTypeOf(result));
  Value initial = carried.addInitial("recurrence", type.without({token}).clone(carried.real()));
  std::optional<MutableOperandRange> within = cast<ArrayOpInterface>(op.getOperation()).getDocuments();
  bool hasDocuments = within && !within->empty();
  builder.setInsertionPoint(op);
  Value before = buildMap(
      builder, op.getLoc(),
      hasDocuments ? documents.keepIfBegun(initial, documents.getStarts(token)) : initial, {},
      [&](OpBuilder &b, Location at, ValueRange x) -> Value {
        Value isFirst = buildIsEqual(b, at, places.buildLocalIndex(b, at, token),
                                     buildNumber(b, at, carried.real(), 0.0));
        return buildOrZero(b, at, isFirst, x[0]);
      },
      type.clone(carried.real()));
  op.continueFrom(builder, before);
  builder.setInsertionPointAfter(op);
  auto same = [](OpBuilder &, Location, ValueRange x) -> Value { return x[0]; };
  carried.setFinal(initial, places.buildAtLast(result, token, initial, same, same));
}

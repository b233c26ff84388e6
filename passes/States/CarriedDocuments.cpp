// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/States/CarriedDocuments.h"

#include "passes/Specification/DocumentMask.h"

using namespace mlir;
using namespace taylor;

/// A copy of a value and of all that it is computed from.
static Value cloneArray(OpBuilder &builder, Value array, IRMapping &copies) {
  Operation *op = array.getDefiningOp();
  if (!op || copies.contains(array))
    return copies.lookupOrDefault(array);
  for (Value operand : op->getOperands())
    cloneArray(builder, operand, copies);
  builder.clone(*op, copies);
  return copies.lookup(array);
}

void CarriedDocuments::part() {
  SmallVector<OpOperand *> reads;
  auto collect = [&](OpOperand &read) {
    Value array = read.get();
    if (auto align = array.getDefiningOp<AlignOp>())
      array = align.getArray();
    if (!arrayTypeOf(array).has(AxisRole::Key) || !areStarts(array) || (documents && documents != array))
      return;
    documents = array;
    reads.push_back(&read);
  };
  for (Operation &op : carried.body()) {
    if (isa<PairwiseOp>(op))
      for (OpOperand &operand : op.getOpOperands())
        collect(operand);
    if (auto array = dyn_cast<ArrayOpInterface>(op))
      if (std::optional<MutableOperandRange> within = array.getDocuments(); within && !within->empty())
        collect((*within)[0]);
  }
  localDocuments = documents;
  if (!documents || carried.mode == CarryMode::Queries)
    return;
  IRMapping copies;
  builder.setInsertionPointAfterValue(documents);
  localDocuments = cloneArray(builder, documents, copies);
  for (OpOperand *read : reads) {
    if (auto align = read->get().getDefiningOp<AlignOp>())
      builder.setInsertionPointAfter(align);
    read->set(cloneArray(builder, read->get(), copies));
  }
}

Value CarriedDocuments::getStarts(AxisRef token) {
  if (!documents || token == AxisRole::Key)
    return documents;
  if (!starts) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(documents);
    starts = AlignOp::create(builder, loc, arrayTypeOf(documents).renamed(AxisRole::Key, AxisRole::Query),
                             documents, axisAttr(builder, AxisRole::Query));
  }
  return starts;
}

Value CarriedDocuments::getLastStart() {
  if (lastStart)
    return lastStart;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(documents);
  // Without tokens, the document of the one before goes on.
  Value before =
      buildMap(builder, loc, places.getPosition(), {}, [](OpBuilder &b, Location at, ValueRange x) -> Value {
        return arith::SubFOp::create(b, at, x[0], buildNumber(b, at, x[0].getType(), 1.0));
      });
  return lastStart = places.buildAtLast(documents, AxisRole::Key, before);
}

Value CarriedDocuments::buildStartOf(AxisRef token, int64_t number) {
  return buildReduce(builder, loc, Reduction::Sum, token, getStarts(token), {},
                     [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                       Value which = buildNumber(b, at, carried.real(), double(number));
                       Value is = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ,
                                                        places.buildLocalIndex(b, at, token), which);
                       Value start = StopGradientOp::create(b, at, x[0]);
                       return buildOrZero(b, at, is, start);
                     });
}

Value CarriedDocuments::keepWhere(const Where &where, Value array, double other) {
  SmallVector<Value> arrays{where.x, where.y};
  if (array)
    arrays.insert(arrays.begin(), array);
  return buildMap(builder, array ? array.getLoc() : loc, arrays, {},
                  [&](OpBuilder &b, Location at, ValueRange s) -> Value {
                    ValueRange compared = s.take_back(2);
                    Value is = arith::CmpFOp::create(b, at, where.predicate, compared[0], compared[1]);
                    Value kept = array ? s[0] : buildNumber(b, at, carried.real(), 1.0);
                    Value elsewhere = buildNumber(b, at, kept.getType(), other);
                    return arith::SelectOp::create(b, at, is, kept, elsewhere);
                  });
}

Value CarriedDocuments::keepIfBegun(Value array, Value starts) {
  return starts ? keepWhere(goesOn(starts), array) : array;
}

Value CarriedDocuments::keepLastDocument(Value array, AxisRef token) {
  return documents ? keepWhere(isLast(getStarts(token)), array) : array;
}

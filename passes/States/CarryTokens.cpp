// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running sums and maxima, shifts, convolutions and recurrences that go on where another call ended.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "passes/Specification/Rewrites.h"
#include "passes/States/StateCarrier.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor;

static Value isEqual(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
}

static Value buildStopped(OpBuilder &b, Location loc, ValueRange x) {
  return StopGradientOp::create(b, loc, x[0]);
}

//===----------------------------------------------------------------------===//
// Running sums and maxima
//===----------------------------------------------------------------------===//

Value StateCarrier::buildTerms(ScanOp op) {
  ArrayType type = op.getResult().getType();
  return buildMap(
      builder, op.getLoc(), op.getArrays(), {},
      [&](OpBuilder &b, Location, ValueRange x) {
        IRMapping values;
        values.map(op.getBody().getArguments(), x);
        return cloneScalar(b, op.getBody().front().getTerminator()->getOperand(0), values);
      },
      type.clone(type.getScalarType()));
}

/// Which tokens go on is known of documents that start where their number says.
LogicalResult StateCarrier::checkOrder(ArrayOpInterface op) {
  std::optional<MutableOperandRange> documents = op.getDocuments();
  Value within = documents && !documents->empty() ? (*documents)[0].get() : Value();
  std::string name = "'" + op->getName().getStringRef().str();
  if (auto scan = dyn_cast<ScanOp>(op.getOperation()); scan && scan.getLengths())
    return refuse(op->getLoc(), "size(u) is known where a document ends, not in its pieces",
                  "take the length from an input or a parameter");
  if (op.getReach() == Reach::After)
    return refuse(op->getLoc(), name + " reverse' reads tokens of later calls",
                  "write it over the tokens before, or compile without");
  auto align = within ? within.getDefiningOp<AlignOp>() : AlignOp();
  if (!within || (align ? align.getArray() : within) == localDocuments)
    return success();
  return refuse(op->getLoc(), name + " within(..)' may begin again in a later call",
                "compile with --documents instead");
}

LogicalResult StateCarrier::carryTokens(ArrayOpInterface op) {
  if (failed(checkOrder(op)))
    return failure();
  builder.setInsertionPointAfter(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](RecurrentOpInterface recurrent) {
        carryRecurrent(recurrent);
        return success();
      })
      .Case([&](ConvolveOp convolve) { return carryConvolution(convolve); })
      .Case([&](ScanOp scan) -> LogicalResult {
        if (scan.isShift())
          return carryShift(scan);
        if (scan.getKind() == ScanKind::Max)
          carryMaximum(scan);
        else
          carrySum(scan);
        return success();
      });
}

Value StateCarrier::buildOrElse(OpBuilder &b, Location at, AxisRef token, Value none, Value some) {
  Value tokens = SizeOp::create(b, at, real(), builder.getStringAttr(token));
  return arith::SelectOp::create(b, at, isEqual(b, at, tokens, buildNumber(b, at, real(), 0.0)), none, some);
}

Value StateCarrier::buildAtLast(ValueRange arrays, AxisRef token, Value otherwise, ScalarBody element,
                                ScalarBody rest) {
  Location where = arrays.front().getLoc();
  Value last = buildReduce(builder, where, Reduction::Sum, token, arrays, {},
                           [&](OpBuilder &b, Location at, ValueRange x) {
                             Value tokens = SizeOp::create(b, at, real(), builder.getStringAttr(token));
                             Value one = buildNumber(b, at, real(), 1.0);
                             Value index = arith::SubFOp::create(b, at, tokens, one);
                             Value isLast = isEqual(b, at, buildLocalIndex(b, at, token), index);
                             return buildOrZero(b, at, isLast, element(b, at, x));
                           });
  return buildMap(builder, where, {last, otherwise}, {}, [&](OpBuilder &b, Location at, ValueRange x) {
    return buildOrElse(b, at, token, rest(b, at, x.drop_front()), x[0]);
  });
}

Value StateCarrier::buildAtLast(Value array, AxisRef token, Value otherwise) {
  return buildAtLast(array, token, otherwise, buildStopped, buildStopped);
}

void StateCarrier::carrySum(ScanOp op) {
  AxisRef token = op.getAxis();
  ArrayType type = withBatch(op.getResult().getType());
  Value initial = addInitial("sum", type.without({token}).clone(real()));
  Value terms = buildTerms(op), before = initial, left = initial;
  if (op.getWithin()) {
    before = keepIfBegun(initial, getStarts(token));
    left = keepIfBegun(initial, getLastStart());
    terms = keepLastDocument(terms, token);
  }
  Value whole = buildSum(builder, op.getLoc(), op.getResult(), before);
  op.getResult().replaceAllUsesExcept(whole, whole.getDefiningOp());
  if (!op.getExclusive() && token == AxisRole::Key)
    runningSums[whole] = initial;
  Value added = buildReduce(builder, op.getLoc(), Reduction::Sum, token, terms, {},
                            [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  setFinal(initial, buildSum(builder, op.getLoc(), left, added));
}

void StateCarrier::carryMaximum(ScanOp op) {
  AxisRef token = op.getAxis();
  ArrayType type = withBatch(op.getResult().getType());
  Value initial = addInitial("maximum", type.without({token}).clone(real()));
  // With no token before, 0 is none of the terms. A maximum has no derivative.
  auto join = [&](Value array) {
    SmallVector<Value> arrays{array, initial, getPosition()};
    if (op.getWithin())
      arrays.push_back(getStarts(token));
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
  if (op.getResult() == documents)
    documents = whole;
  Value inclusive = whole;
  if (op.getExclusive())
    inclusive = join(buildRunningMaximum(builder, buildTerms(op), token, op.getWithin(), /*exclusive=*/false,
                                         buildStopped));
  setFinal(initial, buildAtLast(inclusive, token, initial));
}

//===----------------------------------------------------------------------===//
// Shifts and convolutions
//===----------------------------------------------------------------------===//

StringRef StateCarrier::lastAxis(int64_t count) {
  StringAttr &axis = lastAxes[count];
  if (axis)
    return axis;
  auto isTaken = [&](StringRef name) {
    auto has = [&](Value array) { return isa<ArrayType>(array.getType()) && arrayTypeOf(array).has(name); };
    return llvm::any_of(body().getArguments(), has) ||
           llvm::any_of(body(), [&](Operation &op) { return llvm::any_of(op.getResults(), has); });
  };
  std::string name = "last" + std::to_string(count);
  while (isTaken(name))
    name += "_";
  return axis = builder.getStringAttr(name);
}

Value StateCarrier::carryLast(Value array, AxisRef token, int64_t count) {
  Location where = array.getLoc();
  AxisRef axis = lastAxis(count);
  ArrayType type = withBatch(arrayTypeOf(array)).without({token});
  SmallVector<StringAttr> axes(type.getAxes());
  SmallVector<int64_t> sizes(type.getSizes());
  axes.push_back(builder.getStringAttr(axis));
  sizes.push_back(count);
  Value initial = addInitial("inputs", ArrayType::get(builder.getContext(), axes, sizes, real()));
  auto indexAlong = [&](OpBuilder &b, Location at) -> Value {
    return IndexOp::create(b, at, real(), builder.getStringAttr(axis));
  };
  auto tokens = [&](OpBuilder &b, Location at) -> Value {
    return SizeOp::create(b, at, real(), builder.getStringAttr(token));
  };
  // Of T tokens, number i is number i - T + count of those that are kept; those that were kept are T further
  // back.
  SmallVector<Value> arrays{
      buildReduce(builder, where, Reduction::Sum, token, {array, initial}, {},
                  [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                    Value number = arith::SubFOp::create(b, at, buildLocalIndex(b, at, token), tokens(b, at));
                    number = arith::AddFOp::create(b, at, number, buildNumber(b, at, real(), double(count)));
                    return buildOrZero(b, at, isEqual(b, at, indexAlong(b, at), number), x[0]);
                  })};
  for (int64_t kept = 0; kept < count; ++kept)
    arrays.push_back(buildReduce(builder, where, Reduction::Sum, axis, initial, {},
                                 [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                                   Value number = arith::AddFOp::create(
                                       b, at, tokens(b, at), buildNumber(b, at, real(), double(kept)));
                                   return buildOrZero(b, at, isEqual(b, at, indexAlong(b, at), number), x[0]);
                                 }));
  setFinal(initial, buildMap(
                        builder, where, arrays, {},
                        [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                          Value sum = x[0];
                          for (int64_t kept = 0; kept < count; ++kept) {
                            Value number = buildNumber(b, at, real(), double(kept));
                            Value old =
                                buildOrZero(b, at, isEqual(b, at, indexAlong(b, at), number), x[1 + kept]);
                            sum = arith::AddFOp::create(b, at, sum, old);
                          }
                          return sum;
                        },
                        arrayTypeOf(initial)));
  return initial;
}

/// What is kept, number i of n at position - n + i, as the call's token of a number sees it.
Value StateCarrier::lastOf(Value initial, AxisRef token, int64_t number, Value within) {
  if (!within)
    return initial;
  StringRef axis = arrayTypeOf(initial).getAxes().back();
  double count = double(arrayTypeOf(initial).sizeOf(axis));
  return buildMap(builder, initial.getLoc(), {initial, buildStartOf(token, number), getPosition()}, {},
                  [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                    Value index = IndexOp::create(b, at, real(), builder.getStringAttr(axis));
                    Value place = arith::AddFOp::create(b, at, x[2], index);
                    Value start = arith::AddFOp::create(b, at, x[1], buildNumber(b, at, real(), count));
                    Value isOwn = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OLE, start, place);
                    return buildOrZero(b, at, isOwn, x[0]);
                  });
}

void StateCarrier::addToFirst(Value result, AxisRef token, ArrayRef<Value> terms) {
  SmallVector<Value> arrays{result};
  llvm::append_range(arrays, terms);
  ArrayType type = withBatch(arrayTypeOf(result));
  Value whole = buildMap(
      builder, result.getLoc(), arrays, {},
      [&](OpBuilder &b, Location at, ValueRange x) -> Value {
        Value index = buildLocalIndex(b, at, token), sum = x[0];
        for (auto [number, term] : llvm::enumerate(x.drop_front())) {
          Value isToken = isEqual(b, at, index, buildNumber(b, at, real(), double(number)));
          sum = arith::AddFOp::create(b, at, sum, buildOrZero(b, at, isToken, term));
        }
        return sum;
      },
      type.clone(type.getScalarType()));
  result.replaceAllUsesExcept(whole, whole.getDefiningOp());
}

LogicalResult StateCarrier::carryShift(ScanOp op) {
  int64_t amount = op.getAmountAttr().getInt();
  if (amount > kMostShifted)
    return refuse(op.getLoc(), "a shift by " + Twine(amount) + " tokens",
                  "those up to " + std::to_string(kMostShifted) + " are carried");
  if (amount == 0)
    return success();
  Value initial = carryLast(buildTerms(op), op.getAxis(), amount);
  AxisRef axis = lastAxis(amount);
  SmallVector<Value> terms;
  for (int64_t number = 0; number < amount; ++number)
    terms.push_back(buildReduce(
        builder, op.getLoc(), Reduction::Sum, axis, lastOf(initial, op.getAxis(), number, op.getWithin()), {},
        [&](OpBuilder &b, Location at, ValueRange x) -> Value {
          Value index = IndexOp::create(b, at, real(), builder.getStringAttr(axis));
          Value here = isEqual(b, at, index, buildNumber(b, at, real(), double(number)));
          return buildOrZero(b, at, here, x[0]);
        }));
  addToFirst(op.getResult(), op.getAxis(), terms);
  return success();
}

/// y[i] += sum over j of w[j] x[i - J + 1 + j] over the tokens before the call, i - J + 1 + j < 0: those that
/// are kept, of which it is number i + j.
LogicalResult StateCarrier::carryConvolution(ConvolveOp op) {
  int64_t count = op.getNumTaps() - 1;
  if (count == 0)
    return success();
  AxisRef token = op.getArray().getType().has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key;
  Value initial = carryLast(op.getArray(), token, count);
  AxisRef axis = lastAxis(count), tap = op.getTapAxis();
  SmallVector<Value> terms;
  for (int64_t number = 0; number < count; ++number)
    terms.push_back(buildReduce(
        builder, op.getLoc(), Reduction::Sum, {axis, tap},
        {lastOf(initial, token, number, op.getWithin()), op.getTaps()}, {},
        [&](OpBuilder &b, Location at, ValueRange x) -> Value {
          Value index = IndexOp::create(b, at, real(), builder.getStringAttr(axis));
          Value tapIndex = IndexOp::create(b, at, real(), builder.getStringAttr(tap));
          Value here = arith::AddFOp::create(b, at, tapIndex, buildNumber(b, at, real(), double(number)));
          return buildOrZero(b, at, isEqual(b, at, index, here), arith::MulFOp::create(b, at, x[0], x[1]));
        }));
  addToFirst(op.getResult(), token, terms);
  return success();
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

/// The last result is what is carried; the first token continues from it.
void StateCarrier::carryRecurrent(RecurrentOpInterface op) {
  Value result = op->getResult(0);
  AxisRef token = tokenOf(op);
  ArrayType type = withBatch(arrayTypeOf(result));
  Value initial = addInitial("recurrence", type.without({token}).clone(real()));
  std::optional<MutableOperandRange> within = cast<ArrayOpInterface>(op.getOperation()).getDocuments();
  bool hasDocuments = within && !within->empty();
  builder.setInsertionPoint(op);
  Value before = buildMap(
      builder, op.getLoc(), hasDocuments ? keepIfBegun(initial, getStarts(token)) : initial, {},
      [&](OpBuilder &b, Location at, ValueRange x) -> Value {
        Value isFirst = isEqual(b, at, buildLocalIndex(b, at, token), buildNumber(b, at, real(), 0.0));
        return buildOrZero(b, at, isFirst, x[0]);
      },
      type.clone(real()));
  op.continueFrom(builder, before);
  builder.setInsertionPointAfter(op);
  auto same = [](OpBuilder &, Location, ValueRange x) -> Value { return x[0]; };
  setFinal(initial, buildAtLast(result, token, initial, same, same));
}

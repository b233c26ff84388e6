// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/States/WindowCarrier.h"
#include "dialect/Taylor/Carried.h"

using namespace mlir;
using namespace taylor;

Value taylor::buildTerms(OpBuilder &builder, ScanOp op) {
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

StringRef WindowCarrier::lastAxis(int64_t count) {
  StringAttr &axis = lastAxes[count];
  if (axis)
    return axis;
  auto isTaken = [&](StringRef name) {
    auto has = [&](Value array) { return isa<ArrayType>(array.getType()) && arrayTypeOf(array).has(name); };
    return llvm::any_of(carried.body().getArguments(), has) ||
           llvm::any_of(carried.body(), [&](Operation &op) { return llvm::any_of(op.getResults(), has); });
  };
  std::string name = "last" + std::to_string(count);
  while (isTaken(name))
    name += "_";
  return axis = builder.getStringAttr(name);
}

Value WindowCarrier::carryLast(Value array, AxisRef token, int64_t count) {
  Location where = array.getLoc();
  AxisRef axis = lastAxis(count);
  ArrayType type = withBatch(arrayTypeOf(array)).without({token});
  SmallVector<StringAttr> axes(type.getAxes());
  SmallVector<int64_t> sizes(type.getSizes());
  axes.push_back(builder.getStringAttr(axis));
  sizes.push_back(count);
  Value initial =
      carried.addInitial("inputs", ArrayType::get(builder.getContext(), axes, sizes, carried.real()));
  auto indexAlong = [&](OpBuilder &b, Location at) -> Value {
    return IndexOp::create(b, at, carried.real(), builder.getStringAttr(axis));
  };
  auto tokens = [&](OpBuilder &b, Location at) -> Value {
    return SizeOp::create(b, at, carried.real(), builder.getStringAttr(token));
  };
  // Token i of this call's T becomes kept token i - T + count; tokens kept before move back by T.
  SmallVector<Value> arrays{buildReduce(
      builder, where, Reduction::Sum, token, {array, initial}, {},
      [&](OpBuilder &b, Location at, ValueRange x) -> Value {
        Value number = arith::SubFOp::create(b, at, places.buildLocalIndex(b, at, token), tokens(b, at));
        number = arith::AddFOp::create(b, at, number, buildNumber(b, at, carried.real(), double(count)));
        return buildOrZero(b, at, buildIsEqual(b, at, indexAlong(b, at), number), x[0]);
      })};
  for (int64_t kept = 0; kept < count; ++kept)
    arrays.push_back(
        buildReduce(builder, where, Reduction::Sum, axis, initial, {},
                    [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                      Value number = arith::AddFOp::create(b, at, tokens(b, at),
                                                           buildNumber(b, at, carried.real(), double(kept)));
                      return buildOrZero(b, at, buildIsEqual(b, at, indexAlong(b, at), number), x[0]);
                    }));
  carried.setFinal(initial, buildMap(
                                builder, where, arrays, {},
                                [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                                  Value sum = x[0];
                                  for (int64_t kept = 0; kept < count; ++kept) {
                                    Value number = buildNumber(b, at, carried.real(), double(kept));
                                    Value old = buildOrZero(
                                        b, at, buildIsEqual(b, at, indexAlong(b, at), number), x[1 + kept]);
                                    sum = arith::AddFOp::create(b, at, sum, old);
                                  }
                                  return sum;
                                },
                                arrayTypeOf(initial)));
  return initial;
}

Value WindowCarrier::lastOf(Value initial, AxisRef token, int64_t number, Value within) {
  if (!within)
    return initial;
  StringRef axis = arrayTypeOf(initial).getAxes().back();
  double count = double(arrayTypeOf(initial).sizeOf(axis));
  return buildMap(
      builder, initial.getLoc(), {initial, documents.buildStartOf(token, number), places.getPosition()}, {},
      [&](OpBuilder &b, Location at, ValueRange x) -> Value {
        Value index = IndexOp::create(b, at, carried.real(), builder.getStringAttr(axis));
        Value place = arith::AddFOp::create(b, at, x[2], index);
        Value start = arith::AddFOp::create(b, at, x[1], buildNumber(b, at, carried.real(), count));
        Value isOwn = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OLE, start, place);
        return buildOrZero(b, at, isOwn, x[0]);
      });
}

void WindowCarrier::addToFirst(Value result, AxisRef token, ArrayRef<Value> terms) {
  SmallVector<Value> arrays{result};
  llvm::append_range(arrays, terms);
  ArrayType type = withBatch(arrayTypeOf(result));
  Value whole = buildMap(
      builder, result.getLoc(), arrays, {},
      [&](OpBuilder &b, Location at, ValueRange x) -> Value {
        Value index = places.buildLocalIndex(b, at, token), sum = x[0];
        for (auto [number, term] : llvm::enumerate(x.drop_front())) {
          Value isToken = buildIsEqual(b, at, index, buildNumber(b, at, carried.real(), double(number)));
          sum = arith::AddFOp::create(b, at, sum, buildOrZero(b, at, isToken, term));
        }
        return sum;
      },
      type.clone(type.getScalarType()));
  result.replaceAllUsesExcept(whole, whole.getDefiningOp());
}

LogicalResult WindowCarrier::carryShift(ScanOp op) {
  int64_t amount = op.getAmountAttr().getInt();
  if (amount > kMostShifted)
    return carried.refuse(op.getLoc(), "a shift by " + Twine(amount) + " tokens",
                          "those up to " + std::to_string(kMostShifted) + " are carried");
  if (amount == 0)
    return success();
  Value initial = carryLast(buildTerms(builder, op), op.getAxis(), amount);
  AxisRef axis = lastAxis(amount);
  SmallVector<Value> terms;
  for (int64_t number = 0; number < amount; ++number)
    terms.push_back(buildReduce(
        builder, op.getLoc(), Reduction::Sum, axis, lastOf(initial, op.getAxis(), number, op.getWithin()), {},
        [&](OpBuilder &b, Location at, ValueRange x) -> Value {
          Value index = IndexOp::create(b, at, carried.real(), builder.getStringAttr(axis));
          Value here = buildIsEqual(b, at, index, buildNumber(b, at, carried.real(), double(number)));
          return buildOrZero(b, at, here, x[0]);
        }));
  addToFirst(op.getResult(), op.getAxis(), terms);
  return success();
}

/// y[i] += sum over j of w[j] x[i - J + 1 + j] over the tokens before the call, i - J + 1 + j < 0: those that
/// are kept, of which it is number i + j.
LogicalResult WindowCarrier::carryConvolution(ConvolveOp op) {
  int64_t count = op.getNumTaps() - 1;
  if (count == 0)
    return success();
  AxisRef token = op.getArray().getType().has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key;
  Value initial = carryLast(op.getArray(), token, count);
  AxisRef axis = lastAxis(count), tap = op.getTapAxis();
  SmallVector<Value> terms;
  for (int64_t number = 0; number < count; ++number)
    terms.push_back(
        buildReduce(builder, op.getLoc(), Reduction::Sum, {axis, tap},
                    {lastOf(initial, token, number, op.getWithin()), op.getTaps()}, {},
                    [&](OpBuilder &b, Location at, ValueRange x) -> Value {
                      Value index = IndexOp::create(b, at, carried.real(), builder.getStringAttr(axis));
                      Value tapIndex = IndexOp::create(b, at, carried.real(), builder.getStringAttr(tap));
                      Value here = arith::AddFOp::create(b, at, tapIndex,
                                                         buildNumber(b, at, carried.real(), double(number)));
                      return buildOrZero(b, at, buildIsEqual(b, at, index, here),
                                         arith::MulFOp::create(b, at, x[0], x[1]));
                    }));
  addToFirst(op.getResult(), token, terms);
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/States/CarriedPlaces.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

Value taylor::buildIsEqual(OpBuilder &b, Location loc, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, y);
}

Value taylor::buildStopped(OpBuilder &b, Location loc, ValueRange x) {
  return StopGradientOp::create(b, loc, x[0]);
}

Value CarriedPlaces::getPosition() {
  if (position)
    return position;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&carried.body());
  return position = buildMap(
             builder, loc, {}, {},
             [&](OpBuilder &b, Location where, ValueRange) -> Value {
               Value keys = SizeOp::create(b, where, carried.real(), axisAttr(builder, AxisRole::Key));
               Value queries = SizeOp::create(b, where, carried.real(), axisAttr(builder, AxisRole::Query));
               return arith::SubFOp::create(b, where, keys, queries);
             },
             joinAxes({}, carried.real(), {AxisRole::Batch}));
}

Value CarriedPlaces::getPlaces(AxisRef token) {
  Value &place = known[token];
  if (place)
    return place;
  OpBuilder::InsertionGuard guard(builder);
  Value before = getPosition();
  builder.setInsertionPointAfterValue(before);
  return place = buildMap(
             builder, loc, before, {},
             [&](OpBuilder &b, Location where, ValueRange x) -> Value {
               Value index = IndexOp::create(b, where, carried.real(), builder.getStringAttr(token));
               return arith::AddFOp::create(b, where, index, x[0]);
             },
             joinAxes({}, carried.real(), {AxisRole::Batch, token}));
}

/// Queries may be fewer than keys: they are the call's last tokens.
Value CarriedPlaces::buildLocalIndex(OpBuilder &b, Location where, AxisRef token) {
  Value index = IndexOp::create(b, where, carried.real(), builder.getStringAttr(token));
  if (token == AxisRole::Key)
    return index;
  Value keys = SizeOp::create(b, where, carried.real(), axisAttr(builder, AxisRole::Key));
  Value queries = SizeOp::create(b, where, carried.real(), axisAttr(builder, AxisRole::Query));
  return arith::SubFOp::create(b, where, index, arith::SubFOp::create(b, where, keys, queries));
}

/// A place among the tokens, or how many there are.
static bool isPlace(Operation *scalar) {
  if (auto index = dyn_cast<IndexOp>(scalar))
    return index.getAxis() == AxisRole::Query || index.getAxis() == AxisRole::Key;
  auto size = dyn_cast<SizeOp>(scalar);
  return size && (size.getAxis() == AxisRole::Query || size.getAxis() == AxisRole::Key);
}

/// min(.., size(u)) only bounds a count of earlier tokens, and is the same in pieces. Any other use of a size
/// would change with each piece.
LogicalResult CarriedPlaces::checkSize(SizeOp size) {
  if (llvm::all_of(size->getUsers(), llvm::IsaPred<arith::MinimumFOp>))
    return success();
  return carried.refuse(size.getLoc(),
                        "size(" + size.getAxis() + ") is known where the sequence ends, not in its pieces",
                        "take the length from an input or a parameter");
}

LogicalResult CarriedPlaces::moveIn(Region &formula, MutableOperandRange arrays) {
  SmallVector<Operation *> found;
  formula.walk([&](Operation *scalar) {
    if (isPlace(scalar))
      found.push_back(scalar);
  });
  if (found.empty())
    return success();
  for (Operation *scalar : found)
    if (auto size = dyn_cast<SizeOp>(scalar); size && failed(checkSize(size)))
      return failure();
  arrays.append(getPosition());
  Value before = formula.front().addArgument(carried.real(), loc);
  for (Operation *scalar : found) {
    OpBuilder inner(scalar->getContext());
    inner.setInsertionPointAfter(scalar);
    Value place = scalar->getResult(0);
    Value moved = arith::AddFOp::create(inner, scalar->getLoc(), place, before);
    place.replaceAllUsesExcept(moved, moved.getDefiningOp());
  }
  return success();
}

Value CarriedPlaces::buildOrElse(OpBuilder &b, Location at, AxisRef token, Value none, Value some) {
  Value tokens = SizeOp::create(b, at, carried.real(), builder.getStringAttr(token));
  return arith::SelectOp::create(b, at, buildIsEqual(b, at, tokens, buildNumber(b, at, carried.real(), 0.0)),
                                 none, some);
}

Value CarriedPlaces::buildAtLast(ValueRange arrays, AxisRef token, Value otherwise, ScalarBody element,
                                 ScalarBody rest) {
  Location where = arrays.front().getLoc();
  Value last = buildReduce(
      builder, where, Reduction::Sum, token, arrays, {}, [&](OpBuilder &b, Location at, ValueRange x) {
        Value tokens = SizeOp::create(b, at, carried.real(), builder.getStringAttr(token));
        Value one = buildNumber(b, at, carried.real(), 1.0);
        Value index = arith::SubFOp::create(b, at, tokens, one);
        Value isLast = buildIsEqual(b, at, buildLocalIndex(b, at, token), index);
        return buildOrZero(b, at, isLast, element(b, at, x));
      });
  return buildMap(builder, where, {last, otherwise}, {}, [&](OpBuilder &b, Location at, ValueRange x) {
    return buildOrElse(b, at, token, rest(b, at, x.drop_front()), x[0]);
  });
}

Value CarriedPlaces::buildAtLast(Value array, AxisRef token, Value otherwise) {
  return buildAtLast(array, token, otherwise, buildStopped, buildStopped);
}

/// Rotations go on at the tokens' places in the whole sequence.
void CarriedPlaces::giveTo(ArrayOpInterface op) {
  std::optional<MutableOperandRange> given = op.getPlaces();
  if (!given || !given->empty())
    return;
  given->assign(getPlaces(op.getToken()));
  Value array = op->getOperand(0);
  if (arrayTypeOf(array).has(AxisRole::Batch))
    return;
  builder.setInsertionPoint(op);
  ArrayType type = arrayTypeOf(array);
  op->setOperand(0, buildMap(
                        builder, loc, array, {}, [](OpBuilder &, Location, ValueRange x) { return x[0]; },
                        withBatch(type.clone(type.getScalarType()))));
}

void CarriedPlaces::finish() {
  if (!position || carried.mode == CarryMode::Queries)
    return;
  builder.setInsertionPoint(carried.body().getTerminator());
  Operation *placeholder = position.getDefiningOp();
  Value given = carried.addInitial("position", arrayTypeOf(position), /*numbered=*/false);
  position.replaceAllUsesWith(given);
  placeholder->erase();
  carried.setFinal(
      given, buildMap(builder, loc, given, {}, [&](OpBuilder &b, Location where, ValueRange x) -> Value {
        Value keys = SizeOp::create(b, where, carried.real(), axisAttr(builder, AxisRole::Key));
        return arith::AddFOp::create(b, where, x[0], keys);
      }));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/TileElements.h"

#include "codegen/Targets/CPU/VectorOps.h"
#include "codegen/Targets/Math/VectorMath.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

//===----------------------------------------------------------------------===//
// Where tiles are
//===----------------------------------------------------------------------===//

const TileView *TileElements::findView(Value value, StringAttr lane, StringAttr pairs) {
  auto it = views.find(value);
  if (it == views.end())
    return nullptr;
  for (const TileView &view : it->second)
    if (view.pairs == pairs && (!lane || view.lane == lane))
      return &view;
  return nullptr;
}

TileView TileElements::placeView(const ScratchPlace &place, StringAttr lane) {
  TileView view;
  view.pointer = gep(scratch, b.getI8Type(), plan.offsetOf(place));
  view.element = place.element;
  view.lane = lane;
  for (auto [axis, stride] : llvm::zip(place.order, place.strides))
    view.strides.push_back({axis, stride});
  return view;
}

void TileElements::definePlace(Value value, StringAttr lane) {
  if (const ScratchPlace *place = plan.placeOf(value, lane))
    views[value].push_back(placeView(*place, lane));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Value TileElements::splatScalar(Value value) {
  Value number = scalar(value);
  if (value.getType().isIndex())
    number = arith::TruncIOp::create(b, b.getI32Type(), number);
  else if (value.getType().isBF16() || value.getType().isF16())
    number = arith::ExtFOp::create(b, b.getF32Type(), number);
  return splat(number);
}

Index TileElements::boundOf(const Constraint &constraint) {
  Index bound = -constraint.constant;
  for (auto [value, factor] : constraint.terms)
    bound = add(bound, multiply(Index(scalar(value)), -factor));
  return bound;
}

Value TileElements::fetch(Value value, const Point &point, Locals &locals) {
  if (Value local = locals.lookup(value))
    return local;
  auto type = cast<TileType>(value.getType());
  if (auto op = value.getDefiningOp<SplatOp>())
    return locals[value] = splatScalar(op.getValue());
  if (auto op = value.getDefiningOp<PositionOp>()) {
    StringAttr axis = type.getAxes().front().name;
    Value begin = scalar(op.getStart());
    APInt number;
    Index start = matchPattern(begin, m_ConstantInt(&number)) ? Index(number.getSExtValue()) : Index(begin);
    Value first = b.createOrFold<arith::TruncIOp>(b.getI32Type(), asValue(add(start, point.along(axis))));
    first = splat(first);
    return locals[value] = axis == point.lane ? b.createOrFold<arith::AddIOp>(first, iota()) : first;
  }
  if (plan.isInline(value)) {
    emitMap(value.getDefiningOp<MapOp>(), point, locals);
    return locals.lookup(value);
  }
  bool hasLane = point.lane && type.hasAxis(point.lane);
  const TileView *view = findView(value, hasLane ? point.lane : StringAttr());
  if (hasLane && !view) // not contiguous here
    return locals[value] = gather(value, point, type.getSize(point.lane));
  Value vector = loadTile(*view, address(*view, point), /*isVector=*/hasLane);
  if (!hasLane)
    vector = splat(vector);
  return locals[value] = asTruth(value, vector);
}

Value TileElements::gather(Value value, const Point &point, int64_t size, int64_t stride, int64_t offset) {
  const TileView *view = findView(value, {});
  Value vector = zeroOf(vectorOf(registerType(view->element)));
  for (int64_t i = 0; i < W; ++i) {
    Point element = point.moved(point.lane, i);
    for (auto &[axis, index] : element.at)
      if (axis == point.lane)
        index = add(multiply(minimum(index, size - 1), stride), offset);
    vector =
        vector::InsertOp::create(b, loadTile(*view, address(*view, element), /*isVector=*/false), vector, i);
  }
  return asTruth(value, vector);
}

Value TileElements::asTruth(Value value, Value vector) {
  if (!cast<TileType>(value.getType()).getElementType().isInteger(1))
    return vector;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, vector, zeroOf(vector.getType()));
}

/// An exponential that a product reads rounded to bf16: a weight, of which sums take the digits that matter.
static bool isRoundedExponential(Operation *op) {
  return isa<math::ExpOp, math::Exp2Op>(op) && op->getResult(0).getType().isF32() &&
         llvm::any_of(op->getUsers(), [](Operation *user) {
           auto rounded = dyn_cast<arith::TruncFOp>(user);
           return rounded && rounded.getType().isBF16();
         });
}

void TileElements::emitMap(MapOp map, const Point &point, Locals &locals) {
  IRMapping values;
  Block *block = map.getBlock();
  for (auto [argument, input] : llvm::zip(block->getArguments(), map.getInputs()))
    values.map(argument, fetch(input, point, locals));
  auto lookup = [&](Value value) -> Value {
    if (Value known = values.lookupOrNull(value))
      return known;
    Value vector = splatScalar(value); // from outside the map
    values.map(value, vector);
    return vector;
  };
  for (Operation &op : block->without_terminator()) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(lookup(operand));
    Value result = emitVectorOp(b, &op, operands, W, target);
    if (isRoundedExponential(&op))
      llvm::TypeSwitch<Operation *>(result.getDefiningOp()).Case<math::ExpOp, math::Exp2Op>([](auto exp) {
        exp.setFastmath(exp.getFastmath() | kRoundedResult);
      });
    values.map(op.getResult(0), result);
  }
  for (auto [result, value] : llvm::zip(map.getResults(), block->getTerminator()->getOperands()))
    locals[result] = lookup(value);
}

Value TileElements::emitSlice(SliceOp slice, const Point &point) {
  bool alongLanes = slice.getAxisAttr() == point.lane;
  if (alongLanes && slice.getStride() != 1)
    return gather(slice.getInput(), point, slice.getSize(), slice.getStride(), slice.getOffset());
  Point from = point;
  for (auto &[axis, index] : from.at)
    if (axis == slice.getAxisAttr())
      index = add(multiply(index, slice.getStride()), slice.getOffset());
  Locals none;
  return fetch(slice.getInput(), from, none);
}

void TileElements::storeLocal(Value value, const Point &point, Value vector) {
  if (!plan.placeOf(value, plan.laneOf(value)))
    return;
  TileView view = ownView(value);
  storeTile(view, vector, address(view, point));
}

void TileElements::storePair(Value value, const Point &point, Value even, Value odd) {
  const Copy &copy = *plan.pairStoreOf(value);
  const TileView &view = *findView(value, copy.lane, copy.pairs);
  auto bits = [&](Value vector) {
    return arith::BitcastOp::create(b, vectorOf(b.getI16Type()), toStorage(vector, view.element));
  };
  store(interleave(bits(even), bits(odd)), address(view, point));
}

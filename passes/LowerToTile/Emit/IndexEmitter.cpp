// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/IndexEmitter.h"

#include "dialect/Tile/Extents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

Frame Frame::at(AxisRef token, Value start, int64_t size) const {
  Frame moved = *this;
  moved.tiles.clear();
  if (token == AxisRole::Query || token == AxisRole::Key)
    (token == AxisRole::Query ? moved.tEnd : moved.uEnd) = {};
  (token == AxisRole::Query ? moved.tStart : token == AxisRole::Key ? moved.uStart : moved.lagStart) = start;
  (token == AxisRole::Query ? moved.tSize : token == AxisRole::Key ? moved.uSize : moved.lagSize) = size;
  return moved;
}

void IndexEmitter::noteChannels(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (auto array = dyn_cast<ArrayType>(type))
      for (auto [name, size] : llvm::zip(array.getAxes(), array.getSizes()))
        if (size != ArrayType::kUnknown)
          channelSizes[name.getValue()] = size;
}

Value IndexEmitter::constant(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
Value IndexEmitter::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value IndexEmitter::size(AxisRef role) {
  return tile::SizeOp::create(builder, loc, builder.getIndexType(), role);
}
Value IndexEmitter::firstPosition(AxisRef token) {
  if (token == AxisRole::Key)
    return constant(0);
  Value offset = size(tile::kOffset);
  return token == AxisRole::Query ? offset
                                  : Value(arith::SubIOp::create(builder, loc, offset, size(AxisRole::Key)));
}
Value IndexEmitter::lagStart(const Frame &pair) {
  Value lag = arith::SubIOp::create(builder, loc, pair.tStart, pair.uStart);
  return add(lag, add(size(AxisRole::Key), constant(tile::kLagMargin)));
}
Value IndexEmitter::endPosition(AxisRef token) {
  return token == AxisRole::Key ? size(AxisRole::Key) : add(size(tile::kOffset), size(AxisRole::Query));
}
Value IndexEmitter::lastKey(const Frame &keys) {
  Value past = add(keys.uStart, constant(keys.uSize));
  past = arith::MinSIOp::create(builder, loc, past, size(AxisRole::Key));
  return arith::SubIOp::create(builder, loc, past, constant(1));
}
Value IndexEmitter::headsPerGroup() {
  return arith::DivSIOp::create(builder, loc, size(AxisRole::Head), size(AxisRole::KeyHead));
}

std::pair<Value, Value> IndexEmitter::headsOf(const Frame &frame) {
  Value group = indexOf(AxisRole::KeyHead, frame);
  if (!group)
    return {constant(0), size(AxisRole::Head)};
  Value count = headsPerGroup();
  return {arith::MulIOp::create(builder, loc, group, count), count};
}

Value IndexEmitter::extent(tile::ExtentAttr extent) {
  struct Indices {
    using Number = Value;
    IndexEmitter &emitter;
    Value constant(int64_t value) const { return emitter.constant(value); }
    Value size(AxisRef role) const { return emitter.size(role); }
    Value mul(Value a, Value b) const { return arith::MulIOp::create(emitter.builder, emitter.loc, a, b); }
    Value ceilDivide(Value a, Value b) const {
      return arith::CeilDivSIOp::create(emitter.builder, emitter.loc, a, b);
    }
    /// A block runs, so no size of its grid is 0.
    Value atLeastOne(Value a) const { return a; }
  };
  return tile::evaluateExtent(extent, Indices{*this});
}

Value IndexEmitter::indexOf(AxisRef axis, const Frame &frame) {
  if (Value index = frame.indices.lookup(axis))
    return index;
  if (Value head = axis == AxisRole::KeyHead ? frame.indices.lookup(AxisRole::Head) : Value())
    return arith::DivSIOp::create(builder, loc, head, headsPerGroup());
  return {};
}

Value IndexEmitter::positions(AxisRef axis, const Frame &frame) {
  Value start = constant(0);
  int64_t count = channelSize(axis);
  if (isTokenAxis(axis)) {
    start = axis == AxisRole::Key ? frame.uStart : add(firstPosition(axis), frame.start(axis));
    if (axis == AxisRole::Lag)
      start = add(start, constant(-tile::kLagMargin));
    count = frame.size(axis);
  } else if (axis == frame.channel) {
    start = frame.channelStart;
    count = frame.channelSize;
  }
  auto type = tile::TileType::get(builder.getContext(), {tile::Axis::get(builder.getContext(), axis, count)},
                                  builder.getIndexType());
  return tile::PositionOp::create(builder, loc, type, start);
}

Value IndexEmitter::tokenNumbers(AxisRef token, const Frame &frame) {
  auto type = tile::TileType::get(builder.getContext(),
                                  {tile::Axis::get(builder.getContext(), token, frame.size(token))},
                                  builder.getIndexType());
  return tile::PositionOp::create(builder, loc, type, frame.start(token));
}

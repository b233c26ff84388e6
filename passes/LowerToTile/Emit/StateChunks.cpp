// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/StateChunks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

tile::ArrayType StateChunks::memoryType(StatesOp op, ArrayType state) {
  MLIRContext *context = op.getContext();
  SmallVector<tile::Axis> axes;
  for (auto [name, size] : llvm::zip(state.getAxes(), state.getSizes())) {
    if (name == AxisRole::Query || name == AxisRole::Key)
      axes.push_back({StringAttr::get(context, TileEmitter::kChunkAxis),
                      tile::ExtentAttr::get(axisAttr(context, AxisRole::Query), int64_t(op.getChunk()))});
    else if (isRuntimeAxis(name.getValue()))
      axes.push_back({name, tile::ExtentAttr::get(name)});
    else
      axes.push_back(tile::Axis::get(context, name.getValue(), size));
  }
  return tile::ArrayType::get(context, axes, state.getScalarType());
}

Value StateChunks::count() {
  return arith::CeilDivSIOp::create(builder, emitter.loc, emitter.size(AxisRole::Query),
                                    emitter.constant(size));
}

std::pair<Value, Value> StateChunks::tokensOf(AxisRef token, const Frame &frame) {
  Location loc = emitter.loc;
  Value begin = emitter.constant(0), end = emitter.size(token);
  if (!size)
    return {begin, end};
  Value number = frame.indices.lookup(TileEmitter::kChunkAxis);
  if (token == AxisRole::Query) {
    Value chunk = emitter.constant(size);
    Value edge = arith::MulIOp::create(builder, loc, number, chunk);
    return {edge, arith::MinSIOp::create(builder, loc, emitter.add(edge, chunk), end)};
  }
  auto [first, past] = keysOf(number);
  return {arith::MaxSIOp::create(builder, loc, first, begin),
          arith::MinSIOp::create(builder, loc, past, end)};
}

std::pair<Value, Value> StateChunks::keysOf(Value slot) {
  Location loc = emitter.loc;
  Value chunk = emitter.constant(size);
  Value edge = emitter.add(emitter.size(tile::kOffset), arith::MulIOp::create(builder, loc, slot, chunk));
  auto isSlot = [&](Value other) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, slot, other);
  };
  if (!opposite) {
    // Keys of the chunk before; the first slot has all keys before query 0.
    Value first = arith::SubIOp::create(builder, loc, edge, chunk);
    first = arith::SelectOp::create(builder, loc, isSlot(emitter.constant(0)), emitter.constant(0), first);
    return {first, edge};
  }
  // Keys of the chunk after it; the last slot has all keys after the last query.
  Value first = emitter.add(edge, chunk);
  Value last = arith::SubIOp::create(builder, loc, count(), emitter.constant(1));
  Value past = arith::SelectOp::create(builder, loc, isSlot(last), emitter.size(AxisRole::Key),
                                       emitter.add(first, chunk));
  return {first, past};
}

Value StateChunks::hasKeys(Value slot) {
  Location loc = emitter.loc;
  auto [first, past] = keysOf(slot);
  if (opposite)
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, first, emitter.size(AxisRole::Key));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, past, emitter.constant(0));
}

Value StateChunks::slotOf(AxisRef token, Value index) {
  Location loc = emitter.loc;
  Value chunk = emitter.constant(size);
  if (token == AxisRole::Query)
    return arith::FloorDivSIOp::create(builder, loc, index, chunk);
  Value place = arith::SubIOp::create(builder, loc, index, emitter.size(tile::kOffset));
  Value number = arith::FloorDivSIOp::create(builder, loc, place, chunk);
  if (opposite)
    return arith::SubIOp::create(builder, loc, arith::MinSIOp::create(builder, loc, number, count()),
                                 emitter.constant(1));
  return arith::MaxSIOp::create(builder, loc, emitter.add(number, emitter.constant(1)), emitter.constant(0));
}

SmallVector<Value> StateChunks::forSlots(AxisRef token, const Frame &frame, ValueRange carried,
                                         bool withStates,
                                         function_ref<SmallVector<Value>(const Frame &, ValueRange)> body) {
  Location loc = emitter.loc;
  Frame at = frame;
  if (!size)
    return body(at, carried);
  Value first = slotOf(token, frame.start(token));
  if (token == AxisRole::Query) {
    at.indices[TileEmitter::kChunkAxis] = first;
    if (!withStates)
      return body(at, carried);
    Value times =
        arith::SelectOp::create(builder, loc, hasKeys(first), emitter.constant(1), emitter.constant(0));
    return emitter.loop(emitter.constant(0), times, 1, carried,
                        [&](Value, ValueRange carried) { return body(at, carried); });
  }
  Value last = slotOf(token, emitter.lastKey(frame));
  if (opposite)
    first = arith::MaxSIOp::create(builder, loc, first, emitter.constant(0));
  else if (withStates)
    last = arith::MinSIOp::create(builder, loc, last,
                                  arith::SubIOp::create(builder, loc, count(), emitter.constant(1)));
  return emitter.loop(
      first, emitter.add(last, emitter.constant(1)), 1, carried, [&](Value slot, ValueRange carried) {
        Frame inside = at;
        inside.indices[TileEmitter::kChunkAxis] = slot;
        SmallVector<Value> made = body(inside, carried);
        auto keys = keysOf(slot); // others keep what they have
        Value positions = emitter.tokenNumbers(token, frame);
        SmallVector<Value> next;
        for (auto [before, after] : llvm::zip(carried, made))
          next.push_back(emitter.map(
              {positions, before, after}, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
                Value is = arith::CmpIOp::create(inner, where, arith::CmpIPredicate::sge, s[0], keys.first);
                Value isBefore =
                    arith::CmpIOp::create(inner, where, arith::CmpIPredicate::slt, s[0], keys.second);
                is = arith::AndIOp::create(inner, where, is, isBefore);
                return arith::SelectOp::create(inner, where, is, s[2], s[1]);
              }));
        return next;
      });
}

Value StateChunks::loadEdge(Value array, Value slot, const Frame &frame, bool query) {
  Location loc = emitter.loc;
  if (opposite)
    slot = emitter.add(slot, emitter.constant(1));
  Value index = arith::MulIOp::create(builder, loc, slot, emitter.constant(size));
  if (query && opposite)
    index = arith::MinSIOp::create(builder, loc, index, emitter.size(AxisRole::Query));
  index = emitter.add(emitter.size(tile::kOffset), index);
  if (!query || opposite)
    index = emitter.add(index, emitter.constant(-1));
  Value last = arith::SubIOp::create(builder, loc, emitter.size(AxisRole::Key), emitter.constant(1));
  index = arith::MinSIOp::create(builder, loc, index, last);
  Frame at = frame;
  at.uStart = arith::MaxSIOp::create(builder, loc, index, emitter.constant(0));
  at.uSize = 1;
  auto number = tile::TileType::get(builder.getContext(), {}, typeOf(array).getScalarType());
  return emitter.load(emitter.memory.values.lookup(array), number, at);
}

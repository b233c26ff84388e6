// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/VisibleWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

SmallVector<Value> VisibleWalk::emit(ArrayRef<VisibleRange> ranges, int64_t step, int64_t edge,
                                     ValueRange carried, const Masking &masking, Body body) {
  if (ranges.size() == 1)
    return emitRange(ranges.front(), step, edge, carried, masking, body);
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value begin = emitter.constant(0), end = emitter.constant(ranges.size());
  return emitter.loop(begin, end, 1, carried, [&](Value number, ValueRange carried) {
    VisibleRange chosen = ranges.back();
    for (size_t i = ranges.size() - 1; i-- > 0;) {
      Value isThis =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, number, emitter.constant(i));
      for (Value VisibleRange::*bound :
           {&VisibleRange::begin, &VisibleRange::fullBegin, &VisibleRange::fullEnd, &VisibleRange::end})
        chosen.*bound = arith::SelectOp::create(builder, loc, isThis, ranges[i].*bound, chosen.*bound);
    }
    Masking ofRange = masking;
    ofRange.begin = chosen.begin;
    ofRange.end = chosen.end;
    return emitRange(chosen, step, edge, carried, ofRange, body);
  });
}

SmallVector<Value> VisibleWalk::emitRange(const VisibleRange &range, int64_t step, int64_t edge,
                                          ValueRange carried, const Masking &masking, Body body) {
  if (emitter.sizes.singleLoop)
    return emitSingleLoop(range, step, carried, masking, body);
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  SmallVector<Value> values(carried);
  auto segment = [&](Value begin, Value end, int64_t by, bool masked) {
    values = emitter.loop(begin, end, by, values, [&](Value index, ValueRange carried) {
      return body(index, range.end, carried, masked ? masking : Masking());
    });
  };
  if (range.neverFull) {
    segment(range.begin, range.end, edge, true);
    return values;
  }
  auto sub = [&](Value a, Value b) -> Value { return arith::SubIOp::create(builder, loc, a, b); };
  auto times = [&](Value a, int64_t b) -> Value {
    return arith::MulIOp::create(builder, loc, a, emitter.constant(b));
  };
  auto tiles = [&](Value from, Value to, int64_t by, bool up) -> Value {
    Value length = arith::MaxSIOp::create(builder, loc, sub(to, from), emitter.constant(0));
    if (up)
      return arith::CeilDivSIOp::create(builder, loc, length, emitter.constant(by));
    return arith::DivSIOp::create(builder, loc, length, emitter.constant(by));
  };
  // Whole tiles of the full part, counted from `begin`: [begin, first) masked, [first, second) full, [second,
  // end) masked.
  Value first = range.begin;
  if (!range.fullFromStart)
    first = emitter.add(range.begin, times(tiles(range.begin, range.fullBegin, edge, /*up=*/true), edge));
  Value second = emitter.add(first, times(tiles(first, range.fullEnd, step, /*up=*/false), step));
  if (range.fullFromStart) {
    segment(first, second, step, false);
    segment(second, range.end, edge, true);
    return values;
  }
  // Both masked parts are one loop, so that its body is compiled once.
  Value before =
      tiles(range.begin, arith::MinSIOp::create(builder, loc, first, range.end), edge, /*up=*/true);
  Value after = tiles(second, range.end, edge, /*up=*/true);
  values = emitter.loop(
      emitter.constant(0), emitter.add(before, after), 1, values, [&](Value number, ValueRange carried) {
        Value isBefore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, number, before);
        Value base =
            arith::SelectOp::create(builder, loc, isBefore, range.begin, sub(second, times(before, edge)));
        return body(emitter.add(base, times(number, edge)), range.end, carried, masking);
      });
  segment(first, second, step, false);
  return values;
}

SmallVector<Value> VisibleWalk::emitSingleLoop(const VisibleRange &range, int64_t step, ValueRange carried,
                                               Masking masking, Body body) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  return emitter.loop(range.begin, range.end, step, carried, [&](Value index, ValueRange carried) {
    if (!range.neverFull) {
      Value past = emitter.add(index, emitter.constant(step));
      masking.cut = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sgt, past, range.fullEnd);
      if (!range.fullFromStart) {
        Value before = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, index, range.fullBegin);
        masking.cut = arith::OrIOp::create(builder, loc, before, masking.cut);
      }
    }
    return body(index, range.end, carried, masking);
  });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/StateSums.h"

#include "dialect/Taylor/ArrayBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

void StateSums::emitSums(Frame &frame) {
  Location loc = emitter.loc;
  int64_t size = emitter.sizes.stateFeatures, step = emitter.sizes.tokens;
  StringRef token = op.getToken();
  auto [begin, end] = chunks.tokensOf(token, frame);
  Value past = end;
  bool heads = !frame.indices.contains(AxisRole::Head) && llvm::any_of(op->getOperands(), [](Value operand) {
    return typeOf(operand).has(AxisRole::Head);
  });
  // Every head of the group, every tile of tokens.
  auto forTokens = [&](ValueRange carried, function_ref<SmallVector<Value>(Frame &, ValueRange)> body) {
    auto ofHead = [&](const Frame &head, ValueRange carried) {
      return emitter.loop(begin, past, step, carried, [&](Value start, ValueRange carried) {
        Frame tokens = head.at(token, start, step);
        // Features of later tokens, times values that are 0 there, may be no number.
        (token == AxisRole::Query ? tokens.tEnd : tokens.uEnd) = past;
        return body(tokens, carried);
      });
    };
    return heads ? emitter.forHeads(frame, carried, ofHead) : ofHead(frame, carried);
  };
  // What sums of a panel begin from.
  auto beginAt = [&](const Frame &frame, Value start) {
    if (op.getInitial().empty())
      return panels.zeros(memory, size);
    return llvm::map_to_vector(op.getInitial(), [&](Value array) {
      return panels.load(emitter.memory.values.lookup(array), frame, start, size);
    });
  };
  if (emitter.sizes.featuresOnGrid) {
    Value start = arith::MulIOp::create(builder, loc, frame.indices.lookup(TileEmitter::kPanelAxis),
                                        emitter.constant(size));
    SmallVector<Value> sums = forTokens(beginAt(frame, start), [&](Frame &tokens, ValueRange carried) {
      SmallVector<Value> masked = summed.mask(tokens, past);
      summed.clearVectors(tokens);
      return summed.add(tokens, masked, start, size, carried);
    });
    Frame at = panels.at(frame, start);
    for (auto [array, sum] : llvm::zip(memory, sums))
      emitter.store(sum, array, at);
    return;
  }
  Value count = emitter.constant(*op.getFeatures().count());
  emitter.loop(emitter.constant(0), count, size, {}, [&](Value start, ValueRange) {
    Frame at = panels.at(frame, start);
    for (auto [array, sum] : llvm::zip(memory, beginAt(frame, start)))
      emitter.store(sum, array, at);
    return SmallVector<Value>();
  });
  forTokens({}, [&](Frame &tokens, ValueRange) {
    // Once per tile of tokens, not once per panel.
    emitter.emit(op.getVectors(), tokens);
    SmallVector<Value> masked = summed.mask(tokens, past);
    summed.clearVectors(tokens);
    emitter.loop(emitter.constant(0), count, size, {}, [&](Value start, ValueRange) {
      Frame inside = tokens;
      SmallVector<Value> added = summed.add(inside, masked, start, size, panels.zeros(memory, size));
      Frame at = panels.at(inside, start);
      for (auto [array, sum] : llvm::zip(memory, added))
        emitter.accumulate(sum, array, at);
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

Value StateSums::loadDecay(Value from, Value to, const Frame &frame) {
  if (op.getToken() == AxisRole::Query)
    std::swap(from, to); // queries after both edges
  SmallVector<Value> numbers;
  for (Value array : {op.getDecay(), op.getWithin()})
    if (array)
      for (Value slot : {to, from})
        numbers.push_back(chunks.loadEdge(array, slot, frame));
  return emitter.map(numbers, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
    Value kept = buildNumber(inner, where, s[0].getType(), 1.0);
    if (op.getDecay())
      kept =
          math::ExpOp::create(inner, where, arith::SubFOp::create(inner, where, s[0], s[1]), tile::kRelaxed);
    if (!op.getWithin())
      return kept;
    ValueRange documents = s.take_back(2);
    Value same = arith::CmpFOp::create(inner, where, arith::CmpFPredicate::OEQ, documents[0], documents[1]);
    Value ended = buildNumber(inner, where, kept.getType(), -1.0);
    return arith::SelectOp::create(inner, where, same, kept, ended);
  });
}

void StateSums::emitPass(Frame &frame) {
  Location loc = emitter.loc;
  int64_t size = emitter.sizes.getPassFeatures();
  Value start = arith::MulIOp::create(builder, loc, frame.indices.lookup(TileEmitter::kPanelAxis),
                                      emitter.constant(size));
  Value count = chunks.count();
  bool backward = (op.getToken() == AxisRole::Query) != op.getOpposite();
  emitter.loop(emitter.constant(0), count, 1, panels.zeros(memory, size), [&](Value number, ValueRange sums) {
    if (backward) {
      Value last = arith::SubIOp::create(builder, loc, count, emitter.constant(1));
      number = arith::SubIOp::create(builder, loc, last, number);
    }
    Frame at = panels.at(frame, start);
    at.indices[TileEmitter::kChunkAxis] = number;
    Value kept;
    if (op.getDecay() || op.getWithin()) {
      // Nothing has been summed before the first of them, which stands for its own neighbour.
      Value from = backward ? emitter.add(number, emitter.constant(1))
                            : Value(arith::SubIOp::create(builder, loc, number, emitter.constant(1)));
      from = arith::MaxSIOp::create(builder, loc, from, emitter.constant(0));
      from = arith::MinSIOp::create(builder, loc, from,
                                    arith::SubIOp::create(builder, loc, count, emitter.constant(1)));
      kept = loadDecay(from, number, frame);
    }
    SmallVector<Value> next;
    for (auto [array, sum] : llvm::zip(memory, sums)) {
      SmallVector<Value> parts{sum, panels.load(array, at, start, size)};
      if (kept)
        parts.push_back(kept);
      next.push_back(emitter.map(parts, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
        if (s.size() < 3)
          return arith::AddFOp::create(inner, where, s[0], s[1]);
        Value sum = math::FmaOp::create(inner, where, s[0], s[2], s[1]);
        if (!op.getWithin())
          return sum;
        // Of another document's states nothing is left, were they no numbers.
        Value none = buildNumber(inner, where, s[2].getType(), 0.0);
        Value isOther = arith::CmpFOp::create(inner, where, arith::CmpFPredicate::OLT, s[2], none);
        return arith::SelectOp::create(inner, where, isOther, s[1], sum);
      }));
      emitter.store(next.back(), array, at);
    }
    return next;
  });
}

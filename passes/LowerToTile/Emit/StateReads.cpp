// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/StateReads.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

Value StateReads::beginRead(Value result, Value into, Value own, Frame &frame) {
  return into && !own ? emitter.emit(into, frame)
                      : emitter.splat(emitter.tileType(typeOf(result), frame), 0.0);
}

Value StateReads::endRead(Value sum, Value into, Value own, Frame &frame) {
  if (!own)
    return sum;
  SmallVector<Value> parts{sum, emitter.emit(own, frame)};
  if (into)
    parts.push_back(emitter.emit(into, frame));
  return emitter.map(parts, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
    Value read = buildOrZero(inner, where, buildIsNonzero(inner, where, s[1]), s[0]);
    return s.size() < 3 ? read : Value(arith::AddFOp::create(inner, where, s[2], read));
  });
}

void StateReads::emitRead(ReadStatesOp op, Frame &frame) {
  Value vectors = emitter.emit(op.getVectors(), frame);
  auto intoOf = [&](size_t number) { return op.getInto().empty() ? Value() : op.getInto()[number]; };
  SmallVector<Value> sums;
  for (auto [number, result] : llvm::enumerate(op.getResults()))
    sums.push_back(beginRead(result, intoOf(number), op.getOwn(), frame));
  Features features = op.getFeatures();
  SmallVector<double> weights = op.getWeightValues();
  int64_t size = panels.readPanelOf(features);
  auto addPanel = [&](const Frame &at, Value start, ValueRange carried) {
    Value panel = panels.expand(vectors, features, start, size, weights);
    SmallVector<Value> next;
    for (auto [state, sum] : llvm::zip(op.getStates(), carried)) {
      Value memory = emitter.memory.values.lookup(state);
      // Monomials of both signs cancel: a sum over thousands of them is smaller than what it passes through.
      // With each panel's share summed by itself, a fourth to a twelfth of the rounding error is left.
      Value share = panels.contract(panel, panels.load(memory, at, start, size), AxisRole::Feature);
      next.push_back(emitter.combine(Reduction::Sum, sum, share));
    }
    return next;
  };
  sums = StateChunks(emitter, op)
             .forStates(op.getToken(), frame, sums, [&](const Frame &at, ValueRange carried) {
               return emitter.loop(
                   emitter.constant(0), emitter.constant(*features.count()), size, carried,
                   [&](Value start, ValueRange carried) { return addPanel(at, start, carried); });
             });
  for (auto [number, result] : llvm::enumerate(op.getResults()))
    frame.tiles[result] = endRead(sums[number], intoOf(number), op.getOwn(), frame);
}

Value StateReads::emitContract(ContractStatesOp op, Frame &frame) {
  Location loc = emitter.loc;
  Value vectors = emitter.emit(op.getVectors(), frame);
  Value sum = beginRead(op.getResult(), op.getInto(), op.getOwn(), frame);
  SmallVector<Value> values;
  for (Value value : op.getValues())
    values.push_back(emitter.emit(value, frame));
  Features features = op.getFeatures();
  SmallVector<double> weights = op.getWeightValues();
  StringRef channel = channelOf(typeOf(op.getVectors()));
  int64_t size = emitter.sizes.stateFeatures;
  auto contracted = [&](const Frame &at, Value start, Value carried) -> Value {
    Value cotangent;
    for (auto [state, value] : llvm::zip(op.getStates(), values)) {
      Value panel = panels.load(emitter.memory.values.lookup(state), at, start, size);
      StringRef valueChannel = channelOf(typeOf(state));
      if (!valueChannel.empty()) {
        cotangent = tile::DotOp::create(builder, loc, panel, value, {valueChannel}, cotangent);
        continue;
      }
      SmallVector<Value> factors{panel, value};
      if (cotangent)
        factors.push_back(cotangent);
      cotangent = emitter.map(factors, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
        Value product = arith::MulFOp::create(inner, where, s[0], s[1]);
        return s.size() < 3 ? product : Value(arith::AddFOp::create(inner, where, s[2], product));
      });
    }
    return tile::ContractOp::create(
        builder, loc, vectors.getType(), cotangent, nameOf(AxisRole::Feature), panels.attributeOf(features),
        start, vectors, channel, weights.empty() ? ArrayAttr() : builder.getF64ArrayAttr(weights), carried);
  };
  auto addPanels = [&](const Frame &at, ValueRange carried) {
    return emitter.loop(emitter.constant(0), emitter.constant(*features.count()), size, carried,
                        [&](Value start, ValueRange carried) {
                          return SmallVector<Value>{contracted(at, start, carried.front())};
                        });
  };
  sum = StateChunks(emitter, op).forStates(op.getToken(), frame, sum, addPanels).front();
  return endRead(sum, op.getInto(), op.getOwn(), frame);
}

Value StateReads::emitEdge(EdgeOp op, Frame &frame) {
  ArrayType result = typeOf(op.getResult());
  tile::TileType type = emitter.tileType(result, frame);
  StateChunks chunks(emitter, op);
  return chunks
      .forSlots(result.has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key, frame,
                emitter.splat(type, 0.0),
                [&](const Frame &at, ValueRange) {
                  Value number = chunks.loadEdge(op.getArray(), at.indices.lookup(TileEmitter::kChunkAxis),
                                                 at, op.getQuery());
                  return SmallVector<Value>{broadcastTile(builder, emitter.loc, number, type)};
                })
      .front();
}

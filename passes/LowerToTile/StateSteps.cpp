// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The recurrent form: token after token, each panel of the states is read, added to, written and contracted
// with what the queries of its heads read, so that it passes through memory once.
#include "passes/LowerToTile/StateEmitter.h"

#include "dialect/Taylor/Axes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

StateEmitter::Summed StateEmitter::summedBy(StepStatesOp op) {
  return {op.getVectors(),
          op.getValues(),
          op.getFeatures(),
          {},
          "u",
          typeOf(op.getStates().front()).getScalarType()};
}

void StateEmitter::emitStep(StepStatesOp op, const Frame &frame, Value parts, Value token, ValueRange before,
                            ValueRange rows, ValueRange states) {
  Location loc = emitter.loc;
  int64_t size = emitter.sizes.stateFeatures, width = emitter.sizes.stepTokens;
  Features features = op.getFeatures();
  Value step = emitter.constant(size);
  Value first = arith::MulIOp::create(builder, loc, frame.indices.lookup("part"), step);
  Value stride = arith::MulIOp::create(builder, loc, parts, step);
  // The tokens behind it in the tile are none of its own, and their rows are written by their own steps.
  Value past =
      arith::MinSIOp::create(builder, loc, emitter.add(token, emitter.constant(1)), emitter.size("u"));
  auto forEachHead = [&](const Frame &at, function_ref<void(Frame &)> body) {
    auto ofHead = [&](const Frame &head, ValueRange) {
      Frame inside = head;
      body(inside);
      return SmallVector<Value>();
    };
    bool heads = !at.indices.contains("h") && typeOf(op.getReaders()).has("h");
    heads ? forHeads(at, {}, ofHead) : ofHead(at, {});
  };
  Frame queries = frame.at("t", token, width), keys = frame.at("u", token, width);
  forEachHead(queries, [&](Frame &head) {
    for (auto [row, memory] : llvm::zip(op.getRows(), rows))
      emitter.store(emitter.splat(emitter.tileType(typeOf(row), head), 0.0), memory, head);
    if (!head.indices.contains("h") || frame.indices.contains("h"))
      queries.tiles[op.getReaders()] = emitter.emit(op.getReaders(), head);
  });
  // Once per token, not once per panel.
  emitter.emit(op.getVectors(), keys);
  for (Value value : op.getValues())
    emitter.emit(value, keys);
  emitter.loop(first, emitter.constant(*features.count()), stride, {}, [&](Value start, ValueRange) {
    Frame tokens = keys, at = panelAt(frame, start);
    SmallVector<Value> sums =
        llvm::map_to_vector(before, [&](Value memory) { return loadPanel(memory, frame, start, size); });
    sums = addTokens(summedBy(op), tokens, past, start, size, sums);
    for (auto [sum, memory] : llvm::zip(sums, states))
      emitter.store(sum, memory, at);
    forEachHead(queries, [&](Frame &head) {
      Value vectors = emitter.emit(op.getReaders(), head);
      std::vector<std::pair<SmallVector<double>, Value>> panels;
      for (auto [r, row] : llvm::enumerate(op.getRows())) {
        SmallVector<double> weights = op.getWeightValues(r);
        auto panel = llvm::find_if(panels, [&](auto &known) { return known.first == weights; });
        if (panel == panels.end())
          panel = panels.insert(panel, {weights, expand(vectors, features, start, size, weights)});
        Value none = emitter.splat(emitter.tileType(typeOf(row), head), 0.0);
        emitter.accumulate(addProduct(none, panel->second, sums[op.getReads()[r]], "f"), rows[r], head);
      }
    });
    return SmallVector<Value>();
  });
}

void StateEmitter::emitSteps(StepStatesOp op, Frame &frame, Value parts, ValueRange rows, ValueRange states) {
  SmallVector<Value> initial =
      llvm::map_to_vector(op.getInitial(), [&](Value array) { return emitter.memory.values.lookup(array); });
  // Without tokens, the first step hands on what it begins from.
  emitStep(op, frame, parts, emitter.constant(0), initial, rows, states);
  emitter.loop(emitter.constant(1), emitter.size("t"), 1, {}, [&](Value token, ValueRange) {
    emitStep(op, frame, parts, token, states, rows, states);
    return SmallVector<Value>();
  });
}

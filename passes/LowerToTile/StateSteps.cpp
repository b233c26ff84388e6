// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The recurrent form: token after token, each panel of the states is read, added to, written and contracted
// with what the queries of its heads read, so that it passes through memory once.
#include "passes/LowerToTile/StateEmitter.h"

#include "dialect/Taylor/Axes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

StateEmitter::Summed StateEmitter::summedBy(StepStatesOp op) {
  return {op.getVectors(),
          op.getValues(),
          op.getFeatures(),
          {},
          op.getMass(),
          "u",
          typeOf(op.getStates().front()).getScalarType()};
}

/// sum + a b, element by element.
static Value multiplyAdd(TileEmitter &emitter, Value a, Value b, Value sum) {
  return emitter.map({a, b, sum}, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
    return math::FmaOp::create(inner, where, s[0], s[1], s[2]);
  });
}

SmallVector<Value> StateEmitter::addToken(const Summed &op, Frame &token, Value isThere, Value start,
                                          int64_t size, ValueRange sums) {
  Value panel = expand(emitter.emit(op.vectors, token), op.features, start, size, {});
  // Without tokens there is none to add.
  panel = emitter.map(panel, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
    Value zero = arith::ConstantOp::create(inner, where, inner.getFloatAttr(op.real, 0.0));
    return arith::SelectOp::create(inner, where, isThere, s[0], zero);
  });
  SmallVector<Value> next;
  for (auto [number, sum] : llvm::enumerate(sums))
    if (number < op.values.size())
      next.push_back(multiplyAdd(emitter, panel, emitter.emit(op.values[number], token), sum));
    else
      next.push_back(emitter.map({panel, sum}, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
        return arith::AddFOp::create(inner, where, s[0], s[1]);
      }));
  return next;
}

void StateEmitter::emitStep(StepStatesOp op, const Frame &frame, Value parts, Value token, ValueRange before,
                            ValueRange rows, ValueRange states) {
  Location loc = emitter.loc;
  int64_t size = emitter.sizes.stateFeatures, width = emitter.sizes.stepTokens;
  bool oneToken = width == 1;
  Features features = op.getFeatures();
  Value step = emitter.constant(size);
  Value first = arith::MulIOp::create(builder, loc, frame.indices.lookup("part"), step);
  Value stride = arith::MulIOp::create(builder, loc, parts, step);
  // The tokens behind it in the tile are none of its own, and their rows are written by their own steps.
  Value past =
      arith::MinSIOp::create(builder, loc, emitter.add(token, emitter.constant(1)), emitter.size("u"));
  Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, token, emitter.size("u"));
  bool heads = !frame.indices.contains("h") && typeOf(op.getReaders()).has("h");
  auto forEachHead = [&](const Frame &at, function_ref<void(Frame &)> body) {
    auto ofHead = [&](const Frame &head, ValueRange) {
      Frame inside = head;
      body(inside);
      return SmallVector<Value>();
    };
    heads ? forHeads(at, {}, ofHead) : ofHead(at, {});
  };
  Frame queries = frame.at("t", token, oneToken ? 0 : width),
        keys = frame.at("u", token, oneToken ? 0 : width);
  forEachHead(queries, [&](Frame &head) {
    for (auto [row, memory] : llvm::zip(op.getRows(), rows))
      emitter.store(emitter.splat(emitter.tileType(typeOf(row), head), 0.0), memory, head);
    if (!heads)
      queries.tiles[op.getReaders()] = emitter.emit(op.getReaders(), head);
  });
  // Once per token, not once per panel.
  emitter.emit(op.getVectors(), keys);
  for (Value value : op.getValues())
    emitter.emit(value, keys);
  SmallVector<Value> masked = oneToken ? SmallVector<Value>() : maskTokens(summedBy(op), keys, past);
  // Features of a head's query, for each read: those of equal weights once.
  auto expandQuery = [&](Frame &head, Value start) {
    Value vectors = emitter.emit(op.getReaders(), head);
    SmallVector<Value> expanded;
    for (size_t r = 0; r < op.getReads().size(); ++r) {
      size_t same = 0;
      while (op.getWeights()[same] != op.getWeights()[r])
        ++same;
      expanded.push_back(same < r ? expanded[same]
                                  : expand(vectors, features, start, size, op.getWeightValues(r)));
    }
    return expanded;
  };
  auto read = [&](Frame &head, ValueRange expanded, ValueRange panels) {
    for (auto [r, row] : llvm::enumerate(op.getRows())) {
      Value panel = panels[op.getReads()[r]], sum;
      if (oneToken) {
        Value product =
            emitter.map({expanded[r], panel}, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
              return arith::MulFOp::create(inner, where, s[0], s[1]);
            });
        sum = tile::ReduceOp::create(builder, loc, tile::ReductionKind::sum, product, {"f"});
      } else {
        Value none = emitter.splat(emitter.tileType(typeOf(row), head), 0.0);
        sum = addProduct(none, expanded[r], panel, "f");
      }
      emitter.accumulate(sum, rows[r], head);
    }
  };
  emitter.loop(first, emitter.constant(*features.count()), stride, {}, [&](Value start, ValueRange) {
    Frame tokens = keys, at = panelAt(frame, start), head = queries;
    Value ofFirst, count;
    SmallVector<Value> expanded;
    if (oneToken) {
      // The first head reads a panel in the registers where it is added to.
      if (heads) {
        std::tie(ofFirst, count) = headsOf(frame);
        head.tiles.clear();
        head.indices["h"] = ofFirst;
      }
      expanded = expandQuery(head, start);
    }
    SmallVector<Value> sums =
        llvm::map_to_vector(before, [&](Value memory) { return loadPanel(memory, frame, start, size); });
    sums = oneToken ? addToken(summedBy(op), tokens, isThere, start, size, sums)
                    : addTokens(summedBy(op), tokens, masked, start, size, sums);
    for (auto [sum, memory] : llvm::zip(sums, states))
      emitter.store(sum, memory, at);
    if (!oneToken) {
      forEachHead(queries, [&](Frame &each) { read(each, expandQuery(each, start), sums); });
      return SmallVector<Value>();
    }
    read(head, expanded, sums);
    if (!heads)
      return SmallVector<Value>();
    // The others read it where it was stored.
    emitter.loop(emitter.add(ofFirst, emitter.constant(1)), emitter.add(ofFirst, count), 1, {},
                 [&](Value index, ValueRange) {
                   Frame other = queries;
                   other.tiles.clear();
                   other.indices["h"] = index;
                   SmallVector<Value> panels = llvm::map_to_vector(
                       states, [&](Value memory) { return loadPanel(memory, frame, start, size); });
                   read(other, expandQuery(other, start), panels);
                   return SmallVector<Value>();
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The recurrent form: token after token, each panel of the states is read, added to, written and contracted
// with what the queries of its heads read, so that it passes through memory once.
#include "passes/LowerToTile/StateEmitter.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

StateEmitter::Summed StateEmitter::summedBy(StepStatesOp op) {
  return {op.getVectors(),
          op.getValues(),
          {},
          op.getFeatures(),
          {},
          op.getMass(),
          AxisRole::Key,
          typeOf(op.getStates().front()).getScalarType()};
}

/// sum + a b, element by element.
static Value multiplyAdd(TileEmitter &emitter, Value a, Value b, Value sum) {
  return emitter.map({a, b, sum}, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
    return math::FmaOp::create(inner, where, s[0], s[1], s[2]);
  });
}

SmallVector<Value> StateEmitter::maskToken(const Summed &op, Frame &token, Value isThere) {
  auto orZero = [&](OpBuilder &inner, Location where, Value x) {
    return buildOrZero(inner, where, isThere, x);
  };
  SmallVector<Value> masked;
  for (Value value : op.values)
    masked.push_back(
        emitter.map(emitter.emit(value, token), [&](OpBuilder &inner, Location where, ValueRange s) {
          return orZero(inner, where, s[0]);
        }));
  if (op.mass) {
    Value one = arith::ConstantOp::create(builder, emitter.loc, builder.getFloatAttr(op.real, 1.0));
    Value number = orZero(builder, emitter.loc, one);
    masked.push_back(tile::SplatOp::create(builder, emitter.loc,
                                           tile::TileType::get(builder.getContext(), {}, op.real), number));
  }
  return masked;
}

SmallVector<Value> StateEmitter::addToken(const Summed &op, Frame &token, ValueRange masked, Value start,
                                          int64_t size, ValueRange sums) {
  Value panel = expand(emitter.emit(op.vectors, token), op.features, start, size, {});
  SmallVector<Value> next;
  for (auto [sum, value] : llvm::zip(sums, masked))
    next.push_back(multiplyAdd(emitter, panel, value, sum));
  return next;
}

Value StateEmitter::loadKept(StepStatesOp op, Value token, Value isThere, const Frame &frame) {
  auto number = tile::TileType::get(builder.getContext(), {}, typeOf(op.getKeep()).getScalarType());
  Value kept = emitter.load(emitter.memory.values.lookup(op.getKeep()), number,
                            frame.at(AxisRole::Key, token, /*size=*/1));
  // Without tokens, all of it.
  return emitter.map(kept, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
    Value one = arith::ConstantOp::create(inner, where, inner.getFloatAttr(s[0].getType(), 1.0));
    return arith::SelectOp::create(inner, where, isThere, s[0], one);
  });
}

/// One token of the recurrence.
struct StateEmitter::Step {
  StepStatesOp op;
  const Frame &frame; // of the group, or head, and the part of its panels
  Value token;
  ValueRange before;       // memory of the states that it adds to
  ValueRange rows, states; // memory of what is read, and of the states with it
  Frame queries, keys;     // at the token
  Value isThere;           // whether there is such a token
  Value kept;              // what is left of the states before it; null: all
  bool heads;              // whether the heads of a group read the same states
};

void StateEmitter::forReaders(Step &step, function_ref<void(Frame &)> body) {
  auto ofHead = [&](const Frame &head, ValueRange) {
    Frame inside = head;
    body(inside);
    return SmallVector<Value>();
  };
  if (step.heads)
    forHeads(step.queries, {}, ofHead);
  else
    ofHead(step.queries, {});
}

SmallVector<Value> StateEmitter::expandReader(StepStatesOp op, Frame &head, Value start) {
  Value vectors = emitter.emit(op.getReaders(), head);
  SmallVector<Value> expanded;
  for (size_t r = 0; r < op.getReads().size(); ++r) {
    size_t same = 0;
    while (op.getWeights()[same] != op.getWeights()[r])
      ++same;
    expanded.push_back(same < r ? expanded[same]
                                : expand(vectors, op.getFeatures(), start, emitter.sizes.stateFeatures,
                                         op.getWeightValues(r)));
  }
  return expanded;
}

SmallVector<Value> StateEmitter::loadPanels(ValueRange memory, const Frame &frame, Value start) {
  return llvm::map_to_vector(
      memory, [&](Value states) { return loadPanel(states, frame, start, emitter.sizes.stateFeatures); });
}

/// What is left of a panel of the states before the step.
SmallVector<Value> StateEmitter::loadBefore(Step &step, Value start) {
  SmallVector<Value> panels = loadPanels(step.before, step.frame, start);
  if (step.kept)
    for (Value &panel : panels) {
      Value product = multiply(step.kept, panel);
      panel = !step.op.getDocuments()
                  ? product
                  : emitter.map(
                        {step.kept, product}, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
                          Value zero = buildNumber(inner, where, s[0].getType(), 0.0);
                          Value isOwn =
                              arith::CmpFOp::create(inner, where, arith::CmpFPredicate::UNE, s[0], zero);
                          return buildOrZero(inner, where, isOwn, s[1]);
                        });
    }
  return panels;
}

void StateEmitter::readToken(Step &step, Frame &head, ValueRange expanded, ValueRange panels) {
  for (auto [read, row, features] : llvm::zip(step.op.getReads(), step.rows, expanded)) {
    Value products = multiply(features, panels[read]);
    Value sum =
        tile::ReduceOp::create(builder, emitter.loc, tile::ReductionKind::sum, products, {AxisRole::Feature});
    emitter.accumulate(sum, row, head);
  }
}

/// Of a panel, for one token: the first head reads it in the registers where it is added to, the others where
/// it was stored.
void StateEmitter::stepPanel(Step &step, ArrayRef<Value> masked, Value start) {
  Frame keys = step.keys, head = step.queries;
  Value first, count;
  if (step.heads) {
    std::tie(first, count) = headsOf(step.frame);
    head.tiles.clear();
    head.indices[AxisRole::Head] = first;
  }
  SmallVector<Value> expanded = expandReader(step.op, head, start);
  SmallVector<Value> sums = loadBefore(step, start);
  sums = addToken(summedBy(step.op), keys, masked, start, emitter.sizes.stateFeatures, sums);
  for (auto [sum, memory] : llvm::zip(sums, step.states))
    emitter.store(sum, memory, panelAt(step.frame, start));
  readToken(step, head, expanded, sums);
  if (!step.heads)
    return;
  Value one = emitter.constant(1);
  Value others = arith::CmpIOp::create(builder, emitter.loc, arith::CmpIPredicate::sgt, count, one);
  auto branch = scf::IfOp::create(builder, emitter.loc, others, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> panels = loadPanels(step.states, step.frame, start);
  emitter.loop(emitter.add(first, one), emitter.add(first, count), 1, {}, [&](Value index, ValueRange) {
    Frame other = step.queries;
    other.tiles.clear();
    other.indices[AxisRole::Head] = index;
    readToken(step, other, expandReader(step.op, other, start), panels);
    return SmallVector<Value>();
  });
}

/// Of a panel, for a tile of tokens of which the first counts.
void StateEmitter::stepPanelOfTile(Step &step, ArrayRef<Value> masked, Value start) {
  Frame keys = step.keys;
  SmallVector<Value> sums = loadBefore(step, start);
  sums = addTokens(summedBy(step.op), keys, masked, start, emitter.sizes.stateFeatures, sums);
  for (auto [sum, memory] : llvm::zip(sums, step.states))
    emitter.store(sum, memory, panelAt(step.frame, start));
  forReaders(step, [&](Frame &head) {
    SmallVector<Value> expanded = expandReader(step.op, head, start);
    for (size_t r = 0; r < step.rows.size(); ++r)
      emitter.accumulate(contract(expanded[r], sums[step.op.getReads()[r]], AxisRole::Feature), step.rows[r],
                         head);
  });
}

void StateEmitter::emitStep(StepStatesOp op, const Frame &frame, Value parts, Value token, ValueRange before,
                            ValueRange rows, ValueRange states) {
  Location loc = emitter.loc;
  bool oneToken = emitter.sizes.stepTokens == 1;
  int64_t width = oneToken ? 0 : emitter.sizes.stepTokens;
  Value isThere =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, token, emitter.size(AxisRole::Key));
  Step step{op,
            frame,
            token,
            before,
            rows,
            states,
            frame.at(AxisRole::Query, token, width),
            frame.at(AxisRole::Key, token, width),
            isThere,
            Value(),
            !frame.indices.contains(AxisRole::Head) && typeOf(op.getReaders()).has(AxisRole::Head)};
  forReaders(step, [&](Frame &head) {
    for (auto [row, memory] : llvm::zip(op.getRows(), rows))
      emitter.store(emitter.splat(emitter.tileType(typeOf(row), head), 0.0), memory, head);
    if (!step.heads)
      step.queries.tiles[op.getReaders()] = emitter.emit(op.getReaders(), head);
  });
  Value past = arith::MinSIOp::create(builder, loc, emitter.add(token, emitter.constant(1)),
                                      emitter.size(AxisRole::Key));
  if (!oneToken)
    step.keys.uEnd = past;
  // Once per token, not once per panel.
  emitter.emit(op.getVectors(), step.keys);
  SmallVector<Value> masked;
  if (oneToken) {
    masked = maskToken(summedBy(op), step.keys, isThere);
  } else {
    // The tokens behind it in the tile are none of its own, and their rows are written by their own steps.
    masked = maskTokens(summedBy(op), step.keys, past);
  }
  if (op.getKeep())
    step.kept = loadKept(op, token, isThere, frame);
  Value panel = emitter.constant(emitter.sizes.stateFeatures);
  Value first = arith::MulIOp::create(builder, loc, frame.indices.lookup(TileEmitter::kPartAxis), panel);
  Value stride = arith::MulIOp::create(builder, loc, parts, panel);
  emitter.loop(first, emitter.constant(*op.getFeatures().count()), stride, {}, [&](Value start, ValueRange) {
    oneToken ? stepPanel(step, masked, start) : stepPanelOfTile(step, masked, start);
    return SmallVector<Value>();
  });
}

void StateEmitter::emitSteps(StepStatesOp op, Frame &frame, Value parts, ValueRange rows, ValueRange states) {
  SmallVector<Value> initial =
      llvm::map_to_vector(op.getInitial(), [&](Value array) { return emitter.memory.values.lookup(array); });
  // Without tokens, the first step hands on what it begins from.
  emitStep(op, frame, parts, emitter.constant(0), initial, rows, states);
  emitter.loop(emitter.constant(1), emitter.size(AxisRole::Query), 1, {}, [&](Value token, ValueRange) {
    emitStep(op, frame, parts, token, states, rows, states);
    return SmallVector<Value>();
  });
}

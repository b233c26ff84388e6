// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/StateSteps.h"

#include "dialect/Taylor/ArrayBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

Value StateSteps::loadKept(Value token, Value isThere, const Frame &frame) {
  auto number = tile::TileType::get(builder.getContext(), {}, typeOf(op.getKeep()).getScalarType());
  Value kept = emitter.load(emitter.memory.values.lookup(op.getKeep()), number,
                            frame.at(AxisRole::Key, token, /*size=*/1));
  // Without tokens, all of it.
  return emitter.map(kept, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
    Value one = arith::ConstantOp::create(inner, where, inner.getFloatAttr(s[0].getType(), 1.0));
    return arith::SelectOp::create(inner, where, isThere, s[0], one);
  });
}

void StateSteps::forReaders(Step &step, function_ref<void(Frame &)> body) {
  auto ofHead = [&](const Frame &head, ValueRange) {
    Frame inside = head;
    body(inside);
    return SmallVector<Value>();
  };
  if (step.heads)
    emitter.forHeads(step.queries, {}, ofHead);
  else
    ofHead(step.queries, {});
}

SmallVector<Value> StateSteps::expandReader(Frame &head, Value start) {
  Value vectors = emitter.emit(op.getReaders(), head);
  SmallVector<Value> expanded;
  for (size_t r = 0; r < op.getReads().size(); ++r) {
    size_t same = 0;
    while (op.getWeights()[same] != op.getWeights()[r])
      ++same;
    expanded.push_back(same < r ? expanded[same]
                                : panels.expand(vectors, op.getFeatures(), start, emitter.sizes.stateFeatures,
                                                op.getWeightValues(r)));
  }
  return expanded;
}

SmallVector<Value> StateSteps::loadPanels(ValueRange memory, const Frame &frame, Value start) {
  return llvm::map_to_vector(
      memory, [&](Value states) { return panels.load(states, frame, start, emitter.sizes.stateFeatures); });
}

SmallVector<Value> StateSteps::loadBefore(Step &step, Value start) {
  SmallVector<Value> loaded = loadPanels(step.before, step.frame, start);
  if (step.kept)
    for (Value &panel : loaded) {
      Value product = panels.multiply(step.kept, panel);
      panel = !op.getDocuments() ? product
                                 : emitter.map({step.kept, product},
                                               [](OpBuilder &inner, Location where, ValueRange s) -> Value {
                                                 Value zero = buildNumber(inner, where, s[0].getType(), 0.0);
                                                 Value isOwn = arith::CmpFOp::create(
                                                     inner, where, arith::CmpFPredicate::UGE, s[0], zero);
                                                 return buildOrZero(inner, where, isOwn, s[1]);
                                               });
    }
  return loaded;
}

void StateSteps::readToken(Frame &head, ValueRange expanded, ValueRange loaded) {
  for (auto [read, row, features] : llvm::zip(op.getReads(), rows, expanded)) {
    Value products = panels.multiply(features, loaded[read]);
    Value sum =
        tile::ReduceOp::create(builder, emitter.loc, tile::ReductionKind::sum, products, {AxisRole::Feature});
    emitter.accumulate(sum, row, head);
  }
}

void StateSteps::stepPanel(Step &step, ArrayRef<Value> masked, Value start) {
  Frame keys = step.keys, head = step.queries;
  Value first, count;
  if (step.heads) {
    std::tie(first, count) = emitter.headsOf(step.frame);
    head.tiles.clear();
    head.indices[AxisRole::Head] = first;
  }
  SmallVector<Value> expanded = expandReader(head, start);
  SmallVector<Value> sums = loadBefore(step, start);
  sums = summed.addOne(keys, masked, start, emitter.sizes.stateFeatures, sums);
  for (auto [sum, memory] : llvm::zip(sums, states))
    emitter.store(sum, memory, panels.at(step.frame, start));
  readToken(head, expanded, sums);
  if (!step.heads)
    return;
  Value one = emitter.constant(1);
  Value others = arith::CmpIOp::create(builder, emitter.loc, arith::CmpIPredicate::sgt, count, one);
  auto branch = scf::IfOp::create(builder, emitter.loc, others, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> stored = loadPanels(states, step.frame, start);
  emitter.loop(emitter.add(first, one), emitter.add(first, count), 1, {}, [&](Value index, ValueRange) {
    Frame other = step.queries;
    other.tiles.clear();
    other.indices[AxisRole::Head] = index;
    readToken(other, expandReader(other, start), stored);
    return SmallVector<Value>();
  });
}

void StateSteps::stepPanelOfTile(Step &step, ArrayRef<Value> masked, Value start) {
  Frame keys = step.keys;
  SmallVector<Value> sums = loadBefore(step, start);
  sums = summed.add(keys, masked, start, emitter.sizes.stateFeatures, sums);
  for (auto [sum, memory] : llvm::zip(sums, states))
    emitter.store(sum, memory, panels.at(step.frame, start));
  forReaders(step, [&](Frame &head) {
    SmallVector<Value> expanded = expandReader(head, start);
    for (size_t r = 0; r < rows.size(); ++r)
      emitter.accumulate(panels.contract(expanded[r], sums[op.getReads()[r]], AxisRole::Feature), rows[r],
                         head);
  });
}

void StateSteps::emitStep(const Frame &frame, Value parts, Value token, ValueRange before) {
  Location loc = emitter.loc;
  bool oneToken = emitter.sizes.stepTokens == 1;
  int64_t width = oneToken ? 0 : emitter.sizes.stepTokens;
  Value isThere =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, token, emitter.size(AxisRole::Key));
  Step step{frame,
            before,
            frame.at(AxisRole::Query, token, width),
            frame.at(AxisRole::Key, token, width),
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
    masked = summed.maskOne(step.keys, isThere);
  } else {
    // The tokens after it in the tile are not its own, and their rows are written by their own steps.
    masked = summed.mask(step.keys, past);
  }
  if (op.getKeep())
    step.kept = loadKept(token, isThere, frame);
  Value panel = emitter.constant(emitter.sizes.stateFeatures);
  Value first = arith::MulIOp::create(builder, loc, frame.indices.lookup(TileEmitter::kPartAxis), panel);
  Value stride = arith::MulIOp::create(builder, loc, parts, panel);
  emitter.loop(first, emitter.constant(*op.getFeatures().count()), stride, {}, [&](Value start, ValueRange) {
    oneToken ? stepPanel(step, masked, start) : stepPanelOfTile(step, masked, start);
    return SmallVector<Value>();
  });
}

void StateSteps::emit(Frame &frame, Value parts) {
  SmallVector<Value> initial =
      llvm::map_to_vector(op.getInitial(), [&](Value array) { return emitter.memory.values.lookup(array); });
  // Without tokens, the first step hands on what it begins from.
  emitStep(frame, parts, emitter.constant(0), initial);
  emitter.loop(emitter.constant(1), emitter.size(AxisRole::Query), 1, {}, [&](Value token, ValueRange) {
    emitStep(frame, parts, token, states);
    return SmallVector<Value>();
  });
}

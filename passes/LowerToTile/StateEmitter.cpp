// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/StateEmitter.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

tile::ArrayType StateEmitter::memoryType(StatesOp op, ArrayType state) {
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

int64_t StateEmitter::panelsOf(StatesOp op, int64_t size) {
  return llvm::divideCeil(uint64_t(*op.getFeatures().count()), uint64_t(size));
}

tile::FeaturesAttr StateEmitter::attributeOf(const Features &features) {
  return tile::FeaturesAttr::get(builder.getContext(), features.channels, features.first, features.last,
                                 features.block);
}

Value StateEmitter::expand(Value vectors, const Features &features, Value start, int64_t size,
                           ArrayRef<double> weights) {
  auto type = cast<tile::TileType>(vectors.getType());
  SmallVector<tile::Axis> axes;
  StringRef channel;
  for (const tile::Axis &axis : type.getAxes())
    if (axis.getName() == AxisRole::Query || axis.getName() == AxisRole::Key)
      axes.push_back(axis);
    else
      channel = axis.getName();
  axes.push_back(tile::Axis::get(builder.getContext(), AxisRole::Feature, size));
  return tile::ExpandOp::create(builder, emitter.loc,
                                tile::TileType::get(builder.getContext(), axes, type.getElementType()),
                                vectors, channel, attributeOf(features), start, nameOf(AxisRole::Feature),
                                weights.empty() ? ArrayAttr() : builder.getF64ArrayAttr(weights));
}

Frame StateEmitter::panelAt(const Frame &frame, Value start) {
  Frame inside = frame;
  inside.indices[AxisRole::Feature] = start;
  return inside;
}

tile::TileType StateEmitter::panelType(Value memory, int64_t size) {
  auto array = cast<tile::ArrayType>(memory.getType());
  SmallVector<tile::Axis> axes;
  for (const tile::Axis &axis : array.getAxes())
    if (axis.getName() == AxisRole::Feature)
      axes.push_back(tile::Axis::get(builder.getContext(), AxisRole::Feature, size));
    else if (!tile::isRole(axis.getName()) && axis.getName() != TileEmitter::kChunkAxis)
      axes.push_back(axis);
  return tile::TileType::get(builder.getContext(), axes, array.getElementType());
}

Value StateEmitter::loadPanel(Value memory, const Frame &frame, Value start, int64_t size) {
  return emitter.load(memory, panelType(memory, size), panelAt(frame, start));
}

SmallVector<Value> StateEmitter::zeros(ValueRange memory, int64_t size) {
  return llvm::map_to_vector(memory, [&](Value array) { return emitter.splat(panelType(array, size), 0.0); });
}

Value StateEmitter::contract(Value panel, Value other, AxisRef over, Value sum) {
  if (cast<tile::TileType>(other.getType()).getAxes().size() > 1)
    return tile::DotOp::create(builder, emitter.loc, panel, other, {over}, sum);
  Value reduced =
      tile::ReduceOp::create(builder, emitter.loc, tile::ReductionKind::sum, multiply(panel, other), {over});
  return sum ? emitter.combine(Reduction::Sum, sum, reduced) : reduced;
}

Value StateEmitter::multiply(Value a, Value b) {
  return emitter.map({a, b}, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
    return arith::MulFOp::create(inner, where, s[0], s[1]);
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

std::pair<Value, Value> StateEmitter::tokensOf(StatesOp op, const Frame &frame) {
  Location loc = emitter.loc;
  StringRef token = op.getToken();
  Value begin = emitter.constant(0), end = emitter.size(token);
  if (!op.getChunk())
    return {begin, end};
  Value number = frame.indices.lookup(TileEmitter::kChunkAxis);
  if (token == AxisRole::Query) {
    Value chunk = emitter.constant(op.getChunk());
    Value edge = arith::MulIOp::create(builder, loc, number, chunk);
    return {edge, arith::MinSIOp::create(builder, loc, emitter.add(edge, chunk), end)};
  }
  auto [first, past] = keysOf(Chunks::of(op), number);
  return {arith::MaxSIOp::create(builder, loc, first, begin),
          arith::MinSIOp::create(builder, loc, past, end)};
}

Value StateEmitter::countChunks(int64_t size) {
  return arith::CeilDivSIOp::create(builder, emitter.loc, emitter.size(AxisRole::Query),
                                    emitter.constant(size));
}

std::pair<Value, Value> StateEmitter::keysOf(Chunks chunks, Value slot) {
  Location loc = emitter.loc;
  Value size = emitter.constant(chunks.size);
  Value edge = emitter.add(emitter.size(tile::kOffset), arith::MulIOp::create(builder, loc, slot, size));
  auto isSlot = [&](Value other) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, slot, other);
  };
  if (!chunks.opposite) {
    // Keys of the chunk before; the first slot has all keys before query 0.
    Value first = arith::SubIOp::create(builder, loc, edge, size);
    first = arith::SelectOp::create(builder, loc, isSlot(emitter.constant(0)), emitter.constant(0), first);
    return {first, edge};
  }
  // Keys of the chunk behind; the last slot has all keys behind the last query.
  Value first = emitter.add(edge, size);
  Value last = arith::SubIOp::create(builder, loc, countChunks(chunks.size), emitter.constant(1));
  Value past = arith::SelectOp::create(builder, loc, isSlot(last), emitter.size(AxisRole::Key),
                                       emitter.add(first, size));
  return {first, past};
}

StateEmitter::Summed StateEmitter::summedBy(StatesOp op) {
  return {op.getVectors(),      op.getValues(), op.getOwn(),   op.getFeatures(),
          op.getWeightValues(), op.getMass(),   op.getToken(), typeOf(op.getResult(0)).getScalarType()};
}

/// Whether a tile is a window of which what lies at `end` of an axis or after it is 0.
static bool endsAt(Value tile, AxisRef axis, Value end) {
  auto load = tile.getDefiningOp<tile::LoadOp>();
  return load && load.getEnd() == end && load.getEndAxis() == axis;
}

SmallVector<Value> StateEmitter::maskTokens(const Summed &op, Frame &tokens, Value end) {
  // Tokens of the next chunk, or past the last, count as nothing.
  SmallVector<Value> conditions{positionsOf(op.token, tokens)};
  if (op.own)
    conditions.push_back(emitter.emit(op.own, tokens));
  auto within = [&](OpBuilder &inner, Location where, ValueRange s, Value value) -> Value {
    Value is = arith::CmpIOp::create(inner, where, arith::CmpIPredicate::slt, s[0], end);
    if (op.own)
      is = arith::AndIOp::create(inner, where, is, buildIsNonzero(inner, where, s[1]));
    return buildOrZero(inner, where, is, value);
  };
  SmallVector<Value> masked;
  for (Value value : op.values) {
    Value tile = emitter.emit(value, tokens);
    if (!op.own && endsAt(tile, op.token, end)) {
      masked.push_back(tile);
      continue;
    }
    SmallVector<Value> parts(conditions);
    parts.push_back(tile);
    masked.push_back(emitter.map(parts, [&](OpBuilder &inner, Location where, ValueRange s) {
      return within(inner, where, s, s.back());
    }));
  }
  if (op.mass)
    masked.push_back(emitter.map(conditions, [&](OpBuilder &inner, Location where, ValueRange s) {
      Value one = arith::ConstantOp::create(inner, where, inner.getFloatAttr(op.real, 1.0));
      return within(inner, where, s, one);
    }));
  return masked;
}

void StateEmitter::clearVectors(const Summed &op, Frame &tokens) {
  if (!op.own)
    return;
  tokens.tiles[op.vectors] =
      emitter.map({emitter.emit(op.vectors, tokens), emitter.emit(op.own, tokens)},
                  [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
                    return buildOrZero(inner, where, buildIsNonzero(inner, where, s[1]), s[0]);
                  });
}

SmallVector<Value> StateEmitter::addTokens(const Summed &op, Frame &tokens, ValueRange masked, Value start,
                                           int64_t size, ValueRange sums) {
  Value panel = expand(emitter.emit(op.vectors, tokens), op.features, start, size, op.weights);
  SmallVector<Value> next;
  for (auto [sum, value] : llvm::zip(sums, masked))
    next.push_back(contract(panel, value, op.token, sum));
  return next;
}

std::pair<Value, Value> StateEmitter::headsOf(const Frame &frame) {
  Value group = emitter.indexOf(AxisRole::KeyHead, frame);
  if (!group)
    return {emitter.constant(0), emitter.size(AxisRole::Head)};
  Value count = emitter.headsPerGroup();
  return {arith::MulIOp::create(builder, emitter.loc, group, count), count};
}

SmallVector<Value> StateEmitter::forHeads(const Frame &frame, ValueRange carried,
                                          function_ref<SmallVector<Value>(const Frame &, ValueRange)> body) {
  auto [first, count] = headsOf(frame);
  return emitter.loop(first, emitter.add(first, count), 1, carried, [&](Value head, ValueRange carried) {
    Frame inside = frame;
    inside.tiles.clear();
    inside.indices[AxisRole::Head] = head;
    return body(inside, carried);
  });
}

void StateEmitter::emitSums(StatesOp op, Frame &frame, ValueRange memory) {
  Location loc = emitter.loc;
  int64_t size = emitter.sizes.stateFeatures, step = emitter.sizes.tokens;
  StringRef token = op.getToken();
  auto [begin, end] = tokensOf(op, frame);
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
    return heads ? forHeads(frame, carried, ofHead) : ofHead(frame, carried);
  };
  // What sums of a panel begin from.
  auto beginAt = [&](const Frame &frame, Value start) {
    if (op.getInitial().empty())
      return zeros(memory, size);
    return llvm::map_to_vector(op.getInitial(), [&](Value array) {
      return loadPanel(emitter.memory.values.lookup(array), frame, start, size);
    });
  };
  if (emitter.sizes.featuresOnGrid) {
    Value start = arith::MulIOp::create(builder, loc, frame.indices.lookup(TileEmitter::kPanelAxis),
                                        emitter.constant(size));
    SmallVector<Value> sums = forTokens(beginAt(frame, start), [&](Frame &tokens, ValueRange carried) {
      SmallVector<Value> masked = maskTokens(summedBy(op), tokens, past);
      clearVectors(summedBy(op), tokens);
      return addTokens(summedBy(op), tokens, masked, start, size, carried);
    });
    Frame at = panelAt(frame, start);
    for (auto [array, sum] : llvm::zip(memory, sums))
      emitter.store(sum, array, at);
    return;
  }
  Value count = emitter.constant(*op.getFeatures().count());
  emitter.loop(emitter.constant(0), count, size, {}, [&](Value start, ValueRange) {
    Frame at = panelAt(frame, start);
    for (auto [array, sum] : llvm::zip(memory, beginAt(frame, start)))
      emitter.store(sum, array, at);
    return SmallVector<Value>();
  });
  forTokens({}, [&](Frame &tokens, ValueRange) {
    // Once per tile of tokens, not once per panel.
    emitter.emit(op.getVectors(), tokens);
    SmallVector<Value> masked = maskTokens(summedBy(op), tokens, past);
    clearVectors(summedBy(op), tokens);
    emitter.loop(emitter.constant(0), count, size, {}, [&](Value start, ValueRange) {
      Frame inside = tokens;
      SmallVector<Value> added = addTokens(summedBy(op), inside, masked, start, size, zeros(memory, size));
      Frame at = panelAt(inside, start);
      for (auto [array, sum] : llvm::zip(memory, added))
        emitter.accumulate(sum, array, at);
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
}

void StateEmitter::emitPass(StatesOp op, Frame &frame, ValueRange memory) {
  Location loc = emitter.loc;
  int64_t size = emitter.sizes.getPassFeatures();
  Value start = arith::MulIOp::create(builder, loc, frame.indices.lookup(TileEmitter::kPanelAxis),
                                      emitter.constant(size));
  Value chunks = countChunks(op.getChunk());
  bool backward = (op.getToken() == AxisRole::Query) != op.getOpposite();
  emitter.loop(emitter.constant(0), chunks, 1, zeros(memory, size), [&](Value number, ValueRange sums) {
    if (backward) {
      Value last = arith::SubIOp::create(builder, loc, chunks, emitter.constant(1));
      number = arith::SubIOp::create(builder, loc, last, number);
    }
    Frame at = panelAt(frame, start);
    at.indices[TileEmitter::kChunkAxis] = number;
    Value kept;
    if (op.getDecay() || op.getWithin()) {
      // Nothing has been summed before the first of them, which stands for its own neighbour.
      Value from = backward ? emitter.add(number, emitter.constant(1))
                            : Value(arith::SubIOp::create(builder, loc, number, emitter.constant(1)));
      from = arith::MaxSIOp::create(builder, loc, from, emitter.constant(0));
      from = arith::MinSIOp::create(builder, loc, from,
                                    arith::SubIOp::create(builder, loc, chunks, emitter.constant(1)));
      kept = loadDecay(op, from, number, frame);
    }
    SmallVector<Value> next;
    for (auto [array, sum] : llvm::zip(memory, sums)) {
      SmallVector<Value> parts{sum, loadPanel(array, at, start, size)};
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
        Value isOther = arith::CmpFOp::create(inner, where, arith::CmpFPredicate::OEQ, s[2], none);
        return arith::SelectOp::create(inner, where, isOther, s[1], sum);
      }));
      emitter.store(next.back(), array, at);
    }
    return next;
  });
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

Value StateEmitter::loadEdge(Value array, Chunks chunks, Value slot, const Frame &frame) {
  Location loc = emitter.loc;
  if (chunks.opposite)
    slot = emitter.add(slot, emitter.constant(1));
  Value index = arith::MulIOp::create(builder, loc, slot, emitter.constant(chunks.size));
  index = emitter.add(emitter.add(emitter.size(tile::kOffset), index), emitter.constant(-1));
  Value last = arith::SubIOp::create(builder, loc, emitter.size(AxisRole::Key), emitter.constant(1));
  index = arith::MinSIOp::create(builder, loc, index, last);
  Frame at = frame;
  at.uStart = arith::MaxSIOp::create(builder, loc, index, emitter.constant(0));
  at.uSize = 1;
  auto number = tile::TileType::get(builder.getContext(), {}, typeOf(array).getScalarType());
  return emitter.load(emitter.memory.values.lookup(array), number, at);
}

Value StateEmitter::loadDecay(StatesOp op, Value from, Value to, const Frame &frame) {
  if (op.getToken() == AxisRole::Query)
    std::swap(from, to); // queries behind both edges
  SmallVector<Value> numbers;
  for (Value array : {op.getDecay(), op.getWithin()})
    if (array)
      for (Value slot : {to, from})
        numbers.push_back(loadEdge(array, Chunks::of(op), slot, frame));
  return emitter.map(numbers, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
    Value kept = buildNumber(inner, where, s[0].getType(), 1.0);
    if (op.getDecay())
      kept =
          math::ExpOp::create(inner, where, arith::SubFOp::create(inner, where, s[0], s[1]), tile::kRelaxed);
    if (!op.getWithin())
      return kept;
    ValueRange documents = s.take_back(2);
    Value same = arith::CmpFOp::create(inner, where, arith::CmpFPredicate::OEQ, documents[0], documents[1]);
    return buildOrZero(inner, where, same, kept);
  });
}

Value StateEmitter::emitEdge(EdgeOp op, Frame &frame) {
  ArrayType result = typeOf(op.getResult());
  tile::TileType type = emitter.tileType(result, frame);
  Chunks chunks = Chunks::of(op);
  return forSlots(result.has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key, chunks, frame,
                  emitter.splat(type, 0.0),
                  [&](const Frame &at, ValueRange) {
                    Value number =
                        loadEdge(op.getArray(), chunks, at.indices.lookup(TileEmitter::kChunkAxis), at);
                    return SmallVector<Value>{broadcastTile(builder, emitter.loc, number, type)};
                  })
      .front();
}

//===----------------------------------------------------------------------===//
// Readers
//===----------------------------------------------------------------------===//

Value StateEmitter::slotOf(AxisRef token, Chunks chunks, Value index) {
  Location loc = emitter.loc;
  Value size = emitter.constant(chunks.size);
  if (token == AxisRole::Query)
    return arith::FloorDivSIOp::create(builder, loc, index, size);
  Value place = arith::SubIOp::create(builder, loc, index, emitter.size(tile::kOffset));
  Value number = arith::FloorDivSIOp::create(builder, loc, place, size);
  if (chunks.opposite)
    return arith::SubIOp::create(builder, loc,
                                 arith::MinSIOp::create(builder, loc, number, countChunks(chunks.size)),
                                 emitter.constant(1));
  return arith::MaxSIOp::create(builder, loc, emitter.add(number, emitter.constant(1)), emitter.constant(0));
}

Value StateEmitter::positionsOf(AxisRef token, const Frame &frame) {
  auto type = tile::TileType::get(builder.getContext(),
                                  {tile::Axis::get(builder.getContext(), token, frame.size(token))},
                                  builder.getIndexType());
  return tile::PositionOp::create(builder, emitter.loc, type, frame.start(token));
}

SmallVector<Value> StateEmitter::forSlots(AxisRef token, Chunks chunks, const Frame &frame,
                                          ValueRange carried,
                                          function_ref<SmallVector<Value>(const Frame &, ValueRange)> body) {
  Location loc = emitter.loc;
  Frame at = frame;
  if (!chunks.size)
    return body(at, carried);
  Value first = slotOf(token, chunks, frame.start(token));
  if (token == AxisRole::Query) {
    at.indices[TileEmitter::kChunkAxis] = first;
    return body(at, carried);
  }
  Value past = arith::MinSIOp::create(builder, loc, emitter.add(frame.uStart, emitter.constant(frame.uSize)),
                                      emitter.size(AxisRole::Key));
  Value last = slotOf(token, chunks, arith::SubIOp::create(builder, loc, past, emitter.constant(1)));
  if (chunks.opposite)
    first = arith::MaxSIOp::create(builder, loc, first, emitter.constant(0));
  return emitter.loop(
      first, emitter.add(last, emitter.constant(1)), 1, carried, [&](Value slot, ValueRange carried) {
        Frame inside = at;
        inside.indices[TileEmitter::kChunkAxis] = slot;
        SmallVector<Value> made = body(inside, carried);
        auto keys = keysOf(chunks, slot); // others keep what they have
        Value positions = positionsOf(token, frame);
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

/// As few panels as the sizes allow, all of about as many features: what the last one lacks is computed for
/// nothing. Targets that multiply blocks of features want whole panels.
int64_t StateEmitter::readPanelOf(const Features &features) {
  int64_t most = emitter.sizes.readFeatures, count = *features.count();
  if (emitter.sizes.featureBlock > 1)
    return most;
  int64_t panels = llvm::divideCeil(count, most);
  return std::min<int64_t>(most, llvm::alignTo(llvm::divideCeil(count, panels), 8));
}

Value StateEmitter::beginRead(Value result, Value into, Value own, Frame &frame) {
  return into && !own ? emitter.emit(into, frame)
                      : emitter.splat(emitter.tileType(typeOf(result), frame), 0.0);
}

Value StateEmitter::endRead(Value sum, Value into, Value own, Frame &frame) {
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

void StateEmitter::emitRead(ReadStatesOp op, Frame &frame) {
  Value vectors = emitter.emit(op.getVectors(), frame);
  auto intoOf = [&](size_t number) { return op.getInto().empty() ? Value() : op.getInto()[number]; };
  SmallVector<Value> sums;
  for (auto [number, result] : llvm::enumerate(op.getResults()))
    sums.push_back(beginRead(result, intoOf(number), op.getOwn(), frame));
  Features features = op.getFeatures();
  SmallVector<double> weights = op.getWeightValues();
  int64_t size = readPanelOf(features);
  auto addPanel = [&](const Frame &at, Value start, ValueRange carried) {
    Value panel = expand(vectors, features, start, size, weights);
    SmallVector<Value> next;
    for (auto [state, sum] : llvm::zip(op.getStates(), carried)) {
      Value memory = emitter.memory.values.lookup(state);
      // Monomials of both signs cancel: a sum over thousands of them is smaller than what it passes through.
      // With each panel's share summed by itself, a fourth to a twelfth of the rounding error is left.
      Value share = contract(panel, loadPanel(memory, at, start, size), AxisRole::Feature);
      next.push_back(emitter.combine(Reduction::Sum, sum, share));
    }
    return next;
  };
  sums = forSlots(op.getToken(), Chunks::of(op), frame, sums, [&](const Frame &at, ValueRange carried) {
    return emitter.loop(emitter.constant(0), emitter.constant(*features.count()), size, carried,
                        [&](Value start, ValueRange carried) { return addPanel(at, start, carried); });
  });
  for (auto [number, result] : llvm::enumerate(op.getResults()))
    frame.tiles[result] = endRead(sums[number], intoOf(number), op.getOwn(), frame);
}

Value StateEmitter::emitContract(ContractStatesOp op, Frame &frame) {
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
      Value panel = loadPanel(emitter.memory.values.lookup(state), at, start, size);
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
        builder, loc, vectors.getType(), cotangent, nameOf(AxisRole::Feature), attributeOf(features), start,
        vectors, channel, weights.empty() ? ArrayAttr() : builder.getF64ArrayAttr(weights), carried);
  };
  auto addPanels = [&](const Frame &at, ValueRange carried) {
    return emitter.loop(emitter.constant(0), emitter.constant(*features.count()), size, carried,
                        [&](Value start, ValueRange carried) {
                          return SmallVector<Value>{contracted(at, start, carried.front())};
                        });
  };
  sum = forSlots(op.getToken(), Chunks::of(op), frame, sum, addPanels).front();
  return endRead(sum, op.getInto(), op.getOwn(), frame);
}

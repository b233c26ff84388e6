// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/MaskedScores.h"

#include "dialect/Taylor/ArrayBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace taylor;

void MaskedScores::endLoads(Frame &pair, AxisRef token, Value end) {
  if (emitter.sizes.exactMasks)
    return;
  if (!op.getVisible().empty())
    for (auto [array, argument] : llvm::zip(op.getScalars(), op.getVisible().getArguments()))
      if (!argument.use_empty() && arrayTypeOf(array).has(token))
        emitter.emit(array, pair);
  (token == AxisRole::Query ? pair.tEnd : pair.uEnd) = end;
}

/// Whether `condition` says that u is before t, or at it.
static bool isCausal(Value condition, Value u, Value t) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return false;
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (compare.getLhs() == u && compare.getRhs() == t)
    return predicate == arith::CmpIPredicate::sle || predicate == arith::CmpIPredicate::slt;
  return compare.getLhs() == t && compare.getRhs() == u &&
         (predicate == arith::CmpIPredicate::sge || predicate == arith::CmpIPredicate::sgt);
}

Value MaskedScores::emitMask(ScalarProgram &program, Frame &pair, const Masking &masking) {
  OpBuilder &inner = program.builder();
  Location loc = program.getLoc();
  Value u = program.position(AxisRole::Key), t = program.position(AxisRole::Query);
  auto isBelow = [&](Value position, Value end) -> Value {
    return arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt, position, end);
  };
  Value keys = emitter.size(AxisRole::Key),
        queries = emitter.add(emitter.size(tile::kOffset), emitter.size(AxisRole::Query));
  bool edgeOfQueries = masking.edgeOfQueries; // loops walk along queries
  SmallVector<Value> conditions;
  if (!op.getVisible().empty())
    conditions = program.inlineRegion(op.getVisible(), scores.emitArguments(program, pair, {}));
  auto causal = llvm::find_if(conditions, [&](Value condition) { return isCausal(condition, u, t); });
  if (causal == conditions.end()) {
    // A range ends at the last token or before, so its own bounds replace this check.
    if (edgeOfQueries || !masking.begin)
      conditions.push_back(isBelow(u, keys));
    if (edgeOfQueries && !masking.begin)
      conditions.push_back(isBelow(t, queries));
  } else {
    // One comparison per pair: a token past its edge moves to where no other is visible to it. What the loop
    // does not walk along takes the edge of keys.
    auto compare = causal->getDefiningOp<arith::CmpIOp>();
    IRMapping moved;
    auto move = [&](Value position, Value end, int64_t to) {
      Value away = arith::ConstantIndexOp::create(inner, loc, to);
      moved.map(position, arith::SelectOp::create(inner, loc, isBelow(position, end), position, away));
    };
    if (edgeOfQueries) {
      move(t, queries, -1);
      move(u, keys, std::numeric_limits<int32_t>::max());
    } else {
      bool isStrict = compare.getPredicate() == arith::CmpIPredicate::slt ||
                      compare.getPredicate() == arith::CmpIPredicate::sgt;
      Value last = isStrict ? keys : emitter.add(keys, emitter.constant(-1));
      moved.map(t, arith::MinSIOp::create(inner, loc, t, last));
    }
    *causal = inner.clone(*compare, moved)->getResult(0);
  }
  if (op.getChunk() && edgeOfQueries) {
    // At most one edge of chunks lies within a block of keys: those before it see no query after it, nor
    // those after it one before. The last tile of queries may reach beyond the chunk.
    Value edge = ranges.chunkOf(emitter.builder, emitter.loc, emitter.lastKey(pair));
    Value before = isBelow(u, edge), isEarlier = isBelow(t, edge);
    conditions.push_back(arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, before, isEarlier));
    conditions.push_back(isBelow(t, emitter.add(edge, emitter.constant(op.getChunk()))));
  } else if (op.getChunk() && !ranges.isCausal()) {
    // A block of queries lies in one chunk, whose last tile of keys may reach beyond it.
    Value first = emitter.add(emitter.size(tile::kOffset), pair.tStart);
    Value edge = ranges.chunkOf(emitter.builder, emitter.loc, first);
    conditions.push_back(isBelow(u, emitter.add(edge, emitter.constant(op.getChunk()))));
  }
  if (masking.begin) {
    auto position = [&](Value token) {
      return edgeOfQueries ? emitter.add(emitter.size(tile::kOffset), token) : token;
    };
    Value walked = edgeOfQueries ? t : u;
    conditions.push_back(isBelow(walked, position(masking.end)));
    conditions.push_back(
        arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sge, walked, position(masking.begin)));
  }
  Value mask = conditions.front();
  for (Value condition : ArrayRef<Value>(conditions).drop_front())
    mask = arith::AndIOp::create(inner, loc, mask, condition);
  return mask;
}

Value MaskedScores::selectVisible(ScalarProgram &program, Value mask, Value scalar, double outside) {
  if (!mask)
    return scalar;
  OpBuilder &inner = program.builder();
  Location loc = program.getLoc();
  Value other = arith::ConstantOp::create(inner, loc, inner.getFloatAttr(scalar.getType(), outside));
  return arith::SelectOp::create(inner, loc, mask, scalar, other);
}

SmallVector<Value> MaskedScores::maskTiles(Frame &pair, ValueRange tiles, double outside,
                                           const Masking &masking) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  auto masked = [&] {
    Frame inside = pair; // what is made in a branch stays there
    ScalarProgram program(emitter, inside);
    Value mask = emitMask(program, inside, masking);
    SmallVector<Value> scalars = llvm::map_to_vector(
        tiles, [&](Value tile) { return selectVisible(program, mask, program.input(tile), outside); });
    return program.emit(scalars);
  };
  if (!masking.cut)
    return masked();
  auto branch = scf::IfOp::create(builder, loc, tiles.getTypes(), masking.cut, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, masked());
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, tiles);
  return llvm::to_vector(ValueRange(branch.getResults()));
}

std::optional<MaskedProduct> MaskedScores::chooseProduct(ArrayRef<int64_t> summed,
                                                         function_ref<bool(ArrayType array)> isFinite) {
  bool stored = endsKeyLoads();
  return findMaskedProduct(op, summed, [&](Value array) {
    return isFinite(cast<ArrayType>(array.getType())) || (stored && emitter.memory.values.contains(array));
  });
}

Masking MaskedScores::maskProduct(Frame &pair, SmallVectorImpl<Value> &products, const Masking &masking) {
  // In the region of the weights it costs no sweep, if nothing else reads it.
  if (!masking.product || (!masking.cut && !op.hasMaximum()))
    return masking;
  Value &product = products[masking.product->product];
  product = maskTiles(pair, product, masking.product->value, masking).front();
  return {};
}

SmallVector<Value> MaskedScores::emitWeights(Frame &pair, ValueRange products, Value maximum,
                                             const Masking &masking) {
  ScalarProgram program(emitter, pair);
  SmallVector<Value> arguments = scores.emitArguments(program, pair, products);
  if (maximum)
    arguments.push_back(program.input(maximum));
  Value mask;
  if (masking.masked && !masking.cut)
    mask = emitMask(program, pair, masking);
  if (mask && masking.product) {
    Value &product = arguments[masking.product->product];
    product = selectVisible(program, mask, product, masking.product->value);
    mask = {};
  }
  SmallVector<Value> weights = program.inlineRegion(op.getWeight(), arguments);
  DenseMap<Value, Value> selected; // a scalar that is yielded twice is one tile
  for (Value &weight : weights) {
    auto [entry, isNew] = selected.try_emplace(weight);
    if (isNew)
      entry->second = selectVisible(program, mask, weight, 0.0);
    weight = entry->second;
  }
  SmallVector<Value> tiles = program.emit(weights);
  for (Value &tile : tiles)
    tile = broadcastTile(emitter.builder, emitter.loc, tile, scores.pairType(pair));
  if (masking.cut) {
    llvm::SetVector<Value> distinct(tiles.begin(), tiles.end());
    SmallVector<Value> visible = maskTiles(pair, distinct.getArrayRef(), 0.0, masking);
    for (Value &tile : tiles)
      tile = visible[llvm::find(distinct, tile) - distinct.begin()];
  }
  return tiles;
}

Value MaskedScores::emitVisible(Frame &pair, const Masking &masking) {
  if (!emitter.sizes.exactMasks || !masking.masked || op.getWeighted().empty())
    return {};
  // A program keeps conditions where they are used, so it gives a number, and the map its condition instead.
  ScalarProgram program(emitter, pair);
  Value mask = emitMask(program, pair, masking);
  Value one = arith::ConstantOp::create(program.builder(), emitter.loc, program.builder().getF32FloatAttr(1));
  auto numbers = program.emit(selectVisible(program, mask, one, 0.0)).front().getDefiningOp<tile::MapOp>();
  Operation *yield = numbers.getBlock()->getTerminator();
  auto select = yield->getOperand(0).getDefiningOp<arith::SelectOp>();
  yield->setOperand(0, select.getCondition());
  select.erase();
  auto type = cast<tile::TileType>(numbers.getResult(0).getType());
  OpBuilder builder(numbers);
  auto visible = tile::MapOp::create(builder, emitter.loc, TypeRange{type.withElement(builder.getI1Type())},
                                     numbers.getInputs());
  visible.getBody().takeBody(numbers.getBody());
  numbers.erase();
  return visible.getResult(0);
}

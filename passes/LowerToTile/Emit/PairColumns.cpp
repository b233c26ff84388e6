// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/PairColumns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

/// The next value of what is carried, or itself. A loop that runs once or not at all: unlike scf.if it
/// carries in place. In a pipelined loop the product is one of many whose order is free, so it is always
/// made.
Value PairColumns::addRequested(const PairResult &result, Value carried, function_ref<Value(Value)> body) {
  if (!result.requested || emitter.sizes.singleLoop)
    return body(carried);
  Value times = arith::SelectOp::create(emitter.builder, emitter.loc, result.requested, emitter.constant(1),
                                        emitter.constant(0));
  return emitter
      .loop(emitter.constant(0), times, 1, carried,
            [&](Value, ValueRange inside) { return SmallVector<Value>{body(inside.front())}; })
      .front();
}

bool PairColumns::loopsOverHeads(const Frame &block) {
  auto hasHeads = [](Value value) { return cast<ArrayType>(value.getType()).has(AxisRole::Head); };
  return !block.indices.contains(AxisRole::Head) &&
         (llvm::any_of(op.getArrays(), hasHeads) || llvm::any_of(op.getResults(), hasHeads));
}

SmallVector<Value> PairColumns::forHeads(Frame &block, ValueRange carried,
                                         function_ref<SmallVector<Value>(Frame &, ValueRange)> body) {
  if (!loopsOverHeads(block))
    return body(block, carried);
  Value heads = emitter.headsPerGroup();
  Value first =
      arith::MulIOp::create(emitter.builder, emitter.loc, block.indices.lookup(AxisRole::KeyHead), heads);
  return emitter.loop(emitter.constant(0), heads, 1, carried, [&](Value index, ValueRange carried) {
    Frame head = block;
    head.indices[AxisRole::Head] = emitter.add(first, index);
    return body(head, carried);
  });
}

void PairColumns::zeroKind(PairOutput kind, Frame &frame) {
  for (auto [index, plan] : llvm::enumerate(results))
    if (op.getSum(index).getKind() == kind)
      loops.tiles.ifRequested(
          plan, [&] { emitter.store(loops.tiles.zerosOf(index, frame).front(), plan.memory, frame); });
}

void PairColumns::zeroRows(Frame &rows) { zeroKind(PairOutput::Rows, rows); }

void PairColumns::zeroMemory(Frame &block) {
  forHeads(block, {}, [&](Frame &head, ValueRange) {
    zeroKind(PairOutput::Total, head);
    auto zeroTokens = [&](PairOutput kind, AxisRef token, int64_t step) {
      if (!sumsInto(op, kind))
        return;
      emitter.loop(emitter.constant(0), emitter.size(token), step, {}, [&](Value i, ValueRange) {
        Frame tokens = head.at(token, i, step);
        zeroKind(kind, tokens);
        return SmallVector<Value>();
      });
    };
    zeroTokens(PairOutput::Rows, AxisRole::Query, columnTile(op, emitter.sizes).queries);
    zeroTokens(PairOutput::Diagonals, AxisRole::Lag, emitter.sizes.tokens);
    return SmallVector<Value>();
  });
}

VisibleRangeList PairColumns::visibleQueries(const Frame &columns) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value past = emitter.add(columns.uStart, emitter.constant(columns.uSize)),
        keys = emitter.size(AxisRole::Key);
  VisibleRangeList ranges = loops.ranges.queriesOf(
      builder, loc, columns.uStart, emitter.lastKey(columns),
      [&](Value array, Value position) { return emitter.lookup(array, position, columns); },
      emitter.sizes.alignsQueries ? columnTile(op, emitter.sizes).queries : 1);
  // A block that reaches beyond the last key is masked throughout: sums into rows would see what is not
  // there.
  Value whole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, past, keys);
  for (VisibleRange &range : ranges)
    range.fullEnd = arith::SelectOp::create(builder, loc, whole, range.fullEnd, emitter.constant(0));
  return ranges;
}

void PairColumns::addToMemory(const Frame &pair, ValueRange weights, Value visible) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  for (auto [index, plan] : llvm::enumerate(results)) {
    PairSumAttr sum = op.getSum(index);
    Value array = op.getArrayOfSum(index);
    bool isDiagonals = sum.getKind() == PairOutput::Diagonals;
    if (sum.getKind() != PairOutput::Rows && !isDiagonals)
      continue;
    loops.tiles.ifRequested(plan, [&] {
      Frame inside = pair;
      Value weight = weights[sum.getYielded()];
      Value value;
      if (isDiagonals)
        value = weight; // over [t, u]: elements of one diagonal meet in memory
      else if (array)
        value = tile::DotOp::create(builder, loc, weight, emitter.emit(array, inside), {AxisRole::Key},
                                    /*c=*/Value(), visible);
      else
        value = tile::ReduceOp::create(builder, loc, tile::ReductionKind::sum, weight, {AxisRole::Key});
      emitter.accumulate(value, plan.memory, inside, /*atomic=*/keysOnGrid);
    });
  }
}

SmallVector<Value> PairColumns::addToColumns(const Columns &columns, Frame &pair, ValueRange carried,
                                             const Masking &ofTile) {
  SmallVector<Value> products = loops.tiles.emitProducts(pair), next;
  Masking masking = loops.masks.maskProduct(pair, products, ofTile);
  SmallVector<Value> weights = loops.masks.emitWeights(pair, products, /*maximum=*/{}, masking);
  Value visible = loops.masks.emitVisible(pair, ofTile);
  for (auto [index, before] :
       llvm::zip(llvm::concat<const int64_t>(columns.ofGroup, columns.ofHead), carried)) {
    PairSumAttr sum = op.getSum(index);
    Value array = op.getArrayOfSum(index), row = array ? emitter.emit(array, pair) : Value();
    next.push_back(addRequested(results[index], before, [&](Value before) {
      SmallVector<AxisRef> over{AxisRole::Query};
      if (sum.getKind() == PairOutput::Total)
        over.push_back(AxisRole::Key);
      return loops.tiles.addContracted(before, weights[sum.getYielded()], row, over, visible);
    }));
  }
  addToMemory(pair, weights, visible);
  return next;
}

void PairColumns::emitKeyOperands(Frame &keys, function_ref<bool(ArrayType)> which) {
  if (loops.masks.endsKeyLoads()) {
    Value end = emitter.add(emitter.size(tile::kOffset), emitter.size(AxisRole::Query));
    keys.uEnd = arith::MinSIOp::create(emitter.builder, emitter.loc, end, emitter.size(AxisRole::Key));
  }
  loops.tiles.emitOperands(keys, which);
  keys.uEnd = {};
}

SmallVector<Value> PairColumns::emitHead(const Columns &columns, Frame &head, ValueRange groupSums) {
  emitKeyOperands(head, [](ArrayType type) { return !ScoreTiles::varies(type, AxisRole::Query); });
  SmallVector<Value> carried(groupSums);
  carried.append(loops.tiles.zerosOf(columns.ofHead, head));
  int64_t step = columnTile(op, emitter.sizes).queries;
  SmallVector<int64_t> summed = llvm::map_to_vector(
      op.getSums().getAsRange<PairSumAttr>(), [](PairSumAttr sum) { return int64_t(sum.getYielded()); });
  Masking masking;
  masking.masked = masking.edgeOfQueries = true;
  // Queries and keys may hold what is no number, the saved maximum of a row among it; only pairs that are
  // visible hand it on.
  masking.product = loops.masks.chooseProduct(summed, [](ArrayType type) {
    return !ScoreTiles::varies(type, AxisRole::Query) && !ScoreTiles::varies(type, AxisRole::Key);
  });
  SmallVector<Value> sums =
      loops.walk.emit(visibleQueries(head), step, step, carried, masking,
                      [&](Value i, Value end, ValueRange carried, const Masking &masking) {
                        Frame pair = head;
                        pair.tStart = i;
                        pair.tSize = step;
                        loops.masks.endLoads(pair, AxisRole::Query, end);
                        return addToColumns(columns, pair, carried, masking);
                      });
  if (!columns.ofHead.empty())
    finish(columns, columns.ofHead, ArrayRef(sums).drop_front(groupSums.size()), head);
  sums.truncate(groupSums.size());
  return sums;
}

void PairColumns::finish(const Columns &columns, ArrayRef<int64_t> complete, ValueRange sums,
                         const Frame &frame) {
  Frame done = frame;
  if (loops.masks.endsKeyLoads())
    done.tiles.clear(); // what else reads keys reads those too that no query sees
  for (auto [index, sum] : llvm::zip(complete, sums)) {
    const PairResult &plan = results[index];
    if (op.getSum(index).getKind() == PairOutput::Columns)
      done.tiles[op.getResult(index)] = sum;
    else if (keysOnGrid)
      loops.tiles.ifRequested(plan, [&, sum = sum] { emitter.store(sum, plan.memory, frame); });
    else
      loops.tiles.ifRequested(plan, [&, sum = sum] { emitter.accumulate(sum, plan.memory, frame); });
  }
  columns.finish(done);
}

void PairColumns::emitKeys(const Columns &columns, Frame &keys) {
  SmallVector<Value> zeros = loops.tiles.zerosOf(columns.ofGroup, keys);
  if (loopsOverHeads(keys))
    emitKeyOperands(keys, [](ArrayType type) {
      return !ScoreTiles::varies(type, AxisRole::Query) && !type.has(AxisRole::Head);
    });
  // Each head's share is summed by itself and then added: one sum through all heads of a group has more
  // rounding errors than eager code, which adds up heads' sums. Threads of a GPU have no registers for two.
  bool apart = loopsOverHeads(keys) && emitter.sizes.rowSums == RowSums::Parts;
  SmallVector<Value> sums = forHeads(keys, zeros, [&](Frame &head, ValueRange carried) {
    SmallVector<Value> ofHead = emitHead(columns, head, apart ? ValueRange(zeros) : carried);
    if (apart)
      for (auto [sum, before] : llvm::zip(ofHead, carried))
        sum = emitter.combine(Reduction::Sum, before, sum);
    return ofHead;
  });
  this->finish(columns, columns.ofGroup, sums, keys);
}

void PairColumns::emit(Frame &block, Value parts, function_ref<void(Frame &)> finish) {
  int64_t step = columnTile(op, emitter.sizes).keys;
  Columns columns{finish, {}, {}};
  bool heads = loopsOverHeads(block);
  for (auto [index, sum] : llvm::enumerate(op.getSums().getAsRange<PairSumAttr>()))
    if (sum.getKind() == PairOutput::Columns || sum.getKind() == PairOutput::Total) {
      bool perHead = heads && cast<ArrayType>(op.getResult(index).getType()).has(AxisRole::Head);
      (perHead ? columns.ofHead : columns.ofGroup).push_back(index);
    }
  auto blocksOf = [&](Value count) -> Value {
    return arith::MulIOp::create(emitter.builder, emitter.loc, count, emitter.constant(step));
  };
  Value first = blocksOf(block.indices.lookup(TileEmitter::kPartAxis));
  if (keysOnGrid) {
    Frame keys = block.at(AxisRole::Key, first, step);
    return emitKeys(columns, keys);
  }
  zeroMemory(block);
  emitter.loop(first, emitter.size(AxisRole::Key), blocksOf(parts), {}, [&](Value j, ValueRange) {
    Frame keys = block.at(AxisRole::Key, j, step);
    emitKeys(columns, keys);
    return SmallVector<Value>();
  });
}

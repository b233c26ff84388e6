// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums into columns, and whatever else the operation gives: keys outside, queries inside.
#include "passes/LowerToTile/PairEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace taylor;

void PairEmitter::guarded(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(emitter.builder, emitter.loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(emitter.builder);
  emitter.builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// The next value of what is carried, or itself. A loop that runs once or not at all: unlike scf.if it
/// carries in place.
Value PairEmitter::guarded(Value condition, Value carried, function_ref<Value(Value)> body) {
  if (!condition)
    return body(carried);
  Value times = arith::SelectOp::create(emitter.builder, emitter.loc, condition, emitter.constant(1),
                                        emitter.constant(0));
  return emitter
      .loop(emitter.constant(0), times, 1, carried,
            [&](Value, ValueRange inside) { return SmallVector<Value>{body(inside.front())}; })
      .front();
}

bool PairEmitter::loopsOverHeads(const Frame &block) {
  auto hasHeads = [](Value value) { return cast<ArrayType>(value.getType()).has("h"); };
  return !block.indices.contains("h") &&
         (llvm::any_of(op.getArrays(), hasHeads) || llvm::any_of(op.getResults(), hasHeads));
}

void PairEmitter::forHeads(Frame &block, function_ref<void(Frame &)> body) {
  if (!loopsOverHeads(block))
    return body(block);
  Value heads = emitter.headsPerGroup();
  Value first = arith::MulIOp::create(emitter.builder, emitter.loc, block.indices.lookup("g"), heads);
  emitter.loop(emitter.constant(0), heads, 1, {}, [&](Value index, ValueRange) {
    Frame head = block;
    head.indices["h"] = emitter.add(first, index);
    body(head);
    return SmallVector<Value>();
  });
}

void PairEmitter::zeroRows(Frame &block, ArrayRef<PairResult> results) {
  forHeads(block, [&](Frame &head) {
    bool anyRows = false;
    for (auto [result, plan] : llvm::zip(op.getResults(), results)) {
      auto type = cast<ArrayType>(result.getType());
      anyRows |= plan.memory && type.has("t");
      if (plan.memory && !type.has("t"))
        guarded(plan.requested,
                [&] { emitter.store(emitter.splat(emitter.tileType(type, head), 0.0), plan.memory, head); });
    }
    if (!anyRows)
      return;
    int64_t step = emitter.sizes.queries;
    emitter.loop(emitter.constant(0), emitter.size("t"), step, {}, [&](Value i, ValueRange) {
      Frame rows = head.at("t", i, step);
      for (auto [result, plan] : llvm::zip(op.getResults(), results)) {
        auto type = cast<ArrayType>(result.getType());
        if (plan.memory && type.has("t"))
          guarded(plan.requested, [&] {
            emitter.store(emitter.splat(emitter.tileType(type, rows), 0.0), plan.memory, rows);
          });
      }
      return SmallVector<Value>();
    });
  });
}

void PairEmitter::emitColumns(Frame &block, Value parts, ArrayRef<PairResult> results,
                              function_ref<void(Frame &)> finish) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  int64_t rowStep = emitter.sizes.queries, columnStep = emitter.sizes.outerKeys;
  bool heads = loopsOverHeads(block);
  zeroRows(block, results);

  // Sums into columns: those of the whole group, then those of each head.
  SmallVector<int64_t> ofGroup, ofHead;
  for (auto [index, sum] : llvm::enumerate(op.getSums().getAsRange<PairSumAttr>()))
    if (sum.getKind() == PairOutput::Columns)
      (heads && cast<ArrayType>(op.getResult(index).getType()).has("h") ? ofHead : ofGroup).push_back(index);
  auto zeros = [&](ArrayRef<int64_t> indices, Frame &frame) {
    SmallVector<Value> tiles;
    for (int64_t index : indices)
      tiles.push_back(
          emitter.splat(emitter.tileType(cast<ArrayType>(op.getResult(index).getType()), frame), 0.0));
    return tiles;
  };

  // One score tile: returns the next value of each carried sum.
  auto emitPair = [&](Frame &pair, ArrayRef<int64_t> indices, ValueRange carried, bool masked) {
    SmallVector<Value> products = emitProducts(pair);
    SmallVector<Value> weights = emitWeights(pair, products, {}, masked, true);
    SmallVector<Value> next;
    for (auto [place, index] : llvm::enumerate(indices)) {
      PairSumAttr sum = op.getSum(index);
      Value weight = weights[sum.getYielded()];
      Value row = sum.getArray() >= 0 ? emitter.emit(op.getArrays()[sum.getArray()], pair) : Value();
      next.push_back(guarded(results[index].requested, carried[place], [&](Value before) -> Value {
        if (row)
          return tile::DotOp::create(builder, loc, weight, row, {"t"}, before);
        Value ofTile = tile::ReduceOp::create(builder, loc, tile::ReductionKind::sum, weight, {"t"});
        return emitter.map({before, ofTile}, [](OpBuilder &inner, Location at, ValueRange s) -> Value {
          return arith::AddFOp::create(inner, at, s[0], s[1]);
        });
      }));
    }
    for (auto [index, sum] : llvm::enumerate(op.getSums().getAsRange<PairSumAttr>())) {
      if (sum.getKind() == PairOutput::Columns)
        continue;
      guarded(results[index].requested, [&] {
        Frame inside = pair;
        Value weight = weights[sum.getYielded()];
        Value value;
        if (sum.getKind() == PairOutput::Total)
          value = tile::ReduceOp::create(builder, loc, tile::ReductionKind::sum, weight, {"t", "u"});
        else if (sum.getArray() < 0)
          value = tile::ReduceOp::create(builder, loc, tile::ReductionKind::sum, weight, {"u"});
        else
          value = tile::DotOp::create(builder, loc, weight,
                                      emitter.emit(op.getArrays()[sum.getArray()], inside), {"u"});
        emitter.accumulate(value, results[index].memory, inside);
      });
    }
    return next;
  };

  // All heads of the group for one block of keys.
  auto emitHead = [&](Frame &head, ValueRange groupSums) {
    emitOperands(head, [](ArrayType type) { return !type.has("t"); });
    SmallVector<int64_t> indices(ofGroup);
    indices.append(ofHead);
    SmallVector<Value> carried(groupSums);
    carried.append(zeros(ofHead, head));
    Value past = emitter.add(head.uStart, emitter.constant(columnStep)), keys = emitter.size("u");
    Value last = arith::SubIOp::create(builder, loc, arith::MinSIOp::create(builder, loc, past, keys),
                                       emitter.constant(1));
    VisibleRange range = ranges.queriesOf(builder, loc, head.uStart, last);
    // A block that reaches beyond the last key is masked throughout: sums into rows would see what is not
    // there.
    Value whole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, past, keys);
    range.fullEnd = arith::SelectOp::create(builder, loc, whole, range.fullEnd, emitter.constant(0));
    SmallVector<Value> sums =
        emitSegments(range, rowStep, rowStep, carried, [&](Value i, ValueRange carried, bool masked) {
          Frame pair = head;
          pair.tStart = i;
          pair.tSize = rowStep;
          return emitPair(pair, indices, carried, masked);
        });
    if (heads && !ofHead.empty()) {
      Frame done = head;
      for (auto [place, index] : llvm::enumerate(ofHead))
        done.tiles[op.getResult(index)] = sums[ofGroup.size() + place];
      finish(done);
    }
    sums.truncate(ofGroup.size());
    return sums;
  };

  auto blocksOf = [&](Value count) -> Value {
    return arith::MulIOp::create(builder, loc, count, emitter.constant(columnStep));
  };
  emitter.loop(blocksOf(block.indices.lookup("part")), emitter.size("u"), blocksOf(parts), {},
               [&](Value j, ValueRange) {
                 Frame columns = block.at("u", j, columnStep);
                 SmallVector<Value> sums = zeros(ofGroup, columns);
                 if (heads) {
                   emitOperands(columns, [](ArrayType type) { return !type.has("t") && !type.has("h"); });
                   Value count = emitter.headsPerGroup();
                   Value first = arith::MulIOp::create(builder, loc, columns.indices.lookup("g"), count);
                   sums = emitter.loop(emitter.constant(0), count, 1, sums,
                                       [&](Value index, ValueRange carried) {
                                         Frame head = columns;
                                         head.indices["h"] = emitter.add(first, index);
                                         return emitHead(head, carried);
                                       });
                 } else {
                   sums = emitHead(columns, sums);
                 }
                 Frame done = columns;
                 for (auto [place, index] : llvm::enumerate(ofGroup))
                   done.tiles[op.getResult(index)] = sums[place];
                 finish(done);
                 return SmallVector<Value>();
               });
}

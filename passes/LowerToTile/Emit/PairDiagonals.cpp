// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/PairDiagonals.h"

#include "passes/LowerToTile/Fusion/KernelGrid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

void PairDiagonals::emitWalk(Frame &block, Value walk) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  int64_t step = diagonalTile(op, emitter.sizes);
  auto blocksOf = [&](AxisRef token) -> Value {
    return arith::CeilDivSIOp::create(builder, loc, emitter.size(token), emitter.constant(step));
  };
  auto times = [&](Value blocks) -> Value {
    return arith::MulIOp::create(builder, loc, blocks, emitter.constant(step));
  };
  auto sub = [&](Value a, Value b) -> Value { return arith::SubIOp::create(builder, loc, a, b); };

  // Blocks of queries [first, last) whose keys are there; none where no pair of the walk is visible.
  Value shift = emitter.add(sub(walk, blocksOf(AxisRole::Key)), emitter.constant(1)); // in blocks
  Value first = arith::MaxSIOp::create(builder, loc, emitter.constant(0), shift);
  Value last =
      arith::MinSIOp::create(builder, loc, blocksOf(AxisRole::Query), emitter.add(walk, emitter.constant(1)));
  shift = times(shift);
  Value lag = emitter.add(emitter.size(tile::kOffset), shift);
  Value visible = loops.ranges.mayHold(builder, loc, sub(lag, emitter.constant(step - 1)),
                                       emitter.add(lag, emitter.constant(step - 1)));
  if (visible)
    last = arith::SelectOp::create(builder, loc, visible, last, first);

  auto at = [&](Value queries) {
    Frame pair = block.at(AxisRole::Query, queries, step);
    return pair.at(AxisRole::Key, sub(queries, shift), step);
  };
  Masking masking;
  masking.masked = masking.edgeOfQueries = true;
  SmallVector<int64_t> summed = llvm::map_to_vector(
      op.getSums().getAsRange<PairSumAttr>(), [](PairSumAttr sum) { return int64_t(sum.getYielded()); });
  masking.product = findMaskedProduct(op, summed, [](Value) { return true; });
  Frame origin = at(emitter.constant(0));
  SmallVector<Value> zeros(op.getNumResults(), emitter.splat(loops.tiles.pairType(origin), 0.0));
  SmallVector<Value> sums =
      emitter.loop(times(first), times(last), step, zeros, [&](Value queries, ValueRange carried) {
        Frame pair = at(queries);
        SmallVector<Value> products = loops.tiles.emitProducts(pair), next;
        Masking ofTile = loops.masks.maskProduct(pair, products, masking);
        SmallVector<Value> weights = loops.masks.emitWeights(pair, products, /*maximum=*/{}, ofTile);
        for (auto [sum, before] : llvm::zip(op.getSums().getAsRange<PairSumAttr>(), carried))
          next.push_back(emitter.combine(Reduction::Sum, before, weights[sum.getYielded()]));
        return next;
      });
  for (auto [sum, plan] : llvm::zip(sums, results))
    loops.tiles.ifRequested(plan,
                            [&, sum = sum, &plan = plan] { emitter.storeWalk(sum, plan.memory, origin); });
}

void PairDiagonals::emit(Frame &block, Value blocks) {
  OpBuilder &builder = emitter.builder;
  int64_t step = diagonalTile(op, emitter.sizes);
  // There may be two walks more than blocks: the shortest ones, so one block takes several.
  Value walks = emitter.constant(1);
  for (AxisRef token : {AxisRole::Query, AxisRole::Key})
    walks = emitter.add(
        walks, arith::CeilDivSIOp::create(builder, emitter.loc, emitter.size(token), emitter.constant(step)));
  emitter.loop(block.indices.lookup(TileEmitter::kPartAxis), walks, blocks, {},
               [&](Value number, ValueRange) {
                 Frame inside = block;
                 emitWalk(inside, arith::SubIOp::create(builder, emitter.loc, number, emitter.constant(1)));
                 return SmallVector<Value>();
               });
}

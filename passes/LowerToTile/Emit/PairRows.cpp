// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/PairRows.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace taylor;

static Value multiply(OpBuilder &builder, Location loc, ValueRange s) {
  return arith::MulFOp::create(builder, loc, s[0], s[1]);
}

std::optional<double> PairRows::countedConstant(PairSumAttr sum) {
  FloatAttr constant;
  Operation *yield = op.getWeight().front().getTerminator();
  if (!sum.getWeighted() && loops.ranges.canCount() &&
      matchPattern(yield->getOperand(sum.getYielded()), m_Constant(&constant)))
    return constant.getValueAsDouble();
  return std::nullopt;
}

Value PairRows::emitCount(double constant, tile::TileType type, Frame &frame) {
  Location loc = emitter.loc;
  auto emitAll = [&](ArrayRef<Value> arrays) {
    return llvm::map_to_vector(arrays, [&](Value array) { return emitter.emit(array, frame); });
  };
  SmallVector<Value> starts = emitAll(loops.ranges.rowStarts()), ends = emitAll(loops.ranges.rowEnds());
  ScalarProgram program(emitter, frame);
  OpBuilder &inner = program.builder();
  auto [low, high] =
      loops.ranges.intervalOf(inner, loc, program.position(AxisRole::Query), emitter.size(AxisRole::Key));
  // By the result's type: an operation without operands has no other.
  auto real = [&](Value count) -> Value {
    Value integer = arith::IndexCastOp::create(inner, loc, inner.getI32Type(), count);
    return arith::SIToFPOp::create(inner, loc, type.getElementType(), integer);
  };
  auto number = [&](double value) -> Value {
    return arith::ConstantOp::create(inner, loc, inner.getFloatAttr(type.getElementType(), value));
  };
  Value count;
  if (starts.empty()) {
    Value length = arith::SubIOp::create(inner, loc, high, low);
    count = real(arith::MaxSIOp::create(inner, loc, arith::ConstantIndexOp::create(inner, loc, 0), length));
  } else {
    Value begin = real(low), end = real(high);
    for (Value start : starts)
      begin = arith::MaximumFOp::create(inner, loc, begin, program.input(start));
    for (Value one : ends)
      end = arith::MinimumFOp::create(inner, loc, end, program.input(one));
    Value length = arith::SubFOp::create(inner, loc, end, begin);
    count = arith::MaximumFOp::create(inner, loc, number(0.0), length);
  }
  Value product = arith::MulFOp::create(inner, loc, count, number(constant));
  return broadcastTile(emitter.builder, loc, program.emit(product).front(), type);
}

Value PairRows::emitFirstMaximum(Frame &frame) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Region &region = op.getMaximum();
  Type real = op.getRealType();
  auto type = tile::TileType::get(op.getContext(),
                                  {tile::Axis::get(op.getContext(), AxisRole::Query, frame.tSize)}, real);
  Value least = emitter.splat(type, leastOf(real));
  if (region.front().getTerminator()->getNumOperands() < 2)
    return least;
  // The floor: of rows and parameters only (checked before lowering), so products and columns may be
  // anything, and the place of a key that of any.
  Frame anyKey = frame;
  anyKey.uStart = emitter.constant(0);
  anyKey.uSize = 1;
  ScalarProgram program(emitter, anyKey);
  SmallVector<Value> arguments;
  for (BlockArgument argument : region.getArguments()) {
    Value array = op.getArrayOf(argument);
    if (array && !ScoreTiles::varies(cast<ArrayType>(array.getType()), AxisRole::Key))
      arguments.push_back(program.input(emitter.emit(array, frame)));
    else
      arguments.push_back(
          arith::ConstantOp::create(program.builder(), loc, builder.getZeroAttr(argument.getType())));
  }
  Value floor = program.inlineRegion(region, arguments)[1];
  return broadcastTile(builder, loc, program.emit(floor).front(), type);
}

VisibleRangeList PairRows::visibleKeys(const Frame &rows) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value first = emitter.add(emitter.size(tile::kOffset), rows.tStart);
  Value end = arith::MinSIOp::create(builder, loc, emitter.add(rows.tStart, emitter.constant(rows.tSize)),
                                     emitter.size(AxisRole::Query));
  Value last =
      arith::SubIOp::create(builder, loc, emitter.add(emitter.size(tile::kOffset), end), emitter.constant(1));
  return loops.ranges.keysOf(builder, loc, first, last, [&](Value array, Value position) {
    return emitter.lookup(array, position, rows);
  });
}

PairRows::Rescaling PairRows::emitMaximum(Frame &pair, ValueRange products, Value before,
                                          const Masking &masking) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  ScalarProgram program(emitter, pair);
  SmallVector<Value> arguments = loops.tiles.emitArguments(program, pair, products);
  double least = leastOf(op.getRealType());
  Value x = program.inlineRegion(op.getMaximum(), arguments).front();
  if (masking.masked && !masking.cut)
    x = loops.masks.selectVisible(program, loops.masks.emitMask(program, pair, masking), x, least);
  Value tile = broadcastTile(builder, loc, program.emit(x).front(), loops.tiles.pairType(pair));
  if (masking.cut)
    tile = loops.masks.maskTiles(pair, tile, least, masking).front();
  Value ofTile = tile::ReduceOp::create(builder, loc, tile::ReductionKind::max, tile, {AxisRole::Key});
  auto rescaling =
      tile::MapOp::create(builder, loc, {before, ofTile}, [](OpBuilder &inner, Location loc, ValueRange s) {
        Value after = arith::MaximumFOp::create(inner, loc, s[0], s[1]);
        Value shift = arith::SubFOp::create(inner, loc, s[0], after);
        return SmallVector<Value>{after, math::ExpOp::create(inner, loc, shift, tile::kRelaxed)};
      });
  return {rescaling.getResult(0), rescaling.getResult(1)};
}

bool PairRows::dependsOnMaximum(int64_t yielded) {
  if (!op.hasMaximum())
    return false;
  Block &block = op.getWeight().front();
  return collectScalars(block.getTerminator()->getOperand(yielded)).contains(block.getArguments().back());
}

SmallVector<Value> PairRows::addToRows(Frame &pair, ArrayRef<int64_t> looped, ValueRange carried,
                                       const Masking &ofTile) {
  SmallVector<Value> products = loops.tiles.emitProducts(pair), next;
  Masking masking = loops.masks.maskProduct(pair, products, ofTile);
  Rescaling rescaling;
  if (op.hasMaximum()) {
    rescaling = emitMaximum(pair, products, carried.front(), masking);
    next.push_back(rescaling.maximum);
    carried = carried.drop_front();
  }
  SmallVector<Value> weights = loops.masks.emitWeights(pair, products, rescaling.maximum, masking);
  Value visible = loops.masks.emitVisible(pair, ofTile);
  for (auto [index, before] : llvm::zip(looped, carried)) {
    PairSumAttr sum = op.getSum(index);
    if (dependsOnMaximum(sum.getYielded()))
      before = emitter.map({before, rescaling.factor}, multiply);
    Value array = op.getArrayOfSum(index), column = array ? emitter.emit(array, pair) : Value();
    next.push_back(
        loops.tiles.addContracted(before, weights[sum.getYielded()], column, {AxisRole::Key}, visible));
  }
  return next;
}

void PairRows::emit(Frame &frame) {
  loops.tiles.emitOperands(frame, [](ArrayType type) { return !ScoreTiles::varies(type, AxisRole::Key); });
  SmallVector<int64_t> looped;
  Value maximum; // where it is asked for
  for (auto [index, sum] : llvm::enumerate(op.getSums().getAsRange<PairSumAttr>())) {
    Value result = op.getResult(index);
    if (sum.getKind() == PairOutput::Maximum)
      maximum = result;
    else if (std::optional<double> constant = countedConstant(sum))
      frame.tiles[result] =
          emitCount(*constant, emitter.tileType(cast<ArrayType>(result.getType()), frame), frame);
    else
      looped.push_back(index);
  }

  if (looped.empty() && !maximum)
    return;

  // Carried: the maximum, then the sums.
  SmallVector<Value> zeros;
  if (op.hasMaximum())
    zeros.push_back(emitFirstMaximum(frame));
  zeros.append(loops.tiles.zerosOf(looped, frame));
  int64_t step = rowTile(op, emitter.sizes).keys, edge = std::min(step, emitter.sizes.edgeKeys);
  SmallVector<int64_t> summed =
      llvm::map_to_vector(looped, [&](int64_t sum) { return int64_t(op.getSum(sum).getYielded()); });
  Masking masking;
  masking.masked = true;
  // Rows do not meet. A key may hold what is no number, which rows that see it may have, and no others.
  masking.product = loops.masks.chooseProduct(
      summed, [](ArrayType type) { return !ScoreTiles::varies(type, AxisRole::Key); });
  VisibleRangeList ranges = visibleKeys(frame);
  if (Value asked = frame.asked.lookup(op))
    for (VisibleRange &range : ranges)
      for (Value *bound : {&range.fullBegin, &range.fullEnd, &range.end})
        *bound = arith::SelectOp::create(emitter.builder, emitter.loc, asked, *bound, range.begin);
  SmallVector<Value> sums =
      loops.walk.emit(ranges, step, edge, zeros, masking,
                      [&](Value j, Value end, ValueRange carried, const Masking &masking) {
                        Frame pair = frame;
                        pair.uStart = j;
                        pair.uSize = masking.masked && !emitter.sizes.singleLoop ? edge : step;
                        loops.masks.endLoads(pair, AxisRole::Key, end);
                        return addToRows(pair, looped, carried, masking);
                      });
  if (maximum)
    frame.tiles[maximum] = sums.front();
  for (auto [index, sum] : llvm::zip(looped, ArrayRef(sums).take_back(looped.size())))
    frame.tiles[op.getResult(index)] = sum;
}

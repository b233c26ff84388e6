// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums into rows: queries outside, keys inside.
#include "passes/LowerToTile/PairEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace taylor;

namespace {

/// The running maximum after one tile, and the factor exp(before - after) that rescales what was carried.
struct Rescaling {
  Value maximum, factor;
};

} // namespace

static Rescaling rescale(TileEmitter &emitter, Value before, Value ofTile) {
  auto op = tile::MapOp::create(emitter.builder, emitter.loc, {before, ofTile},
                                [](OpBuilder &inner, Location loc, ValueRange s) {
                                  Value after = arith::MaximumFOp::create(inner, loc, s[0], s[1]);
                                  Value shift = arith::SubFOp::create(inner, loc, s[0], after);
                                  return SmallVector<Value>{after, math::ExpOp::create(inner, loc, shift)};
                                });
  return {op.getResult(0), op.getResult(1)};
}

void PairEmitter::emitRows(Frame &frame) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Type real = op.getRealType();
  int64_t step = emitter.sizes.keys, edge = emitter.sizes.edgeKeys;
  emitOperands(frame, [](ArrayType type) { return !type.has("u"); });

  // Sums of constants count: in closed form where the visible keys are an interval.
  Block &weightBlock = op.getWeight().front();
  SmallVector<int64_t> looped;
  int64_t maximumResult = -1;
  for (auto [index, sum] : llvm::enumerate(op.getSums().getAsRange<PairSumAttr>())) {
    Value result = op.getResult(index);
    tile::TileType type = emitter.tileType(cast<ArrayType>(result.getType()), frame);
    FloatAttr constant;
    if (sum.getKind() == PairOutput::Maximum) {
      maximumResult = index;
    } else if (sum.getArray() < 0 && ranges.canCount() &&
               matchPattern(weightBlock.getTerminator()->getOperand(sum.getYielded()),
                            m_Constant(&constant))) {
      ScalarProgram program(emitter, frame);
      OpBuilder &inner = program.builder();
      Value count = ranges.countOf(inner, loc, program.position("t"), emitter.size("u"));
      Value integer = arith::IndexCastOp::create(inner, loc, inner.getI32Type(), count);
      // By the result's type: an operation without operands has no other.
      Value number = arith::SIToFPOp::create(inner, loc, type.getElementType(), integer);
      Value factor = arith::ConstantOp::create(
          inner, loc, builder.getFloatAttr(type.getElementType(), constant.getValueAsDouble()));
      Value product = arith::MulFOp::create(inner, loc, number, factor);
      frame.tiles[result] = broadcastTile(builder, loc, program.emit(product).front(), type);
    } else {
      looped.push_back(index);
    }
  }

  // Carried: the maximum, then the sums.
  SmallVector<Value> carried;
  auto rowType =
      tile::TileType::get(op.getContext(), {tile::Axis::get(op.getContext(), "t", frame.tSize)}, real);
  if (op.hasMaximum()) {
    Value initial = emitter.splat(rowType, leastOf(real));
    Operation *yield = op.getMaximum().front().getTerminator();
    if (yield->getNumOperands() > 1) {
      // The floor: of rows and parameters only (checked before lowering), so products and columns may be
      // anything.
      ScalarProgram program(emitter, frame);
      Region &region = op.getMaximum();
      SmallVector<Value> arguments;
      for (auto [place, argument] : llvm::enumerate(region.getArguments())) {
        int64_t scalar = int64_t(place) - op.getNumProducts();
        if (scalar >= 0 && !typeOf(op.getScalars()[scalar]).has("u"))
          arguments.push_back(program.input(emitter.emit(op.getArrays()[op.getScalars()[scalar]], frame)));
        else
          arguments.push_back(
              arith::ConstantOp::create(program.builder(), loc, builder.getZeroAttr(argument.getType())));
      }
      Value floor = program.inlineRegion(region, arguments)[1];
      initial = broadcastTile(builder, loc, program.emit(floor).front(), rowType);
    }
    carried.push_back(initial);
  }
  for (int64_t index : looped)
    carried.push_back(
        emitter.splat(emitter.tileType(cast<ArrayType>(op.getResult(index).getType()), frame), 0.0));

  SmallVector<Value> sums;
  if (!looped.empty() || maximumResult >= 0) {
    Value first = emitter.add(emitter.size("offset"), frame.tStart);
    Value end = arith::MinSIOp::create(builder, loc, emitter.add(frame.tStart, emitter.constant(frame.tSize)),
                                       emitter.size("t"));
    Value last =
        arith::SubIOp::create(builder, loc, emitter.add(emitter.size("offset"), end), emitter.constant(1));
    VisibleRange range = ranges.keysOf(builder, loc, first, last);
    sums = emitSegments(range, step, edge, carried, [&](Value j, ValueRange carried, bool masked) {
      Frame pair = frame;
      pair.uStart = j;
      pair.uSize = masked ? edge : step;
      SmallVector<Value> products = emitProducts(pair), next;
      Rescaling rescaling;
      if (op.hasMaximum()) {
        ScalarProgram program(emitter, pair);
        SmallVector<Value> arguments;
        for (Value product : products)
          arguments.push_back(program.input(product));
        for (int64_t scalar : op.getScalars())
          arguments.push_back(program.input(emitter.emit(op.getArrays()[scalar], pair)));
        Value mask = emitMask(program, pair, masked, false);
        Value x = program.inlineRegion(op.getMaximum(), arguments).front();
        if (mask) {
          Value least =
              arith::ConstantOp::create(program.builder(), loc, builder.getFloatAttr(real, leastOf(real)));
          x = arith::SelectOp::create(program.builder(), loc, mask, x, least);
        }
        Value tile = broadcastTile(builder, loc, program.emit(x).front(), pairType(pair));
        Value ofTile = tile::ReduceOp::create(builder, loc, tile::ReductionKind::max, tile, {"u"});
        rescaling = rescale(emitter, carried.front(), ofTile);
        next.push_back(rescaling.maximum);
      }
      SmallVector<Value> weights = emitWeights(pair, products, rescaling.maximum, masked, false);
      for (auto [place, index] : llvm::enumerate(looped)) {
        PairSumAttr sum = op.getSum(index);
        Value weight = weights[sum.getYielded()], before = carried[place + (op.hasMaximum() ? 1 : 0)];
        bool scaled = dependsOnMaximum(sum.getYielded());
        auto scale = [&](Value value) {
          return emitter.map({value, rescaling.factor},
                             [](OpBuilder &inner, Location at, ValueRange s) -> Value {
                               return arith::MulFOp::create(inner, at, s[0], s[1]);
                             });
        };
        if (scaled)
          before = scale(before);
        if (sum.getArray() >= 0) {
          Value column = emitter.emit(op.getArrays()[sum.getArray()], pair);
          next.push_back(tile::DotOp::create(builder, loc, weight, column, {"u"}, before));
        } else {
          Value ofTile = tile::ReduceOp::create(builder, loc, tile::ReductionKind::sum, weight, {"u"});
          next.push_back(
              emitter.map({before, ofTile}, [](OpBuilder &inner, Location at, ValueRange s) -> Value {
                return arith::AddFOp::create(inner, at, s[0], s[1]);
              }));
        }
      }
      return next;
    });
  }
  if (maximumResult >= 0)
    frame.tiles[op.getResult(maximumResult)] = sums.front();
  for (auto [place, index] : llvm::enumerate(looped))
    frame.tiles[op.getResult(index)] = sums[place + (op.hasMaximum() ? 1 : 0)];
}

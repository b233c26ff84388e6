// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of formulas and reductions.
#include "passes/LowerToTile/Emit/TileEmitter.h"
#include "passes/LowerToTile/Emit/TileMath.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/LoweringInterface.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace taylor;

/// 0 where a count is 0. Selecting after the fact is enough: the derivative has been taken, and it has the
/// same guard.
static void selectLive(ScalarProgram &program, Location loc, ValueRange counts,
                       MutableArrayRef<Value> results) {
  FloatMath math{program.builder(), loc};
  for (Value tile : counts) {
    Value count = program.input(tile);
    Value alive = arith::CmpFOp::create(program.builder(), loc, arith::CmpFPredicate::OGT, count,
                                        math.number(count.getType(), 0.0));
    for (Value &result : results)
      result = buildOrZero(program.builder(), loc, alive, result);
  }
}

SmallVector<Value> TileEmitter::emitRegion(Region &region, ValueRange arrays, ValueRange live, Frame &frame) {
  SmallVector<Value> tiles, counts;
  for (Value array : arrays)
    tiles.push_back(emit(array, frame));
  for (Value count : live)
    counts.push_back(emit(count, frame));
  noteChannels(region.getParentOp());
  ScalarProgram program(*this, frame);
  SmallVector<Value> arguments = llvm::map_to_vector(tiles, [&](Value tile) { return program.input(tile); });
  SmallVector<Value> results = program.inlineRegion(region, arguments);
  selectLive(program, loc, counts, results);
  return program.emit(results);
}

/// Tiles are wider than 16 bits; what reads the array reads it rounded, as who stores it rounds it anyway.
static Value emitMap(MapOp op, TileEmitter &emitter, Frame &frame) {
  Value tile = emitter.emitRegion(op.getBody(), op.getArrays(), op.getLive(), frame).front();
  ArrayType type = arrayTypeOf(op.getResult());
  bool isRead = llvm::any_of(op->getUsers(),
                             [](Operation *user) { return !isa<YieldOp>(user) && !fusion::isOfPlan(user); });
  if (type.getElementType() == type.getScalarType() || !isRead)
    return tile;
  ScalarProgram program(emitter, frame);
  OpBuilder &b = program.builder();
  Value wide = program.input(tile),
        narrow = arith::TruncFOp::create(b, op.getLoc(), type.getElementType(), wide);
  Value back = arith::ExtFOp::create(b, op.getLoc(), type.getScalarType(), narrow);
  return program.emit(back).front();
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Axes that a reduction's formula has: those of its operands and of the positions it reads.
static SmallVector<AxisRef> bodyAxes(ReduceOp op) {
  SmallVector<AxisRef> axes;
  auto note = [&](AxisRef axis) {
    if (!llvm::is_contained(axes, axis))
      axes.push_back(axis);
  };
  for (Value array : op.getArrays())
    for (StringAttr name : cast<ArrayType>(array.getType()).getAxes())
      note(name.getValue());
  op.getBody().walk([&](IndexOp index) { note(index.getAxis()); });
  return axes;
}

static bool sums(ReduceOp op, AxisRef axis) {
  return llvm::is_contained(op.getAxes().getAsValueRange<StringAttr>(), axis);
}

static bool sumsChannels(ReduceOp op) {
  return llvm::any_of(op.getAxes().getAsValueRange<StringAttr>(),
                      [](StringRef axis) { return !tile::isRole(axis) && axis != kGroup; });
}

/// The formula at one frame, summed over the channels it is reduced over.
static Value emitReduceBody(ReduceOp op, TileEmitter &emitter, Frame &frame) {
  // One guard per row after a sum over channels, not one per element before it.
  ValueRange none, live = op.getLive();
  bool isGuardedBehind = sumsChannels(op) && llvm::all_of(live, [&](Value count) {
                           return llvm::all_of(cast<ArrayType>(count.getType()).getAxes(),
                                               [](StringAttr axis) { return tile::isRole(axis); });
                         });
  Value tile = emitter.emitRegion(op.getBody(), op.getArrays(), isGuardedBehind ? none : live, frame).front();
  // What the formula does not depend on counts as often as the axis is long.
  SmallVector<tile::Axis> all;
  SmallVector<AxisRef> channels;
  for (StringRef axis : bodyAxes(op)) {
    if (isTokenAxis(axis))
      all.push_back(tile::Axis::get(emitter.builder.getContext(), axis, frame.size(axis)));
    else if (!tile::isRole(axis))
      all.push_back(tile::Axis::get(emitter.builder.getContext(), axis, emitter.channelSize(axis)));
    if (!tile::isRole(axis) && sums(op, axis))
      channels.push_back(axis);
  }
  auto type = cast<tile::TileType>(tile.getType());
  tile = broadcastTile(emitter.builder, emitter.loc, tile,
                       tile::TileType::get(emitter.builder.getContext(), all, type.getElementType()));
  if (channels.empty())
    return tile;
  Value reduced =
      tile::ReduceOp::create(emitter.builder, emitter.loc, tileKind(op.getKind()), tile, channels);
  if (op.getKind() == Reduction::Max) {
    // A target's maximum may leave a NaN out; a sum keeps it.
    Value keptNaN = emitter.map(tile, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
      Value isNaN = arith::CmpFOp::create(inner, where, arith::CmpFPredicate::UNO, s[0], s[0]);
      Value zero = arith::ConstantOp::create(inner, where, inner.getFloatAttr(s[0].getType(), 0.0));
      return arith::SelectOp::create(inner, where, isNaN, s[0], zero);
    });
    keptNaN =
        tile::ReduceOp::create(emitter.builder, emitter.loc, tile::ReductionKind::sum, keptNaN, channels);
    reduced = emitter.combine(Reduction::Sum, reduced, keptNaN);
  }
  if (live.empty() || !isGuardedBehind)
    return reduced;
  SmallVector<Value> counts =
      llvm::map_to_vector(live, [&](Value count) { return emitter.emit(count, frame); });
  ScalarProgram program(emitter, frame);
  SmallVector<Value> result{program.input(reduced)};
  selectLive(program, emitter.loc, counts, result);
  return program.emit(result).front();
}

/// Over the number of elements that a mean is over: of the axes of its formula, those that it sums.
static Value divideByCount(ReduceOp op, ArrayRef<AxisRef> axes, Value sum, TileEmitter &emitter) {
  emitter.noteChannels(op);
  double count = 1;
  Value runtime;
  for (StringRef axis : axes) {
    if (!sums(op, axis) && !(axis == AxisRole::Head && sums(op, kGroup)))
      continue;
    if (!tile::isRole(axis)) {
      count *= emitter.channelSize(axis);
      continue;
    }
    Value factor = !sums(op, axis) ? emitter.headsPerGroup()
                   : axis == AxisRole::Lag
                       ? emitter.add(emitter.size(AxisRole::Query), emitter.size(AxisRole::Key))
                       : emitter.size(axis);
    runtime = runtime ? Value(arith::MulIOp::create(emitter.builder, emitter.loc, runtime, factor)) : factor;
  }
  Type element = cast<tile::TileType>(sum.getType()).getElementType();
  FloatMath outside{emitter.builder, emitter.loc};
  Value divisor = outside.number(element, count);
  if (runtime) {
    Value integer =
        arith::IndexCastOp::create(emitter.builder, emitter.loc, emitter.builder.getI64Type(), runtime);
    divisor = outside.mul(divisor, arith::SIToFPOp::create(emitter.builder, emitter.loc, element, integer));
  }
  Value inverse = arith::DivFOp::create(emitter.builder, emitter.loc, outside.number(element, 1.0), divisor,
                                        tile::kRelaxedQuotient);
  return emitter.map(sum, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
    return arith::MulFOp::create(inner, where, s[0], inverse);
  });
}

/// Numbers along an axis of memory that a block adds at a time: as one tile, so that their loads are under
/// way together. One after the other where a target has few threads.
static int64_t countAtOnce(ReduceOp op, tile::TileType type, const TileSizes &sizes) {
  constexpr int64_t kMost = 32, kMostElements = 4096;
  if (sizes.rowSums == RowSums::Parts || op.getKind() == Reduction::Max)
    return 1;
  int64_t elements = 1;
  for (const tile::Axis &axis : type.getAxes())
    elements *= axis.getSize();
  return std::clamp<int64_t>(llvm::bit_floor(uint64_t(kMostElements / elements)), 1, kMost);
}

/// What lies in memory for a sum that has no formula and sums no channels: of a reduction over tokens its
/// sums over blocks.
static Value getSummedMemory(ReduceOp op, const TileEmitter &emitter) {
  if (Value partial = emitter.memory.partials.lookup(op))
    return partial;
  bool isPlain = op.getArrays().size() == 1 && op.getLive().empty() && !sumsChannels(op) &&
                 op.getBody().front().getTerminator()->getOperand(0) == op.getBody().getArgument(0);
  return isPlain ? emitter.memory.values.lookup(op.getArrays().front()) : Value();
}

static Value emitReduce(ReduceOp op, TileEmitter &emitter, Frame &frame) {
  auto resultType = cast<ArrayType>(op.getType());
  SmallVector<AxisRef> axes = bodyAxes(op);
  // Nested loops over b, h (or the heads of a group) and blocks of tokens, each with its own sum.
  SmallVector<StringRef> loops;
  for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead})
    if (llvm::is_contained(axes, axis) && sums(op, axis))
      loops.push_back(axis);
  if (sums(op, kGroup))
    loops.push_back(kGroup);
  Value partial = emitter.memory.partials.lookup(op);
  if (partial)
    loops.push_back(TileEmitter::kBlockAxis);
  tile::TileType type = emitter.tileType(resultType, frame);
  double initial = op.getKind() == Reduction::Max ? leastOf(type.getElementType()) : 0.0;
  // The innermost loop takes several steps at once.
  Value summed = loops.empty() || loops.back() == kGroup ? Value() : getSummedMemory(op, emitter);
  int64_t atOnce = summed ? countAtOnce(op, type, emitter.sizes) : 1;
  auto loadSeveral = [&](Frame &at) -> Value {
    StringRef axis = loops.back();
    SmallVector<tile::Axis> several{tile::Axis::get(emitter.builder.getContext(), axis, atOnce)};
    llvm::append_range(several, type.getAxes());
    // Past its end an array is 0.
    Value tile = emitter.loadStored(
        summed, tile::TileType::get(emitter.builder.getContext(), several, type.getElementType()), at, axis,
        TileEmitter::kBlockAxis);
    return tile::ReduceOp::create(emitter.builder, emitter.loc, tile::ReductionKind::sum, tile,
                                  {TileEmitter::kBlockAxis});
  };
  std::function<Value(size_t, Frame &)> nest = [&](size_t depth, Frame &at) -> Value {
    if (depth == loops.size() && atOnce > 1)
      return loadSeveral(at);
    if (depth == loops.size())
      return partial ? emitter.load(partial, type, at)
                     : broadcastTile(emitter.builder, emitter.loc, emitReduceBody(op, emitter, at), type);
    StringRef axis = loops[depth];
    Value end, base;
    std::string bound = axis.str();
    if (axis == kGroup) {
      end = emitter.headsPerGroup();
      base = arith::MulIOp::create(emitter.builder, emitter.loc, emitter.indexOf(AxisRole::KeyHead, at), end);
      bound = nameOf(AxisRole::Head);
    } else if (axis == TileEmitter::kBlockAxis) {
      end = arith::CeilDivSIOp::create(emitter.builder, emitter.loc,
                                       emitter.size(*llvm::find_if(axes, isTokenAxis)),
                                       emitter.constant(emitter.sizes.tokens));
    } else {
      end = emitter.size(axis);
    }
    Value start = emitter.splat(type, initial);
    return emitter
        .loop(emitter.constant(0), end, depth + 1 == loops.size() ? atOnce : 1, start,
              [&](Value index, ValueRange carried) {
                Frame inside = at;
                inside.indices[bound] = base ? emitter.add(base, index) : index;
                return SmallVector<Value>{
                    emitter.combine(op.getKind(), carried.front(), nest(depth + 1, inside))};
              })
        .front();
  };
  Value result = nest(0, frame);
  return op.getKind() == Reduction::Mean ? divideByCount(op, axes, result, emitter) : result;
}

Value TileEmitter::emitPartial(ReduceOp op, Frame &frame) {
  Value tile = emitReduceBody(op, *this, frame);
  auto type = cast<tile::TileType>(tile.getType());
  for (AxisRef token : {AxisRole::Query, AxisRole::Key, AxisRole::Lag}) {
    if (!type.hasAxis(token))
      continue;
    // What lies beyond the last token is no token.
    ScalarProgram program(*this, frame);
    Value value = program.input(tile), position = program.position(token);
    Value inside = arith::CmpIOp::create(program.builder(), loc, arith::CmpIPredicate::slt, position,
                                         endPosition(token));
    if (token == AxisRole::Lag) {
      Value first = firstPosition(token);
      Value after = arith::CmpIOp::create(program.builder(), loc, arith::CmpIPredicate::sge, position, first);
      inside = arith::AndIOp::create(program.builder(), loc, inside, after);
    }
    Value kept = buildOrZero(program.builder(), loc, inside, value);
    tile =
        tile::ReduceOp::create(builder, loc, tile::ReductionKind::sum, program.emit(kept).front(), {token});
  }
  return tile;
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {

struct MapLowering : LoweringOpInterface::ExternalModel<MapLowering, MapOp> {
  Value emitTile(Operation *op, Value, TileEmitter &emitter, Frame &frame) const {
    return emitMap(cast<MapOp>(op), emitter, frame);
  }
};

struct ReduceLowering : LoweringOpInterface::ExternalModel<ReduceLowering, ReduceOp> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    auto reduce = cast<ReduceOp>(op);
    auto onlyYielded = llvm::all_of(op->getUsers(), [](Operation *user) {
      return isa<YieldOp>(user) && isa<FunctionOp>(user->getParentOp());
    });
    if (reducesTokens(reduce))
      kept.keepParts(reduce);
    if (readsElsewhere(op) && !onlyYielded)
      kept.keep(reduce, "several blocks are summed");
  }
  bool readsElsewhere(Operation *op) const {
    return llvm::any_of(cast<ReduceOp>(op).getAxes().getAsValueRange<StringAttr>(),
                        [](StringRef axis) { return isRuntimeAxis(axis) || axis == kGroup; });
  }
  Value emitTile(Operation *op, Value, TileEmitter &emitter, Frame &frame) const {
    return emitReduce(cast<ReduceOp>(op), emitter, frame);
  }
};

} // namespace

void taylor::attachArrayOps(MLIRContext *context) {
  MapOp::attachInterface<MapLowering>(*context);
  ReduceOp::attachInterface<ReduceLowering>(*context);
}

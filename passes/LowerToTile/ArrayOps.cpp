// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of the operations that are local to tokens, channels and heads.
#include "passes/LowerToTile/TileEmitter.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace taylor;

namespace {

/// Float arithmetic inside a map.
struct FloatMath {
  OpBuilder &builder;
  Location loc;
  Value number(Type type, double x) const {
    return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, x));
  }
  Value add(Value a, Value b) const { return arith::AddFOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) const { return arith::SubFOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) const { return arith::MulFOp::create(builder, loc, a, b); }
  Value fma(Value a, Value b, Value c) const { return math::FmaOp::create(builder, loc, a, b, c); }
};

} // namespace

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
Value TileEmitter::emitMap(MapOp op, Frame &frame) {
  Value tile = emitRegion(op.getBody(), op.getArrays(), op.getLive(), frame).front();
  ArrayType type = arrayTypeOf(op.getResult());
  bool isRead = llvm::any_of(op->getUsers(), [](Operation *user) { return !isa<YieldOp>(user); });
  if (type.getElementType() == type.getScalarType() || !isRead)
    return tile;
  ScalarProgram program(*this, frame);
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

/// A mean is a sum, divided later.
static tile::ReductionKind tileKind(Reduction kind) {
  return kind == Reduction::Max ? tile::ReductionKind::max : tile::ReductionKind::sum;
}

static bool sums(ReduceOp op, AxisRef axis) {
  return llvm::is_contained(op.getAxes().getAsValueRange<StringAttr>(), axis);
}

Value TileEmitter::emitReduceBody(ReduceOp op, Frame &frame) {
  // One guard per row behind a sum over channels, not one per element before it.
  bool sumsChannels = llvm::any_of(op.getAxes().getAsValueRange<StringAttr>(),
                                   [](StringRef axis) { return !tile::isRole(axis) && axis != kGroup; });
  ValueRange none, live = op.getLive();
  bool isGuardedBehind = sumsChannels && llvm::all_of(live, [&](Value count) {
                           return llvm::all_of(cast<ArrayType>(count.getType()).getAxes(),
                                               [](StringAttr axis) { return tile::isRole(axis); });
                         });
  Value tile = emitRegion(op.getBody(), op.getArrays(), isGuardedBehind ? none : live, frame).front();
  // What the formula does not depend on counts as often as the axis is long.
  SmallVector<tile::Axis> all;
  SmallVector<AxisRef> channels;
  for (StringRef axis : bodyAxes(op)) {
    if (isTokenAxis(axis))
      all.push_back(tile::Axis::get(builder.getContext(), axis, frame.size(axis)));
    else if (!tile::isRole(axis))
      all.push_back(tile::Axis::get(builder.getContext(), axis, channelSize(axis)));
    if (!tile::isRole(axis) && sums(op, axis))
      channels.push_back(axis);
  }
  auto type = cast<tile::TileType>(tile.getType());
  tile = broadcastTile(builder, loc, tile,
                       tile::TileType::get(builder.getContext(), all, type.getElementType()));
  if (channels.empty())
    return tile;
  Value reduced = tile::ReduceOp::create(builder, loc, tileKind(op.getKind()), tile, channels);
  if (op.getKind() == Reduction::Max) {
    // A target's maximum may leave a NaN out; a sum keeps it.
    Value keptNaN = map(tile, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
      Value isNaN = arith::CmpFOp::create(inner, where, arith::CmpFPredicate::UNO, s[0], s[0]);
      Value zero = arith::ConstantOp::create(inner, where, inner.getFloatAttr(s[0].getType(), 0.0));
      return arith::SelectOp::create(inner, where, isNaN, s[0], zero);
    });
    keptNaN = tile::ReduceOp::create(builder, loc, tile::ReductionKind::sum, keptNaN, channels);
    reduced = combine(Reduction::Sum, reduced, keptNaN);
  }
  if (live.empty() || !isGuardedBehind)
    return reduced;
  SmallVector<Value> counts = llvm::map_to_vector(live, [&](Value count) { return emit(count, frame); });
  ScalarProgram program(*this, frame);
  SmallVector<Value> result{program.input(reduced)};
  selectLive(program, loc, counts, result);
  return program.emit(result).front();
}

Value TileEmitter::emitReduce(ReduceOp op, Frame &frame) {
  auto resultType = cast<ArrayType>(op.getType());
  SmallVector<AxisRef> axes = bodyAxes(op);
  // Nested loops over b, h (or the heads of a group) and blocks of tokens, each with its own sum.
  SmallVector<StringRef> loops;
  for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead})
    if (llvm::is_contained(axes, axis) && sums(op, axis))
      loops.push_back(axis);
  if (sums(op, kGroup))
    loops.push_back(kGroup);
  Value partial = memory.partials.lookup(op);
  if (partial)
    loops.push_back("blocks");
  tile::TileType type = tileType(resultType, frame);
  double initial = op.getKind() == Reduction::Max ? leastOf(type.getElementType()) : 0.0;

  std::function<Value(size_t, Frame &)> nest = [&](size_t depth, Frame &at) -> Value {
    if (depth == loops.size())
      return partial ? load(partial, type, at) : broadcastTile(builder, loc, emitReduceBody(op, at), type);
    StringRef axis = loops[depth];
    Value end, base;
    std::string bound = axis.str();
    if (axis == kGroup) {
      end = headsPerGroup();
      base = arith::MulIOp::create(builder, loc, indexOf(AxisRole::KeyHead, at), end);
      bound = nameOf(AxisRole::Head);
    } else if (axis == "blocks") {
      bound = blockAxis;
      end = arith::CeilDivSIOp::create(builder, loc, size(*llvm::find_if(axes, isTokenAxis)),
                                       constant(sizes.tokens));
    } else {
      end = size(axis);
    }
    Value start = splat(type, initial);
    return loop(constant(0), end, 1, start,
                [&](Value index, ValueRange carried) {
                  Frame inside = at;
                  inside.indices[bound] = base ? add(base, index) : index;
                  return SmallVector<Value>{combine(op.getKind(), carried.front(), nest(depth + 1, inside))};
                })
        .front();
  };
  Value result = nest(0, frame);
  if (op.getKind() != Reduction::Mean)
    return result;

  // The number of elements that a mean is over.
  noteChannels(op);
  double count = 1;
  Value runtime;
  for (StringRef axis : axes) {
    if (!sums(op, axis) && !(axis == AxisRole::Head && sums(op, kGroup)))
      continue;
    if (!tile::isRole(axis)) {
      count *= channelSize(axis);
      continue;
    }
    Value factor = !sums(op, axis)         ? headsPerGroup()
                   : axis == AxisRole::Lag ? add(size(AxisRole::Query), size(AxisRole::Key))
                                           : size(axis);
    runtime = runtime ? Value(arith::MulIOp::create(builder, loc, runtime, factor)) : factor;
  }
  Type element = type.getElementType();
  FloatMath outside{builder, loc};
  Value divisor = outside.number(element, count);
  if (runtime) {
    Value integer = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), runtime);
    divisor = outside.mul(divisor, arith::SIToFPOp::create(builder, loc, element, integer));
  }
  Value inverse =
      arith::DivFOp::create(builder, loc, outside.number(element, 1.0), divisor, tile::kRelaxedQuotient);
  return map(result, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
    return arith::MulFOp::create(inner, where, s[0], inverse);
  });
}

Value TileEmitter::emitPartial(ReduceOp op, Frame &frame) {
  Value tile = emitReduceBody(op, frame);
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
// Tokens
//===----------------------------------------------------------------------===//

Value TileEmitter::emitAlign(AlignOp op, Frame &frame) {
  // y[t] = x[offset + t] or y[u] = x[u - offset]: a window of the other axis; what lies outside is 0.
  AxisRef to = op.getAxis(), from = to == AxisRole::Query ? AxisRole::Key : AxisRole::Query;
  auto type = cast<ArrayType>(op.getArray().getType());
  Value offset = size(tile::kOffset);
  Value start = to == AxisRole::Query ? add(offset, frame.tStart)
                                      : Value(arith::SubIOp::create(builder, loc, frame.uStart, offset));
  Frame there = frame.at(from, start, frame.size(to));
  // What is read at other positions has memory (Partition).
  return loadStored(memory.values.lookup(op.getArray()), tileType(type, there), there, from, to);
}

Value TileEmitter::emitShifted(AxisRef token, int64_t amount, Value documents, Frame &frame,
                               function_ref<Value(Frame &)> emitThere) {
  Value start = arith::SubIOp::create(builder, loc, frame.start(token), constant(amount));
  Frame there = frame.at(token, start, frame.size(token));
  Value tile = emitThere(there);
  SmallVector<Value> ends;
  if (documents)
    ends = {emit(documents, frame), emit(documents, there)};
  ScalarProgram program(*this, there);
  Value value = program.input(tile), position = program.position(token);
  Value first = firstPosition(token), end = endPosition(token);
  OpBuilder &inner = program.builder();
  Value after = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::sge, position, first);
  Value before = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt, position, end);
  Value inside = arith::AndIOp::create(inner, loc, after, before);
  if (documents) {
    Value same = arith::CmpFOp::create(inner, loc, arith::CmpFPredicate::OEQ, program.input(ends[0]),
                                       program.input(ends[1]));
    inside = arith::AndIOp::create(inner, loc, inside, same);
  }
  return program.emit(ValueRange{buildOrZero(inner, loc, inside, value)}).front();
}

Value TileEmitter::emitShift(ScanOp op, Frame &frame) {
  // y[u] = F[u - n]: the formula at a window further back.
  return emitShifted(
      op.getAxis(), op.getReverse() ? -op.getAmount() : op.getAmount(), op.getWithin(), frame,
      [&](Frame &there) { return emitRegion(op.getBody(), op.getArrays(), {}, there).front(); });
}

Value TileEmitter::emitConvolve(ConvolveOp op, Frame &frame) {
  // y[t] = sum_j w[j] x[t - J + 1 + j]: one window per tap.
  StringRef taps = op.getTapAxis();
  int64_t count = op.getNumTaps();
  Value weights = emit(op.getTaps(), frame);
  tile::TileType type = tileType(cast<ArrayType>(op.getType()), frame);
  Value sum = splat(type, 0.0);
  for (int64_t j = 0; j < count; ++j) {
    int64_t back = count - 1 - j;
    Value x = emitShifted(tokenAxis(cast<ArrayType>(op.getType())), op.getReverse() ? -back : back,
                          op.getWithin(), frame, [&](Frame &there) { return emit(op.getArray(), there); });
    SmallVector<tile::Axis> axes(cast<tile::TileType>(weights.getType()).getAxes());
    for (tile::Axis &axis : axes)
      if (axis.getName() == taps)
        axis = tile::Axis::get(builder.getContext(), taps, 1);
    auto one = tile::TileType::get(builder.getContext(), axes, type.getElementType());
    Value weight = tile::SliceOp::create(builder, loc, one, weights, taps, j, int64_t(1), int64_t(1));
    weight = tile::ReduceOp::create(builder, loc, tile::ReductionKind::sum, weight, {taps});
    sum = map({sum, x, weight}, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
      return FloatMath{inner, where}.fma(s[1], s[2], s[0]);
    });
  }
  return sum;
}

/// The tile in f64: parts of a running sum are what it is rounded to at the end.
static tile::TileType inDouble(tile::TileType type) {
  return tile::TileType::get(type.getContext(), type.getAxes(), Float64Type::get(type.getContext()));
}

SmallVector<Value> TileEmitter::emitFirstCarry(ScanOp op, const Frame &frame) {
  auto without = [&](Value array) {
    return tileType(cast<ArrayType>(array.getType()), frame).without({op.getAxis()});
  };
  auto start = [&](Value array, double value) {
    return splat(op.isPart() ? inDouble(without(array)) : without(array), value);
  };
  SmallVector<Value> first{start(op, op.getIdentity())};
  if (op.getWithin())
    first.push_back(start(op.getWithin(), 0.0));
  return first;
}

std::pair<Value, SmallVector<Value>> TileEmitter::emitScan(ScanOp op, ValueRange carried, Frame &frame) {
  StringRef token = op.getAxis();
  Value tile = emitRegion(op.getBody(), op.getArrays(), {}, frame).front();
  tile = broadcastTile(builder, loc, tile, tileType(cast<ArrayType>(op.getType()), frame));
  ScalarProgram program(*this, frame);
  Value value = program.input(tile), position = program.position(token);
  Value end =
      token == AxisRole::Query ? add(size(tile::kOffset), size(AxisRole::Query)) : size(AxisRole::Key);
  Value inside = arith::CmpIOp::create(program.builder(), loc, arith::CmpIPredicate::slt, position, end);
  auto widen = [&](OpBuilder &inner, Value scalar) -> Value {
    return op.isPart() ? arith::ExtFOp::create(inner, loc, inner.getF64Type(), scalar) : scalar;
  };
  value = widen(program.builder(), value);
  Value none = FloatMath{program.builder(), loc}.number(value.getType(), op.getIdentity());
  Value term =
      program.emit(ValueRange{arith::SelectOp::create(program.builder(), loc, inside, value, none)}).front();

  Reduction kind = op.getKind() == ScanKind::Max ? Reduction::Max : Reduction::Sum;
  Value carry = carried.front(), document, last;
  if (op.getWithin()) {
    // The documents of a block, of its last token (the first, from the end), and of what is carried: there is
    // only as much of it as the document goes on.
    bool reverse = op.getReverse();
    document = emit(op.getWithin(), frame);
    ScalarProgram numbers(*this, frame);
    Value number = widen(numbers.builder(), numbers.input(document));
    Value isThere = arith::CmpIOp::create(numbers.builder(), loc, arith::CmpIPredicate::slt,
                                          numbers.position(token), end);
    Value outside = FloatMath{numbers.builder(), loc}.number(
        number.getType(), reverse ? -leastOf(number.getType()) : leastOf(number.getType()));
    Value known =
        numbers.emit(ValueRange{arith::SelectOp::create(numbers.builder(), loc, isThere, number, outside)})
            .front();
    last = tile::ReduceOp::create(builder, loc, reverse ? tile::ReductionKind::min : tile::ReductionKind::max,
                                  known, {token});
    document = broadcastTile(builder, loc, known, cast<tile::TileType>(term.getType()));
  }
  auto selectSame = [&](Value x, Value ofX, Value wanted) -> Value {
    return op.getWithin()
               ? map({x, ofX, wanted},
                     [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
                       Value same =
                           arith::CmpFOp::create(inner, where, arith::CmpFPredicate::OEQ, s[1], s[2]);
                       Value none = FloatMath{inner, where}.number(s[0].getType(), op.getIdentity());
                       return arith::SelectOp::create(inner, where, same, s[0], none);
                     })
               : x;
  };
  Value scanned = tile::ScanOp::create(builder, loc, term.getType(), tileKind(kind), term, document, token,
                                       op.getExclusive(), op.getReverse());
  Value before = carry;
  if (op.getWithin())
    before = selectSame(broadcastTile(builder, loc, carry, cast<tile::TileType>(term.getType())), document,
                        carried[1]);
  Value rest = selectSame(term, document, last);
  Value whole = tile::ReduceOp::create(builder, loc, tileKind(kind), rest, {token});
  Value result = combine(kind, scanned, before);
  SmallVector<Value> next{
      combine(kind, selectSame(carry, last, op.getWithin() ? carried[1] : Value()), whole)};
  if (op.getWithin())
    next.push_back(last);
  if (op.isPart())
    result = map({result}, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
      bool isHigh = op.getKind() == ScanKind::High;
      Value part = isHigh ? s[0] : buildRest(inner, where, s[0], inner.getF32Type());
      return arith::TruncFOp::create(inner, where, inner.getF32Type(), part);
    });
  return {result, next};
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

AngleTable AngleTable::of(RopeOp op) {
  auto type = cast<ArrayType>(op.getType());
  return {op.getToken(),
          op.getPositions(),
          type.sizeOf(op.getChannel()),
          op.getTheta().convertToDouble(),
          int64_t(op.getOffset()),
          type.getScalarType()};
}

SmallVector<AxisRef> AngleTable::axes() const {
  if (positions && cast<ArrayType>(positions.getType()).has(AxisRole::Batch))
    return {AxisRole::Batch, token};
  return {token};
}

Value TileEmitter::emitRope(RopeOp op, Frame &frame) {
  AngleTable wanted = AngleTable::of(op);
  StringRef channel = op.getChannel();
  auto entry = llvm::find_if(memory.angles, [&](auto &entry) { return std::get<0>(entry) == wanted; });
  auto tableType =
      tile::TileType::get(builder.getContext(),
                          {tile::Axis::get(builder.getContext(), wanted.token, frame.size(wanted.token)),
                           tile::Axis::get(builder.getContext(), channel, wanted.channels / 2)},
                          wanted.elementType);
  SmallVector<AxisRef> axes = wanted.axes(), tileAxes = axes;
  SmallVector<Value> offsets = llvm::map_to_vector(
      axes, [&](StringRef axis) { return axis == wanted.token ? frame.start(axis) : indexOf(axis, frame); });
  axes.push_back(angleAxis);
  tileAxes.push_back(channel);
  offsets.push_back(constant(0));
  auto loadTable = [&](Value table) -> Value {
    return tile::LoadOp::create(builder, loc, tableType, table, axesAttr(builder, axes),
                                axesAttr(builder, tileAxes), offsets, /*inside=*/false);
  };
  Value cosines = loadTable(std::get<1>(*entry)), sines = loadTable(std::get<2>(*entry));

  Value x = emit(op.getArray(), frame);
  bool half = op.getLayout() == RopeLayout::Half;
  int64_t pairs = wanted.channels / 2;
  auto xType = cast<tile::TileType>(x.getType());
  SmallVector<tile::Axis> partAxes(xType.getAxes());
  for (tile::Axis &axis : partAxes)
    if (axis.getName() == channel)
      axis = tile::Axis::get(builder.getContext(), channel, pairs);
  auto part = tile::TileType::get(builder.getContext(), partAxes, xType.getElementType());
  auto slice = [&](int64_t which) -> Value {
    return tile::SliceOp::create(builder, loc, part, x, channel, half ? which * pairs : which, pairs,
                                 half ? 1 : 2);
  };
  Value first = slice(0), second = slice(1);
  // (a, b) -> (a cos - b sin, b cos + a sin); backwards with the opposite sine
  bool inverse = op.getInverse();
  auto rotate = [&](Value a, Value b, bool minus) {
    return map({a, b, cosines, sines}, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
      FloatMath math{inner, where};
      Value kept = math.mul(s[0], s[2]), other = math.mul(s[1], s[3]);
      return minus ? math.sub(kept, other) : math.add(kept, other);
    });
  };
  Value y0 = rotate(first, second, !inverse), y1 = rotate(second, first, inverse);
  return tile::ConcatOp::create(builder, loc, xType, y0, y1, channel, !half);
}

void TileEmitter::emitAngles(const AngleTable &table, Value cosines, Value sines, Frame &frame) {
  MLIRContext *context = builder.getContext();
  auto channelType = tile::TileType::get(context, {tile::Axis::get(context, angleAxis, table.channels / 2)},
                                         builder.getIndexType());
  Value channel = tile::PositionOp::create(builder, loc, channelType, constant(0));
  Type f64 = builder.getF64Type();
  auto toFloat = [&](OpBuilder &inner, Location where, Value index) -> Value {
    Value integer = arith::IndexCastOp::create(inner, where, builder.getI32Type(), index);
    return arith::SIToFPOp::create(inner, where, f64, integer);
  };
  Value frequency = map(channel, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
    FloatMath math{inner, where};
    Value exponent = math.mul(toFloat(inner, where, s[0]),
                              math.number(f64, -2.0 / double(table.channels) * std::log(table.theta)));
    return math::ExpOp::create(inner, where, exponent);
  });
  Value tokens = table.positions ? emit(table.positions, frame) : positions(table.token, frame);
  Value position = map(tokens, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
    FloatMath math{inner, where};
    Value number = s[0];
    if (!table.positions)
      number = toFloat(inner, where, number);
    else if (!number.getType().isF64())
      number = arith::ExtFOp::create(inner, where, f64, number);
    return math.add(number, math.number(f64, double(table.offset)));
  });
  auto both = tile::MapOp::create(
      builder, loc, {position, frequency}, [&](OpBuilder &inner, Location where, ValueRange s) {
        Value angle = FloatMath{inner, where}.mul(s[0], s[1]);
        auto entry = [&](Value x) -> Value {
          return table.elementType.isF64() ? x : arith::TruncFOp::create(inner, where, table.elementType, x);
        };
        return SmallVector<Value>{entry(math::CosOp::create(inner, where, angle)),
                                  entry(math::SinOp::create(inner, where, angle))};
      });
  store(both.getResult(0), cosines, frame);
  store(both.getResult(1), sines, frame);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of the operations along tokens: scans, alignments, convolutions, rotations, gated sums.
#include "passes/LowerToTile/Emit/TileEmitter.h"
#include "passes/LowerToTile/Emit/TileMath.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/LoweringInterface.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

using namespace mlir;
using namespace taylor;

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

static Value emitAlign(AlignOp op, TileEmitter &emitter, Frame &frame) {
  // y[t] = x[offset + t] or y[u] = x[u - offset]: a window of the other axis; what lies outside is 0.
  AxisRef to = op.getAxis(), from = to == AxisRole::Query ? AxisRole::Key : AxisRole::Query;
  auto type = cast<ArrayType>(op.getArray().getType());
  Value offset = emitter.size(tile::kOffset);
  Value start = to == AxisRole::Query
                    ? emitter.add(offset, frame.tStart)
                    : Value(arith::SubIOp::create(emitter.builder, emitter.loc, frame.uStart, offset));
  Frame there = frame.at(from, start, frame.size(to));
  // What is read at other positions has memory (taylor-keep-values).
  return emitter.loadStored(emitter.memory.values.lookup(op.getArray()), emitter.tileType(type, there), there,
                            from, to);
}

/// `amount` tokens back (or ahead, if negative): what `emitThere` makes at that window, 0 outside of the
/// array, and, if there are documents, in another one.
static Value emitShifted(TileEmitter &emitter, AxisRef token, int64_t amount, Value documents, Frame &frame,
                         function_ref<Value(Frame &)> emitThere) {
  Value start =
      arith::SubIOp::create(emitter.builder, emitter.loc, frame.start(token), emitter.constant(amount));
  Frame there = frame.at(token, start, frame.size(token));
  Value tile = emitThere(there);
  SmallVector<Value> ends;
  if (documents)
    ends = {emitter.emit(documents, frame), emitter.emit(documents, there)};
  ScalarProgram program(emitter, there);
  Value value = program.input(tile), position = program.position(token);
  Value first = emitter.firstPosition(token), end = emitter.endPosition(token);
  OpBuilder &inner = program.builder();
  Value after = arith::CmpIOp::create(inner, emitter.loc, arith::CmpIPredicate::sge, position, first);
  Value before = arith::CmpIOp::create(inner, emitter.loc, arith::CmpIPredicate::slt, position, end);
  Value inside = arith::AndIOp::create(inner, emitter.loc, after, before);
  if (documents) {
    Value same = arith::CmpFOp::create(inner, emitter.loc, arith::CmpFPredicate::OEQ, program.input(ends[0]),
                                       program.input(ends[1]));
    inside = arith::AndIOp::create(inner, emitter.loc, inside, same);
  }
  return program.emit(ValueRange{buildOrZero(inner, emitter.loc, inside, value)}).front();
}

static Value emitShift(ScanOp op, TileEmitter &emitter, Frame &frame) {
  // y[u] = F[u - n]: the formula at a window further back.
  return emitShifted(
      emitter, op.getAxis(), op.getReverse() ? -op.getAmount() : op.getAmount(), op.getWithin(), frame,
      [&](Frame &there) { return emitter.emitRegion(op.getBody(), op.getArrays(), {}, there).front(); });
}

static Value emitConvolve(ConvolveOp op, TileEmitter &emitter, Frame &frame) {
  // y[t] = sum_j w[j] x[t - J + 1 + j]: one window per tap.
  StringRef taps = op.getTapAxis();
  int64_t count = op.getNumTaps();
  Value weights = emitter.emit(op.getTaps(), frame);
  tile::TileType type = emitter.tileType(cast<ArrayType>(op.getType()), frame);
  Value sum = emitter.splat(type, 0.0);
  for (int64_t j = 0; j < count; ++j) {
    int64_t back = count - 1 - j;
    Value x =
        emitShifted(emitter, tokenAxis(cast<ArrayType>(op.getType())), op.getReverse() ? -back : back,
                    op.getWithin(), frame, [&](Frame &there) { return emitter.emit(op.getArray(), there); });
    SmallVector<tile::Axis> axes(cast<tile::TileType>(weights.getType()).getAxes());
    for (tile::Axis &axis : axes)
      if (axis.getName() == taps)
        axis = tile::Axis::get(emitter.builder.getContext(), taps, 1);
    auto one = tile::TileType::get(emitter.builder.getContext(), axes, type.getElementType());
    Value weight =
        tile::SliceOp::create(emitter.builder, emitter.loc, one, weights, taps, j, int64_t(1), int64_t(1));
    weight = tile::ReduceOp::create(emitter.builder, emitter.loc, tile::ReductionKind::sum, weight, {taps});
    sum = emitter.map({sum, x, weight}, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
      return FloatMath{inner, where}.fma(s[1], s[2], s[0]);
    });
  }
  return sum;
}

/// The tile in f64: parts of a running sum are what it is rounded to at the end.
static tile::TileType inDouble(tile::TileType type) {
  return tile::TileType::get(type.getContext(), type.getAxes(), Float64Type::get(type.getContext()));
}

/// What is carried at first.
static SmallVector<Value> emitFirstCarry(ScanOp op, TileEmitter &emitter, const Frame &frame) {
  auto without = [&](Value array) {
    return emitter.tileType(cast<ArrayType>(array.getType()), frame).without({op.getAxis()});
  };
  auto start = [&](Value array, double value) {
    return emitter.splat(op.isPart() ? inDouble(without(array)) : without(array), value);
  };
  SmallVector<Value> first{start(op, op.getIdentity())};
  if (op.getWithin())
    first.push_back(start(op.getWithin(), 0.0));
  return first;
}

/// One block of a running sum or maximum, combined with what is carried, and what is carried on: the last
/// result, and, within documents, the number of the last token's. Beyond the axis' end there are no terms.
static std::pair<Value, SmallVector<Value>> emitScan(ScanOp op, TileEmitter &emitter, ValueRange carried,
                                                     Frame &frame) {
  StringRef token = op.getAxis();
  Value tile = emitter.emitRegion(op.getBody(), op.getArrays(), {}, frame).front();
  tile = broadcastTile(emitter.builder, emitter.loc, tile,
                       emitter.tileType(cast<ArrayType>(op.getType()), frame));
  ScalarProgram program(emitter, frame);
  Value value = program.input(tile), position = program.position(token);
  Value end = token == AxisRole::Query
                  ? emitter.add(emitter.size(tile::kOffset), emitter.size(AxisRole::Query))
                  : emitter.size(AxisRole::Key);
  Value inside =
      arith::CmpIOp::create(program.builder(), emitter.loc, arith::CmpIPredicate::slt, position, end);
  auto widen = [&](OpBuilder &inner, Value scalar) -> Value {
    return op.isPart() ? arith::ExtFOp::create(inner, emitter.loc, inner.getF64Type(), scalar) : scalar;
  };
  value = widen(program.builder(), value);
  Value none = FloatMath{program.builder(), emitter.loc}.number(value.getType(), op.getIdentity());
  Value term =
      program.emit(ValueRange{arith::SelectOp::create(program.builder(), emitter.loc, inside, value, none)})
          .front();

  Reduction kind = op.getKind() == ScanKind::Max ? Reduction::Max : Reduction::Sum;
  Value carry = carried.front(), document, last;
  if (op.getWithin()) {
    // The documents of a block, of its last token (the first, from the end), and of what is carried: there is
    // only as much of it as the document goes on.
    bool reverse = op.getReverse();
    document = emitter.emit(op.getWithin(), frame);
    ScalarProgram numbers(emitter, frame);
    Value number = widen(numbers.builder(), numbers.input(document));
    Value isThere = arith::CmpIOp::create(numbers.builder(), emitter.loc, arith::CmpIPredicate::slt,
                                          numbers.position(token), end);
    Value outside = FloatMath{numbers.builder(), emitter.loc}.number(
        number.getType(), reverse ? -leastOf(number.getType()) : leastOf(number.getType()));
    Value known = numbers
                      .emit(ValueRange{
                          arith::SelectOp::create(numbers.builder(), emitter.loc, isThere, number, outside)})
                      .front();
    last =
        tile::ReduceOp::create(emitter.builder, emitter.loc,
                               reverse ? tile::ReductionKind::min : tile::ReductionKind::max, known, {token});
    document = broadcastTile(emitter.builder, emitter.loc, known, cast<tile::TileType>(term.getType()));
  }
  auto selectSame = [&](Value x, Value ofX, Value wanted) -> Value {
    return op.getWithin()
               ? emitter.map({x, ofX, wanted},
                             [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
                               Value same =
                                   arith::CmpFOp::create(inner, where, arith::CmpFPredicate::OEQ, s[1], s[2]);
                               Value none = FloatMath{inner, where}.number(s[0].getType(), op.getIdentity());
                               return arith::SelectOp::create(inner, where, same, s[0], none);
                             })
               : x;
  };
  Value scanned = tile::ScanOp::create(emitter.builder, emitter.loc, term.getType(), tileKind(kind), term,
                                       document, token, op.getExclusive(), op.getReverse());
  Value before = carry;
  if (op.getWithin())
    before =
        selectSame(broadcastTile(emitter.builder, emitter.loc, carry, cast<tile::TileType>(term.getType())),
                   document, carried[1]);
  Value rest = selectSame(term, document, last);
  Value whole = tile::ReduceOp::create(emitter.builder, emitter.loc, tileKind(kind), rest, {token});
  Value result = emitter.combine(kind, scanned, before);
  SmallVector<Value> next{
      emitter.combine(kind, selectSame(carry, last, op.getWithin() ? carried[1] : Value()), whole)};
  if (op.getWithin())
    next.push_back(last);
  if (op.isPart())
    result = emitter.map({result}, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
      bool isHigh = op.getKind() == ScanKind::High;
      Value part = isHigh ? s[0] : buildRest(inner, where, s[0], inner.getF32Type());
      return arith::TruncFOp::create(inner, where, inner.getF32Type(), part);
    });
  return {result, next};
}

//===----------------------------------------------------------------------===//
// Gated sums
//===----------------------------------------------------------------------===//

/// y = a y + x, one token after the other, with all channels at once.
static void emitGatedSum(GatedSumOp op, TileEmitter &emitter, Frame &frame, StoreTile store) {
  AxisRef token = op.getToken();
  OpBuilder &builder = emitter.builder;
  Value zero = emitter.constant(0), one = emitter.constant(1), tokens = emitter.size(token);
  auto atToken = [&](Value index) { return frame.at(token, index, /*size=*/0); };
  auto start = [&](Value array) {
    return emitter.splat(emitter.tileType(arrayTypeOf(array), atToken(zero)), 0.0);
  };
  SmallVector<Value> first{start(op.getResult())};
  if (op.getWithin())
    first.push_back(start(op.getWithin()));
  emitter.loop(zero, tokens, 1, first, [&](Value step, ValueRange carried) {
    Value isLater = arith::CmpIOp::create(builder, emitter.loc, arith::CmpIPredicate::sgt, step, zero);
    // Between two tokens the gate of the later one counts.
    Value index = step, later = step;
    if (op.getReverse()) {
      Value last = arith::SubIOp::create(builder, emitter.loc, tokens, one);
      index = arith::SubIOp::create(builder, emitter.loc, last, step);
      later = arith::MinSIOp::create(builder, emitter.loc, emitter.add(index, one), last);
    }
    Frame here = atToken(index), ofGate = atToken(later);
    SmallVector<Value> tiles{emitter.emit(op.getArray(), here), emitter.emit(op.getGates(), ofGate),
                             carried.front()};
    if (op.getWithin())
      tiles.append({emitter.emit(op.getWithin(), here), carried[1]});
    Value sum = emitter.map(tiles, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
      Value goesOn = isLater;
      if (op.getWithin()) {
        Value same = arith::CmpFOp::create(inner, where, arith::CmpFPredicate::OEQ, s[3], s[4]);
        goesOn = arith::AndIOp::create(inner, where, goesOn, same);
      }
      Value next = FloatMath{inner, where}.fma(s[1], s[2], s[0]);
      return arith::SelectOp::create(inner, where, goesOn, next, s[0]);
    });
    store(sum, here);
    SmallVector<Value> next{sum};
    if (op.getWithin())
      next.push_back(tiles[3]);
    return next;
  });
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

static AngleTable anglesOf(RopeOp op) {
  auto type = cast<ArrayType>(op.getType());
  return {op.getToken(),
          op.getPositions(),
          type.sizeOf(op.getChannel()),
          op.getTheta().convertToDouble(),
          int64_t(op.getOffset()),
          type.getScalarType()};
}

static Value emitRope(RopeOp op, TileEmitter &emitter, Frame &frame) {
  AngleTable wanted = anglesOf(op);
  StringRef channel = op.getChannel();
  auto entry =
      llvm::find_if(emitter.memory.angles, [&](auto &entry) { return std::get<0>(entry) == wanted; });
  auto tableType = tile::TileType::get(
      emitter.builder.getContext(),
      {tile::Axis::get(emitter.builder.getContext(), wanted.token, frame.size(wanted.token)),
       tile::Axis::get(emitter.builder.getContext(), channel, wanted.channels / 2)},
      wanted.elementType);
  SmallVector<AxisRef> axes = wanted.axes(), tileAxes = axes;
  SmallVector<Value> offsets = llvm::map_to_vector(axes, [&](StringRef axis) {
    return axis == wanted.token ? frame.start(axis) : emitter.indexOf(axis, frame);
  });
  axes.push_back(TileEmitter::kAngleAxis);
  tileAxes.push_back(channel);
  offsets.push_back(emitter.constant(0));
  auto loadTable = [&](Value table) -> Value {
    return tile::LoadOp::create(emitter.builder, emitter.loc, tableType, table,
                                axesAttr(emitter.builder, axes), axesAttr(emitter.builder, tileAxes), offsets,
                                /*inside=*/false);
  };
  Value cosines = loadTable(std::get<1>(*entry)), sines = loadTable(std::get<2>(*entry));

  Value x = emitter.emit(op.getArray(), frame);
  bool half = op.getLayout() == RopeLayout::Half;
  int64_t pairs = wanted.channels / 2;
  auto xType = cast<tile::TileType>(x.getType());
  SmallVector<tile::Axis> partAxes(xType.getAxes());
  for (tile::Axis &axis : partAxes)
    if (axis.getName() == channel)
      axis = tile::Axis::get(emitter.builder.getContext(), channel, pairs);
  auto part = tile::TileType::get(emitter.builder.getContext(), partAxes, xType.getElementType());
  auto slice = [&](int64_t which) -> Value {
    return tile::SliceOp::create(emitter.builder, emitter.loc, part, x, channel, half ? which * pairs : which,
                                 pairs, half ? 1 : 2);
  };
  Value first = slice(0), second = slice(1);
  // (a, b) -> (a cos - b sin, b cos + a sin); backwards with the opposite sine
  bool inverse = op.getInverse();
  auto rotate = [&](Value a, Value b, bool minus) {
    return emitter.map({a, b, cosines, sines}, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
      FloatMath math{inner, where};
      Value kept = math.mul(s[0], s[2]), other = math.mul(s[1], s[3]);
      return minus ? math.sub(kept, other) : math.add(kept, other);
    });
  };
  Value y0 = rotate(first, second, !inverse), y1 = rotate(second, first, inverse);
  return tile::ConcatOp::create(emitter.builder, emitter.loc, xType, y0, y1, channel, !half);
}

SmallVector<AxisRef> AngleTable::axes() const {
  if (positions && cast<ArrayType>(positions.getType()).has(AxisRole::Batch))
    return {AxisRole::Batch, token};
  return {token};
}

void TileEmitter::emitAngles(const AngleTable &table, Value cosines, Value sines, Frame &frame) {
  MLIRContext *context = builder.getContext();
  auto channelType = tile::TileType::get(context, {tile::Axis::get(context, kAngleAxis, table.channels / 2)},
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

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Whether nothing but maps stands between the value and the function's results.
static bool isFinished(Value value) {
  llvm::SetVector<Value> values; // each once: values share users
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers())
      if (isa<MapOp>(user))
        values.insert(user->getResult(0));
      else if (!isa<YieldOp>(user))
        return false;
  return true;
}

namespace {

/// Of what reads other tokens than its own block's.
template <typename Model, typename Op> struct TokenLowering : LoweringOpInterface::ExternalModel<Model, Op> {
  bool readsElsewhere(Operation *) const { return true; }
};

struct AlignLowering : TokenLowering<AlignLowering, AlignOp> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    kept.keep(op->getOperand(0), "other tokens read it");
  }
  Value emitTile(Operation *op, Value, TileEmitter &emitter, Frame &frame) const {
    return emitAlign(cast<AlignOp>(op), emitter, frame);
  }
};

struct ConvolveLowering : TokenLowering<ConvolveLowering, ConvolveOp> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    auto convolve = cast<ConvolveOp>(op);
    kept.keep(convolve.getArray(), "each tap of a convolution reads it");
    if (convolve.getWithin())
      kept.keep(convolve.getWithin(), "other tokens read it");
    if (!isFinished(convolve))
      kept.keep(convolve, "a convolution is computed once");
  }
  Value emitTile(Operation *op, Value, TileEmitter &emitter, Frame &frame) const {
    return emitConvolve(cast<ConvolveOp>(op), emitter, frame);
  }
};

struct ScanLowering : TokenLowering<ScanLowering, ScanOp> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    auto scan = cast<ScanOp>(op);
    if (!scan.isShift())
      kept.keep(scan, "it is summed token after token");
    else // read at another place, where a block may lie across chunks
      for (Value array : scan.getArrays())
        if (kept.readsSums(array))
          kept.keep(array, "it is computed from sums, and other tokens read it");
    if (scan.getWithin())
      kept.keep(scan.getWithin(), "other tokens read it");
  }
  Value emitTile(Operation *op, Value, TileEmitter &emitter, Frame &frame) const {
    return emitShift(cast<ScanOp>(op), emitter, frame);
  }
  std::optional<AxisRef> getWalk(Operation *op) const {
    auto scan = cast<ScanOp>(op);
    return scan.isShift() ? std::nullopt : std::optional(scan.getToken());
  }
  void emitWalk(Operation *op, TileEmitter &emitter, Frame &frame, StoreTile store) const {
    auto scan = cast<ScanOp>(op);
    StringRef token = scan.getAxis();
    int64_t tokens = emitter.sizes.tokens;
    Value blocks = arith::CeilDivSIOp::create(emitter.builder, emitter.loc, emitter.size(token),
                                              emitter.constant(tokens));
    Frame probe = frame.at(token, emitter.constant(0), tokens);
    emitter.loop(emitter.constant(0), blocks, 1, emitFirstCarry(scan, emitter, probe),
                 [&](Value index, ValueRange carried) {
                   if (scan.getReverse()) {
                     Value last =
                         arith::SubIOp::create(emitter.builder, emitter.loc, blocks, emitter.constant(1));
                     index = arith::SubIOp::create(emitter.builder, emitter.loc, last, index);
                   }
                   Value start =
                       arith::MulIOp::create(emitter.builder, emitter.loc, index, emitter.constant(tokens));
                   Frame block = frame.at(token, start, tokens);
                   auto [tile, next] = emitScan(scan, emitter, carried, block);
                   store(tile, block);
                   return next;
                 });
  }
};

struct RopeLowering : LoweringOpInterface::ExternalModel<RopeLowering, RopeOp> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    if (Value positions = anglesOf(cast<RopeOp>(op)).positions)
      kept.keep(positions, "a table of angles is made of it");
  }
  /// Positions are read by the kernel that makes the table.
  OperandRange getTileOperands(Operation *op) const { return op->getOperands().take_front(); }
  std::optional<AngleTable> getAngles(Operation *op) const { return anglesOf(cast<RopeOp>(op)); }
  Value emitTile(Operation *op, Value, TileEmitter &emitter, Frame &frame) const {
    return emitRope(cast<RopeOp>(op), emitter, frame);
  }
};

struct GatedSumLowering : TokenLowering<GatedSumLowering, GatedSumOp> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    for (Value operand : op->getOperands()) // read token by token
      kept.keep(operand, "it is read token after token");
    kept.keep(op->getResult(0), "it is summed token after token");
  }
  Value emitTile(Operation *, Value, TileEmitter &, Frame &) const { llvm_unreachable("has memory"); }
  std::optional<AxisRef> getWalk(Operation *op) const { return cast<GatedSumOp>(op).getToken(); }
  void emitWalk(Operation *op, TileEmitter &emitter, Frame &frame, StoreTile store) const {
    emitGatedSum(cast<GatedSumOp>(op), emitter, frame, store);
  }
};

} // namespace

void taylor::attachTokenOps(MLIRContext *context) {
  AlignOp::attachInterface<AlignLowering>(*context);
  ConvolveOp::attachInterface<ConvolveLowering>(*context);
  GatedSumOp::attachInterface<GatedSumLowering>(*context);
  RopeOp::attachInterface<RopeLowering>(*context);
  ScanOp::attachInterface<ScanLowering>(*context);
}

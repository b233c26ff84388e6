// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles in another order: transposed copies, concatenation, scans.
#include "codegen/Targets/CPU/TileRearranger.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// A square of W x W units, lanes of `from` along `rows` of `to` and the other way round. A unit is an
/// element, or two neighbours of 16 bits.
void TileRearranger::transposeBlock(const TileView &from, const TileView &to, const Point &point,
                                    StringAttr rows, StringAttr lanes, Type unit) {
  int64_t elements = unit.getIntOrFloatBitWidth() / from.element.getIntOrFloatBitWidth();
  SmallVector<Value> vectors;
  for (int64_t i = 0; i < W; ++i)
    vectors.push_back(load(vectorOf(unit), address(from, point.moved(lanes, i))));
  transposeVectors(vectors);
  for (int64_t i = 0; i < W; ++i)
    store(vectors[i], address(to, point.moved(rows, i * elements)));
}

/// W x 2 W elements of 16 bits, lanes of `from` along `rows` of `to` and the other way round: neighbours
/// become words, which are transposed as such.
void TileRearranger::transposeNarrow(const TileView &from, const TileView &to, const Point &point,
                                     StringAttr rows, StringAttr lanes) {
  Type i16 = b.getI16Type(), words = vectorOf(b.getI32Type());
  SmallVector<Value> vectors;
  for (int64_t i = 0; i < W; ++i) {
    Value x = load(vectorOf(i16), address(from, point.moved(lanes, 2 * i)));
    Value y = load(vectorOf(i16), address(from, point.moved(lanes, 2 * i + 1)));
    vectors.push_back(vector::BitCastOp::create(b, words, interleave(x, y)));
  }
  transposeVectors(vectors);
  for (int64_t i = 0; i < W; ++i)
    store(vectors[i], address(to, point.moved(rows, i)));
}

/// Squares where both axes have whole ones, else element by element.
void TileRearranger::transposeTile(TileType type, const TileView &from, const TileView &to) {
  StringAttr rows = from.lane, lane = to.lane;
  bool narrow = from.element.getIntOrFloatBitWidth() == 16;
  int64_t laneStep = narrow ? 2 * W : W;
  bool whole = type.getSize(rows) % W == 0 && type.getSize(lane) % laneStep == 0;
  loopOver(type.getAxes(), {rows, lane}, Point{lane, {}}, [&](const Point &outer) {
    loopBlocks(type.getSize(lane), whole ? laneStep : 1, [&](Index i) {
      loopBlocks(type.getSize(rows), whole ? W : 1, [&](Index j) {
        Point point = outer.with(lane, i).with(rows, j);
        if (whole && narrow)
          transposeNarrow(from, to, point, rows, lane);
        else if (whole)
          transposeBlock(from, to, point, rows, lane, from.element);
        else
          store(load(narrow ? b.getI16Type() : from.element, address(from, point)), address(to, point));
      });
    });
  });
}

/// Rows 2k and 2k + 1 of `from` side by side at each lane of `to`.
void TileRearranger::emitPairs(Copy copy, const TileView &from, const TileView &to) {
  auto [value, lane, pairs] = copy;
  auto type = cast<TileType>(value.getType());
  int64_t lanes = type.getSize(lane), rows = type.getSize(pairs);
  Type i16 = b.getI16Type(), i32 = b.getI32Type();
  bool transposes = from.lane == pairs && lanes % W == 0 && rows % (2 * W) == 0;
  bool interleaves = from.lane == lane;
  int64_t laneStep = transposes || interleaves ? W : 1, rowStep = transposes ? 2 * W : 2;
  loopOver(type.getAxes(), {lane, pairs}, Point{lane, {}}, [&](const Point &outer) {
    loopBlocks(rows, rowStep, [&](Index row) {
      loopBlocks(interleaves ? vectorsOf(lanes) * W : lanes, laneStep, [&](Index first) {
        Point point = outer.with(lane, first).with(pairs, row);
        if (transposes)
          return transposeBlock(from, to, point, pairs, lane, i32);
        Type part = interleaves ? vectorOf(i16) : Type(VectorType::get({1}, i16));
        Value x = load(part, address(from, point)), y = load(part, address(from, point.moved(pairs, 1)));
        store(interleave(x, y), address(to, point));
      });
    });
  });
}

void TileRearranger::copyTile(Value from, TileView to) {
  auto type = cast<TileType>(from.getType());
  const TileView *source = tiles.findView(from, {});
  if (source && source->lane && to.lane && !tiles.findView(from, to.lane) && source->element == to.element)
    return transposeTile(type, TileView(*source), to);
  loopOver(type.getAxes(), {to.lane}, Point{to.lane, {}}, [&](const Point &row) {
    loopVectors(to.lane ? type.getSize(to.lane) : 1, [&](Index lane) {
      Point point = row.with(to.lane, lane);
      Locals locals;
      Value vector = tiles.fetch(from, point, locals);
      storeTile(to, vector, address(to, point));
    });
  });
}

void TileRearranger::emitPack(Copy copy) {
  auto [value, lane, pairs] = copy;
  auto type = cast<TileType>(value.getType());
  TileView to = tiles.placeView(*plan.placeOf(value, lane, pairs), lane);
  const TileView *source = tiles.findView(value, {});
  if (pairs) {
    to.pairs = pairs;
    const TileView from = *source;
    emitPairs(copy, from, to);
    tiles.addView(value, to);
    return;
  }
  if (source && source->lane && source->lane != lane)
    transposeTile(type, TileView(*source), to);
  else
    copyTile(value, to);
  tiles.addView(value, to);
}

void TileRearranger::emitConcat(ConcatOp concat) {
  StringAttr lane = plan.laneOf(concat.getResult()), axis = concat.getAxisAttr();
  tiles.definePlace(concat.getResult(), lane);
  const TileView to = *tiles.findView(concat.getResult(), lane);
  int64_t sizeA = concat.getA().getType().getSize(axis), sizeB = concat.getB().getType().getSize(axis);
  bool alongLanes = axis == lane;
  bool vectors = !alongLanes || (!concat.getInterleaved() && sizeA % W == 0 && sizeB % W == 0);
  for (bool second : {false, true}) {
    Value part = second ? concat.getB() : concat.getA();
    auto type = cast<TileType>(part.getType());
    auto shifted = [&](Point point) {
      for (auto &[name, index] : point.at)
        if (name == axis)
          index = concat.getInterleaved() ? add(multiply(index, 2), second ? 1 : 0)
                                          : index + (second ? sizeA : 0);
      return point;
    };
    loopOver(type.getAxes(), {lane}, Point{lane, {}}, [&](const Point &row) {
      loopBlocks(vectors ? vectorsOf(type.getSize(lane)) * W : type.getSize(lane), vectors ? W : 1,
                 [&](Index i) {
                   Point point = row.with(lane, i);
                   Locals locals;
                   if (vectors) {
                     store(tiles.fetch(part, point, locals), address(to, shifted(point)));
                   } else if (const TileView *from = tiles.findView(part, {})) {
                     store(load(from->element, address(*from, point)), address(to, shifted(point)));
                   } else {
                     store(vector::ExtractOp::create(b, tiles.fetch(part, point, locals), int64_t(0)),
                           address(to, shifted(point)));
                   }
                 });
    });
  }
}

void TileRearranger::emitScan(ScanOp scan) {
  StringAttr lane = plan.laneOf(scan.getResult()), axis = scan.getAxisAttr();
  tiles.definePlace(scan.getResult(), lane);
  TileType type = scan.getType();
  const TileView to = *tiles.findView(scan.getResult(), lane);
  int64_t size = type.getSize(axis);
  bool alongLanes = axis == lane;
  // Along the lanes element by element, else a vector of independent scans.
  auto scanFrom = [&](const Point &start) {
    Type carry = alongLanes ? to.element : vectorOf(to.element);
    Value none = identity(scan.getKind(), carry);
    // The sum so far, and of which document it is; the first needs none.
    auto loop = scf::ForOp::create(b, constant(0), constant(size), constant(1),
                                   scan.getWithin() ? ValueRange{none, none} : ValueRange{none});
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Value n = loop.getInductionVar();
    if (scan.getReverse())
      n = arith::SubIOp::create(b, constant(size - 1), n);
    Point point = start.with(axis, Index(n));
    auto read = [&](Value tile) -> Value {
      if (const TileView *from = tiles.findView(tile, {}); alongLanes && from)
        return load(to.element, address(*from, point));
      Locals locals;
      Value x = tiles.fetch(tile, point, locals);
      return alongLanes ? Value(vector::ExtractOp::create(b, x, int64_t(0))) : x;
    };
    Value x = read(scan.getInput());
    Value before = loop.getRegionIterArg(0);
    SmallVector<Value> next;
    if (scan.getWithin()) {
      next.push_back(read(scan.getWithin()));
      Value same = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, next[0], loop.getRegionIterArg(1));
      before = arith::SelectOp::create(b, same, before, none);
    }
    Value after = combine(scan.getKind(), before, x);
    if (scan.getKind() != ReductionKind::sum && isa<FloatType>(to.element)) {
      // A NaN stays to the end.
      Value isNaN = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, before, before);
      after = arith::SelectOp::create(b, isNaN, before, after);
    }
    store(scan.getExclusive() ? before : after, address(to, point));
    next.insert(next.begin(), after);
    scf::YieldOp::create(b, next);
  };
  loopOver(type.getAxes(), {lane, axis}, Point{lane, {}}, [&](const Point &row) {
    if (alongLanes)
      return scanFrom(row);
    loopBlocks(vectorsOf(type.getSize(lane)) * W, W, [&](Index i) { scanFrom(row.with(lane, i)); });
  });
}

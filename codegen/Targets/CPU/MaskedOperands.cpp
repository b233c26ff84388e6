// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that say which pairs count (tile.dot .. where). Weights are 0 at all others, so the mask matters
// only where the other operand holds an infinity or no number. One pass over that operand tells; if it does,
// its elements are cleared where the mask does not hold, as they are multiplied or, for the matrix unit, in a
// copy. So rows that do not see a token have the same bits whatever the token holds.
#include "codegen/Targets/CPU/MaskedOperands.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// 16-bit numbers as bits: what is not finite has all ones in the exponent.
static constexpr int64_t kMagnitude = 0x7fff, kExponent = 0x7f80, kHalfExponent = 0x7c00;

static Value splatOf(ImplicitLocOpBuilder &b, Type type, int64_t bits) {
  return arith::ConstantOp::create(b, type,
                                   DenseElementsAttr::get(cast<ShapedType>(type), b.getI16IntegerAttr(bits)));
}

Value MaskedOperands::finiteLanes(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (!type.getElementType().isBF16()) {
    Value zero = zeroOf(type);
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, arith::MulFOp::create(b, vector, zero), zero);
  }
  Type i16 = type.clone(b.getI16Type());
  Value bits = arith::BitcastOp::create(b, i16, vector);
  bits = arith::AndIOp::create(b, bits, splatOf(b, i16, kMagnitude));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bits, splatOf(b, i16, kExponent));
}

/// One pass over a tile's vectors: sums of x * 0, or the largest magnitude of 16-bit numbers as bits. There
/// are several, so that one need not wait for the other.
struct MaskedOperands::FiniteScan {
  static constexpr int64_t kSums = 4;
  using Sums = SmallVector<Value>;

  MaskedOperands &emitter;
  ImplicitLocOpBuilder &b;
  const TileView view;
  TileType type;
  StringAttr lane;
  bool isBits;
  Type unit;
  const int64_t W;
  int64_t size, perLane; ///< Lanes of pairs lie in two vectors.

  FiniteScan(MaskedOperands &emitter, Value tile)
      : emitter(emitter), b(emitter.b), view(emitter.tiles.anyView(tile)),
        type(cast<TileType>(tile.getType())), lane(view.lane),
        isBits(view.element.isBF16() || view.element.isF16()),
        unit(isBits ? Type(b.getI16Type()) : view.element), W(emitter.W), size(lane ? type.getSize(lane) : 1),
        perLane(view.pairs ? 2 : 1) {}

  int64_t vectors() const { return emitter.vectorsOf(size); }
  ReductionKind kind() const { return isBits ? ReductionKind::max : ReductionKind::sum; }

  Value addVector(Value sum, const Point &point, int64_t v, int64_t half) {
    Point there = point.moved(lane, v * W);
    Value x = emitter.load(emitter.vectorOf(unit),
                           emitter.gep(emitter.address(view, there), view.element, half * W));
    if ((v + 1) * W > size) {
      SmallVector<bool> inside;
      for (int64_t i = 0; i < W; ++i)
        inside.push_back(v * W + (half * W + i) / perLane < size);
      auto truth = cast<VectorType>(emitter.vectorOf(b.getI1Type()));
      Value mask = arith::ConstantOp::create(b, truth, DenseElementsAttr::get(truth, ArrayRef<bool>(inside)));
      x = arith::SelectOp::create(b, mask, x, emitter.zeroOf(x.getType()));
    }
    if (!isBits)
      return math::FmaOp::create(b, x, emitter.zeroOf(x.getType()), sum);
    x = arith::AndIOp::create(b, x, splatOf(b, x.getType(), kMagnitude));
    return emitter.combine(ReductionKind::max, x, sum);
  }

  Sums addVectors(const Point &point, int64_t first, int64_t past, ValueRange sums) {
    Sums next(sums);
    for (int64_t v = first, number = 0; v < past; ++v)
      for (int64_t half = 0; half < perLane; ++half, ++number)
        next[number % kSums] = addVector(next[number % kSums], point, v, half);
    return next;
  }

  /// Long rows in a loop: a basic block stays short.
  Sums addRow(const Point &point, ValueRange sums) {
    constexpr int64_t kInBlock = 32;
    int64_t looped = vectors() > kInBlock ? size / W / kSums * kSums : 0;
    if (!looped)
      return addVectors(point, 0, vectors(), sums);
    auto loop = scf::ForOp::create(b, emitter.constant(0), emitter.constant(looped * W),
                                   emitter.constant(kSums * W), sums);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(loop.getBody());
      Point there = point;
      for (auto &[axis, index] : there.at)
        if (axis == lane)
          index = Index(loop.getInductionVar());
      scf::YieldOp::create(b, addVectors(there, 0, kSums, loop.getRegionIterArgs()));
    }
    return addVectors(point, looped, vectors(), loop.getResults());
  }

  /// Loops over the axes `rest`, and then rows.
  Sums addAll(ArrayRef<Axis> rest, const Point &point, ValueRange sums) {
    if (rest.empty())
      return addRow(point, sums);
    int64_t step = rest.front().name == view.pairs ? 2 : 1, count = rest.front().getSize() / step;
    int64_t rows = rest.size() == 1 && count % kSums == 0 && vectors() * perLane < kSums ? kSums : 1;
    auto loop = scf::ForOp::create(b, emitter.constant(0), emitter.constant(count * step),
                                   emitter.constant(rows * step), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Sums next(loop.getRegionIterArgs());
    for (int64_t r = 0; r < rows; ++r) {
      // Each row begins with another sum.
      std::rotate(next.begin(), next.begin() + 1, next.end());
      next = addAll(rest.drop_front(),
                    point.with(rest.front().name, Index(loop.getInductionVar()) + r * step), next);
    }
    scf::YieldOp::create(b, next);
    return Sums(loop.getResults());
  }

  /// The sums' sum, or the largest magnitude.
  Value total() {
    SmallVector<Axis> axes;
    for (const Axis &axis : type.getAxes())
      if (axis.name != lane)
        axes.push_back(axis);
    Sums sums =
        addAll(axes, Point{lane, {}}.with(lane, 0), Sums(kSums, emitter.zeroOf(emitter.vectorOf(unit))));
    Value left = emitter.combine(kind(), sums[0], sums[1]), right = emitter.combine(kind(), sums[2], sums[3]);
    return emitter.horizontal(kind(), emitter.combine(kind(), left, right));
  }
};

Value MaskedOperands::emitIsFinite(Value tile) {
  FiniteScan scan(*this, tile);
  Value all = scan.total();
  if (!scan.isBits)
    return arith::CmpFOp::create(b, arith::CmpFPredicate::ORD, all, all);
  int64_t exponent = scan.view.element.isF16() ? kHalfExponent : kExponent;
  return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, all,
                               arith::ConstantOp::create(b, b.getI16IntegerAttr(exponent)));
}

Value MaskedOperands::clearMasked(DotOp dot, StringAttr pairs, Value vector, const Point &point) {
  auto visibleAt = [&](const Point &there) {
    Locals locals;
    return tiles.fetch(dot.getWhere(), there, locals);
  };
  Value visible = visibleAt(point);
  if (pairs)
    visible = interleave(visible, visibleAt(point.moved(pairs, 1)));
  Value keep = arith::OrIOp::create(b, visible, finiteLanes(vector));
  return arith::SelectOp::create(b, keep, vector, zeroOf(vector.getType()));
}

void MaskedOperands::copyCleared(TileType type, const TileView &from, const TileView &to) {
  loopOver(type.getAxes(), {}, Point{}, [&](const Point &point) {
    Value x = load(b.getI16Type(), elementAddress(from, point));
    Value magnitude =
        arith::AndIOp::create(b, x, arith::ConstantOp::create(b, b.getI16IntegerAttr(kMagnitude)));
    Value isFinite = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, magnitude,
                                           arith::ConstantOp::create(b, b.getI16IntegerAttr(kExponent)));
    store(arith::SelectOp::create(b, isFinite, x, zeroOf(x.getType())), elementAddress(to, point));
  });
}

void MaskedOperands::addVisible(DotOp dot, const TileView &weights, const TileView &values,
                                const TileView &sums) {
  TileType type = dot.getB().getType();
  SmallVector<Axis> others;
  for (const Axis &axis : dot.getType().getAxes())
    if (!type.hasAxis(axis.getName()))
      others.push_back(axis);
  loopOver(type.getAxes(), {}, Point{}, [&](const Point &point) {
    Value x = fromStorage(loadElements(values.element, elementAddress(values, point), {}), b.getF32Type());
    Value zero = zeroOf(x.getType());
    Value isBad =
        arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, arith::MulFOp::create(b, x, zero), zero);
    emitIf(isBad, [&] {
      loopOver(others, {}, point, [&](const Point &there) {
        Locals locals;
        Value visible = vector::ExtractOp::create(b, tiles.fetch(dot.getWhere(), there, locals), int64_t(0));
        emitIf(visible, [&] {
          Value w =
              fromStorage(loadElements(weights.element, elementAddress(weights, there), {}), b.getF32Type());
          Value where = address(sums, there), sum = load(sums.element, where);
          store(arith::AddFOp::create(b, sum, arith::MulFOp::create(b, w, x)), where);
        });
      });
    });
  });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one micro-kernel of all products: C[rows][vectors] += A[row, k] * B[k, vectors]. A's elements are
// broadcast from wherever they are, B is read as vectors along the lanes, C stays in registers over k.
#include "codegen/CPU/KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

KernelEmitter::Block2D KernelEmitter::emitProduct(const Sweep &sweep, const Point &point, StringAttr row,
                                                  int64_t rows, int64_t vectors) {
  DotOp dot = sweep.dot;
  Value a = dot.getA(), c = dot.getB();
  Value broadcast = a, vector = c;
  if (sweep.lane && cast<TileType>(a.getType()).hasAxis(sweep.lane))
    std::swap(broadcast, vector);
  // Copies, since fetching may define more views.
  const View viewA = *findView(broadcast, {});
  const View viewB = *findView(vector, sweep.lane ? sweep.lane : StringAttr());
  auto hasRow = [&](Value value) { return row && cast<TileType>(value.getType()).hasAxis(row); };
  Type result = dot.getType().getElementType();

  auto at = [&](int64_t r, int64_t v) {
    Point there = point;
    for (auto &[axis, index] : there.at)
      index = axis == row ? index + r : axis == sweep.lane ? index + v * W : index;
    return there;
  };
  SmallVector<Value> start;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v) {
      Locals locals;
      start.push_back(dot.getC() ? fetch(dot.getC(), at(r, v), locals) : zeroOf(vectorOf(result)));
    }

  // Addresses at k = 0: one per row where the row's stride is not known.
  SmallVector<Value> pointersA, pointersB;
  auto rowPointers = [&](const View &view, bool perRow, SmallVectorImpl<Value> &pointers) {
    bool knownStride = perRow && !view.stride(row).value;
    for (int64_t r = 0; r < (perRow && !knownStride ? rows : 1); ++r)
      pointers.push_back(address(view, at(r, 0)));
  };
  rowPointers(viewA, hasRow(broadcast), pointersA);
  rowPointers(viewB, hasRow(vector), pointersB);
  auto rowPointer = [&](const View &view, bool perRow, ArrayRef<Value> pointers, Index offset, int64_t r) {
    if (!perRow)
      return gep(pointers[0], view.element, offset);
    if (pointers.size() > 1)
      return gep(pointers[r], view.element, offset);
    return gep(pointers[0], view.element, offset + r * view.stride(row).constant);
  };
  auto convert = [&](Value x) {
    if (getElementTypeOrSelf(x.getType()) == result)
      return x;
    Type to = isa<VectorType>(x.getType()) ? vectorOf(result) : result;
    return Value(arith::ExtFOp::create(b, to, x));
  };

  SmallVector<Axis> over;
  for (StringAttr name : dot.getOver().getAsRange<StringAttr>())
    over.push_back(Axis::get(dot.getContext(), name, dot.getA().getType().getSize(name)));
  std::function<SmallVector<Value>(ArrayRef<Axis>, Index, Index, ValueRange)> sum =
      [&](ArrayRef<Axis> axes, Index offsetA, Index offsetB, ValueRange accumulators) -> SmallVector<Value> {
    if (axes.empty()) {
      SmallVector<Value> next;
      SmallVector<Value> vectorsB;
      for (int64_t r = 0; r < rows; ++r) {
        if (r == 0 || hasRow(vector)) {
          vectorsB.clear();
          Value base = rowPointer(viewB, hasRow(vector), pointersB, offsetB, r);
          for (int64_t v = 0; v < vectors; ++v)
            vectorsB.push_back(sweep.lane
                                   ? convert(load(vectorOf(viewB.element), gep(base, viewB.element, v * W)))
                                   : splat(convert(load(viewB.element, base))));
        }
        Value x =
            splat(convert(load(viewA.element, rowPointer(viewA, hasRow(broadcast), pointersA, offsetA, r))));
        for (int64_t v = 0; v < vectors; ++v)
          next.push_back(math::FmaOp::create(b, x, vectorsB[v], accumulators[r * vectors + v]));
      }
      return next;
    }
    const Axis &axis = axes.front();
    // Where the broadcast operand is masked with zeros, the sum starts late or ends early.
    Index begin = 0, end = axis.getSize();
    if (std::optional<Mask> mask = plan.maskOf(broadcast); mask && mask->outside.getValue().isZero())
      for (const Constraint &constraint : mask->constraints) {
        bool byRow = row && (constraint.plus == row || constraint.minus == row);
        if (constraint.plus == axis.name && (!constraint.minus || byRow))
          end = minimum(end, add(boundOf(constraint), byRow ? point.along(row) + rows : Index(1)));
        else if (constraint.minus == axis.name && (!constraint.plus || byRow))
          begin = maximum(begin, add(byRow ? point.along(row) : Index(0), multiply(boundOf(constraint), -1)));
      }
    auto loop = scf::ForOp::create(b, asValue(begin), asValue(end), constant(1), accumulators);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Index k(loop.getInductionVar());
    SmallVector<Value> next =
        sum(axes.drop_front(), add(offsetA, multiply(viewA.stride(axis.name), k)),
            add(offsetB, multiply(viewB.stride(axis.name), k)), loop.getRegionIterArgs());
    scf::YieldOp::create(b, next);
    return SmallVector<Value>(loop.getResults());
  };
  SmallVector<Value> flat = sum(over, 0, 0, start);
  Block2D block;
  for (int64_t r = 0; r < rows; ++r)
    block.emplace_back(flat.begin() + r * vectors, flat.begin() + (r + 1) * vectors);
  return block;
}

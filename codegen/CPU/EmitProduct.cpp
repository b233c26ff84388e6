// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one micro-kernel of all products: C[rows][vectors] += A[row, k] * B[k, vectors]. A's elements are
// broadcast from wherever they are, B is read as vectors along the lanes, C stays in registers over k. Of
// 16-bit numbers two are multiplied at a time, k and k + 1, which lie side by side in both operands.
#include "codegen/CPU/KernelEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
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
  StringAttr pairs = plan.pairsOf(dot);
  bool packedA = pairs && plan.laneOf(broadcast) != pairs;
  const View viewA = *findView(broadcast, {}, packedA ? pairs : StringAttr());
  const View viewB = *findView(vector, sweep.lane ? sweep.lane : StringAttr(), pairs);
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
  Type pairVector = VectorType::get({2 * W}, b.getBF16Type());
  auto loadA = [&](Value where) {
    if (!pairs)
      return splat(convert(loadTile(viewA, where, /*isVector=*/false)));
    // Two elements are one word; they need not be aligned as one.
    Value word = LLVM::LoadOp::create(b, b.getI32Type(), where, /*alignment=*/2);
    return Value(LLVM::BitcastOp::create(b, pairVector, splat(word)));
  };
  auto loadB = [&](Value base, int64_t v) {
    Value where = gep(base, viewB.element, v * W * (pairs ? 2 : 1));
    if (pairs)
      return Value(
          LLVM::BitcastOp::create(b, pairVector, load(VectorType::get({2 * W}, b.getI16Type()), where)));
    Value x = convert(loadTile(viewB, where, /*isVector=*/bool(sweep.lane)));
    return sweep.lane ? x : splat(x);
  };
  auto multiplyAdd = [&](Value x, Value y, Value sum) -> Value {
    if (!pairs)
      return math::FmaOp::create(b, x, y, sum);
    return LLVM::CallIntrinsicOp::create(
               b, sum.getType(), b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"), ValueRange{sum, x, y})
        .getResult(0);
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
            vectorsB.push_back(loadB(base, v));
        }
        Value x = loadA(rowPointer(viewA, hasRow(broadcast), pointersA, offsetA, r));
        for (int64_t v = 0; v < vectors; ++v)
          next.push_back(multiplyAdd(x, vectorsB[v], accumulators[r * vectors + v]));
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
    // Pairs as a whole: beyond its range the masked operand holds zeros.
    if (axis.name == pairs && (begin.value || end.value)) {
      begin = Index(arith::AndIOp::create(b, asValue(begin), constant(-2)));
      end = Index(arith::AndIOp::create(b, asValue(end + 1), constant(-2)));
    }
    int64_t step = axis.name == pairs ? 2 : 1;
    auto loop = scf::ForOp::create(b, asValue(begin), asValue(end), constant(step), accumulators);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one micro-kernel of all products: C[rows][vectors] += A[row, k] * B[k, vectors]. A's elements are
// broadcast from wherever they are, B is read as vectors along the lanes, C stays in registers over k. Of
// 16-bit numbers two are multiplied at a time, k and k + 1, which lie side by side in both operands.
#include "codegen/Targets/CPU/MicroKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// One block of a product.
struct MicroKernel::Product {
  struct Operand {
    TileView view; // a copy, since fetching may define more
    bool hasRow;
    SmallVector<Value> pointers = {}; // at k = 0: one per row where the row's stride is not known
  };
  const Point &point;
  StringAttr lane, row;
  StringAttr pairs; // as KernelPlan::pairsOf
  int64_t rows, vectors;
  Operand a, b;
  std::optional<Mask> maskOfA;
  Type element; // of the accumulators
  DotOp dot;
  bool clears = false;             // b of the operation is cleared where the mask does not hold
  bool isVectorCleared = false;    // that is what is read as vectors
  bool isHalved = false;           // of two vectors of bf16 the even and the odd lanes are two sums
  std::optional<Index> ahead = {}; // from a vector to one that will be read, where memory is waited for
};

VectorBlock MicroKernel::emitProduct(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows,
                                     int64_t vectors) {
  DotOp dot = sweep.dot;
  if (StringAttr over = plan.rowSumOf(dot))
    return emitRowSums(sweep, point, over, vectors);
  Value broadcast = dot.getA(), vector = dot.getB();
  if (sweep.lane && cast<TileType>(broadcast.getType()).hasAxis(sweep.lane))
    std::swap(broadcast, vector);
  StringAttr pairs = plan.pairsOf(dot);
  bool packedA = pairs && plan.laneOf(broadcast) != pairs;
  auto operand = [&](Value value, StringAttr lane, StringAttr pairs) {
    return Product::Operand{*tiles.findView(value, lane, pairs),
                            row && cast<TileType>(value.getType()).hasAxis(row)};
  };
  Product::Operand a = operand(broadcast, {}, packedA ? pairs : StringAttr());
  Product::Operand c = operand(vector, sweep.lane, pairs);
  Product product{
      point, sweep.lane, row, pairs, rows, vectors, a, c, maskOf(broadcast), dot.getType().getElementType(),
      dot};

  auto at = [&](int64_t r, int64_t v) { return point.moved(row, r).moved(sweep.lane, v * W); };
  SmallVector<Value> start;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v) {
      Locals locals;
      start.push_back(dot.getC() ? tiles.fetch(dot.getC(), at(r, v), locals)
                                 : zeroOf(vectorOf(product.element)));
    }
  for (Product::Operand *operand : {&product.a, &product.b}) {
    bool perRow = operand->hasRow && operand->view.stride(row).value;
    for (int64_t r = 0; r < (perRow ? rows : 1); ++r)
      operand->pointers.push_back(address(operand->view, at(r, 0)));
  }
  SmallVector<Axis> over;
  for (StringAttr name : dot.getOver().getAsRange<StringAttr>())
    over.push_back(Axis::get(dot.getContext(), name, dot.getA().getType().getSize(name)));
  if (over.size() == 1 && !pairs && sweep.lane)
    product.ahead = distanceAhead(vector, c.view, cast<TileType>(vector.getType()).getSize(sweep.lane),
                                  c.view.stride(over[0].name), 1);
  bool mayHalve = product.ahead && product.element.isF32() && c.view.element.isBF16() && vectors % 2 == 0;
  auto sum = [&](bool clears) {
    product.clears = clears;
    product.isHalved = mayHalve && !clears;
    return product.isHalved ? sumHalves(product, over, point, start)
                            : sumOver(product, over, 0, 0, point, start);
  };
  SmallVector<Value> flat;
  if (!dot.getWhere()) {
    flat = sum(false);
  } else {
    auto branch = [&](bool clears) {
      return [&, clears](OpBuilder &, Location) { scf::YieldOp::create(b, sum(clears)); };
    };
    product.isVectorCleared = vector == dot.getB();
    auto sums = scf::IfOp::create(b, masked.isFinite(), branch(false), branch(true));
    flat.assign(sums.result_begin(), sums.result_end());
  }
  VectorBlock block;
  for (int64_t r = 0; r < rows; ++r)
    block.emplace_back(flat.begin() + r * vectors, flat.begin() + (r + 1) * vectors);
  return block;
}

SmallVector<Value> MicroKernel::sumHalves(const Product &product, ArrayRef<Axis> axes, const Point &point,
                                          ArrayRef<Value> start) {
  SmallVector<Value> sums;
  for (size_t v = 0; v < start.size(); v += 2) {
    auto [even, odd] = separate(start[v], start[v + 1]);
    sums.append({even, odd});
  }
  sums = sumOver(product, axes, 0, 0, point, sums);
  for (size_t v = 0; v < sums.size(); v += 2)
    std::tie(sums[v], sums[v + 1]) = join(sums[v], sums[v + 1]);
  return sums;
}

SmallVector<Value> MicroKernel::sumOver(const Product &product, ArrayRef<Axis> axes, Index offsetA,
                                        Index offsetB, const Point &point, ValueRange accumulators) {
  if (axes.empty())
    return multiplyAdd(product, offsetA, offsetB, point, accumulators);
  const Axis &axis = axes.front();
  auto [begin, end] = sumRange(product, axis);
  int64_t step = axis.name == product.pairs ? 2 : 1;
  auto loop = scf::ForOp::create(b, asValue(begin), asValue(end), constant(step), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Index k(loop.getInductionVar());
  offsetA = add(offsetA, multiply(product.a.view.stride(axis.name), k));
  offsetB = add(offsetB, multiply(product.b.view.stride(axis.name), k));
  scf::YieldOp::create(b, sumOver(product, axes.drop_front(), offsetA, offsetB, point.with(axis.name, k),
                                  loop.getRegionIterArgs()));
  return SmallVector<Value>(loop.getResults());
}

std::pair<Index, Index> MicroKernel::sumRange(const Product &product, const Axis &axis) {
  StringAttr row = product.row;
  Index begin = 0, end = axis.getSize();
  if (product.maskOfA && product.maskOfA->outside.getValue().isZero())
    for (const Constraint &constraint : product.maskOfA->constraints) {
      bool byRow = row && (constraint.plus == row || constraint.minus == row);
      if (constraint.plus == axis.name && (!constraint.minus || byRow))
        end = minimum(
            end, add(tiles.boundOf(constraint), byRow ? product.point.along(row) + product.rows : Index(1)));
      else if (constraint.minus == axis.name && (!constraint.plus || byRow))
        begin = maximum(
            begin, add(byRow ? product.point.along(row) : Index(0), multiply(tiles.boundOf(constraint), -1)));
    }
  // Pairs as a whole: beyond its range the masked operand holds zeros.
  if (axis.name == product.pairs)
    return {wholeSteps(begin, 2, /*up=*/false), wholeSteps(end, 2, /*up=*/true)};
  return {begin, end};
}

SmallVector<Value> MicroKernel::multiplyAdd(const Product &product, Index offsetA, Index offsetB,
                                            const Point &point, ValueRange accumulators) {
  auto pointer = [&](const Product::Operand &operand, Index offset, int64_t r) {
    if (!operand.hasRow)
      r = 0;
    if (operand.pointers.size() > 1)
      return gep(operand.pointers[r], operand.view.element, offset);
    return gep(operand.pointers[0], operand.view.element,
               offset + r * operand.view.stride(product.row).constant);
  };
  SmallVector<Value> next, vectorsB;
  for (int64_t r = 0; r < product.rows; ++r) {
    if (r == 0 || product.b.hasRow) {
      vectorsB.clear();
      Value base = pointer(product.b, offsetB, r);
      if (product.ahead)
        prefetch(product.b.view, gep(base, product.b.view.element, *product.ahead), product.vectors * W);
      for (int64_t v = 0; v < product.vectors; v += product.isHalved ? 2 : 1) {
        Value where = gep(base, product.b.view.element, v * W * (product.pairs ? 2 : 1));
        if (product.isHalved) {
          auto [even, odd] = loadHalves(where);
          vectorsB.append({even, odd});
        } else {
          vectorsB.push_back(loadB(product, where));
        }
      }
    }
    Value broadcast = loadA(product, pointer(product.a, offsetA, r));
    for (int64_t v = 0; v < product.vectors; ++v) {
      Value sum = accumulators[r * product.vectors + v];
      Value y = vectorsB[v], x = broadcast;
      if (product.clears) {
        Value &cleared = product.isVectorCleared ? y : x;
        cleared = masked.clearMasked(product.dot, product.pairs, cleared,
                                     point.moved(product.row, r).moved(product.lane, v * W));
      }
      next.push_back(product.pairs
                         ? LLVM::CallIntrinsicOp::create(b, sum.getType(),
                                                         b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
                                                         ValueRange{sum, x, y})
                               .getResult(0)
                         : Value(math::FmaOp::create(b, x, y, sum)));
    }
  }
  return next;
}

Value MicroKernel::loadA(const Product &product, Value where) {
  if (!product.pairs)
    return splat(widen(loadTile(product.a.view, where, /*isVector=*/false), product.element));
  // Two elements are one word; they need not be aligned as one.
  Value word = LLVM::LoadOp::create(b, b.getI32Type(), where, /*alignment=*/2);
  return LLVM::BitcastOp::create(b, VectorType::get({2 * W}, b.getBF16Type()), splat(word));
}

Value MicroKernel::loadB(const Product &product, Value where) {
  if (product.pairs) {
    Value words = load(VectorType::get({2 * W}, b.getI16Type()), where);
    return LLVM::BitcastOp::create(b, VectorType::get({2 * W}, b.getBF16Type()), words);
  }
  Value x = widen(loadTile(product.b.view, where, /*isVector=*/bool(product.lane)), product.element);
  return product.lane ? x : splat(x);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of one row whose operands both lie along the axis that is summed over, as the scores of one query:
// each sum is made along the lanes, of what lies where it is, and nothing is transposed.
//
//   x0 * y   a b c d                       a+b  e+f  c+d  g+h
//   x1 * y   e f g h    -> pairs of rows
//   x2 * y   i j k l                       i+j  m+n  k+l  o+p    -> ..    a+b+c+d  e+..  i+..  m+..
//   x3 * y   m n o p
#include "codegen/CPU/KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// So many channels are summed without a loop.
static constexpr int64_t kMostUnrolled = 128;

Value KernelEmitter::sumEach(MutableArrayRef<Value> vectors) {
  for (int64_t s = 1; s < W; s *= 2)
    for (int64_t i = 0; i < W; i += 2 * s) {
      SmallVector<int64_t> low, high;
      for (int64_t j = 0; j < W; ++j) {
        low.push_back(j & s ? W + j - s : j);
        high.push_back(j & s ? W + j : j + s);
      }
      Value x = vectors[i], y = vectors[i + s];
      vectors[i] = arith::AddFOp::create(b, vector::ShuffleOp::create(b, x, y, low),
                                         vector::ShuffleOp::create(b, x, y, high));
    }
  return vectors[0];
}

KernelEmitter::Block2D KernelEmitter::emitRowSums(const Sweep &sweep, const Point &point, StringAttr over,
                                                  int64_t vectors) {
  DotOp dot = sweep.dot;
  Value many = dot.getA(), one = dot.getB();
  if (!cast<TileType>(many.getType()).hasAxis(sweep.lane))
    std::swap(many, one);
  const View rows = *findView(many, over), row = *findView(one, over);
  Type element = dot.getType().getElementType();
  int64_t size = cast<TileType>(one.getType()).getSize(over);
  Value start = address(row, point);
  Block2D block(1);
  for (int64_t v = 0; v < vectors; ++v) {
    SmallVector<Value> pointers;
    Value first = address(rows, point.moved(sweep.lane, v * W));
    for (int64_t i = 0; i < W; ++i)
      pointers.push_back(gep(first, rows.element, multiply(rows.stride(sweep.lane), i)));
    auto addStep = [&](Index k, ValueRange sums) {
      auto read = [&](const View &view, Value at) {
        return widen(loadTile(view, gep(at, view.element, k), /*isVector=*/true), element);
      };
      Value y = read(row, start);
      SmallVector<Value> next;
      for (auto [at, sum] : llvm::zip_equal(pointers, sums))
        next.push_back(math::FmaOp::create(b, read(rows, at), y, sum));
      return next;
    };
    SmallVector<Value> sums(W, zeroOf(vectorOf(element)));
    if (size <= kMostUnrolled) {
      for (int64_t k = 0; k < size; k += W)
        sums = addStep(k, sums);
    } else {
      auto loop = scf::ForOp::create(b, constant(0), constant(size), constant(W), sums);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(b, addStep(Index(loop.getInductionVar()), loop.getRegionIterArgs()));
      sums.assign(loop.result_begin(), loop.result_end());
    }
    block[0].push_back(sumEach(sums));
  }
  return block;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of one row whose operands both lie along the axis that is summed over, as the scores of one query:
// each sum is made along the lanes, of what lies where it is, and nothing is transposed.
//
//   x0 * y   a b c d                       a+b  e+f  c+d  g+h
//   x1 * y   e f g h    -> pairs of rows
//   x2 * y   i j k l                       i+j  m+n  k+l  o+p    -> ..    a+b+c+d  e+..  i+..  m+..
//   x3 * y   m n o p
#include "codegen/CPU/KernelEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// So many channels are summed without a loop.
static constexpr int64_t kMostUnrolled = 128;
/// Rows at a time: a vector has as many lanes, or more.
static constexpr int64_t kRows = 4;

/// Of what is read once, so many bytes are on their way: measured, README.md.
static constexpr int64_t kBytesAhead = 8192, kLineBytes = 64;

std::optional<Index> KernelEmitter::distanceAhead(Value value, const View &view, int64_t size, Index stride,
                                                  int64_t step) {
  if (!plan.isReadOnce(value))
    return std::nullopt;
  int64_t bytes = size * (view.element.getIntOrFloatBitWidth() / 8);
  return multiply(stride, int64_t(llvm::alignTo(std::max<int64_t>(kBytesAhead / bytes, 1), step)));
}

void KernelEmitter::prefetch(const View &view, Value where, int64_t elements) {
  int64_t line = kLineBytes / (view.element.getIntOrFloatBitWidth() / 8);
  for (int64_t i = 0; i < elements; i += line)
    LLVM::Prefetch::create(b, gep(where, view.element, i), /*rw=*/0, /*hint=*/3, /*cache=*/1);
}

Value KernelEmitter::sumEach(MutableArrayRef<Value> vectors, int64_t distance) {
  for (size_t n = 1; n < vectors.size(); n *= 2, distance *= 2)
    for (size_t i = 0; i < vectors.size(); i += 2 * n) {
      SmallVector<int64_t> low, high;
      for (int64_t j = 0; j < W; ++j) {
        low.push_back(j & distance ? W + j - distance : j);
        high.push_back(j & distance ? W + j : j + distance);
      }
      Value x = vectors[i], y = vectors[i + n];
      vectors[i] = arith::AddFOp::create(b, vector::ShuffleOp::create(b, x, y, low),
                                         vector::ShuffleOp::create(b, x, y, high));
    }
  return vectors[0];
}

std::pair<Value, Value> KernelEmitter::separate(Value x, Value y) {
  SmallVector<int64_t> even, odd;
  for (int64_t i = 0; i < W; ++i) {
    even.push_back(2 * i);
    odd.push_back(2 * i + 1);
  }
  return {vector::ShuffleOp::create(b, x, y, even), vector::ShuffleOp::create(b, x, y, odd)};
}

std::pair<Value, Value> KernelEmitter::join(Value even, Value odd) {
  SmallVector<int64_t> order;
  for (int64_t i = 0; i < W; ++i)
    order.append({i, W + i});
  auto part = [&](int64_t first) {
    return vector::ShuffleOp::create(b, even, odd, ArrayRef(order).slice(first, W));
  };
  return {part(0), part(W)};
}

std::pair<Value, Value> KernelEmitter::loadHalves(Value where) {
  auto words = cast<VectorType>(vectorOf(b.getI32Type()));
  auto splatOf = [&](int32_t bits) {
    return arith::ConstantOp::create(b, words, DenseElementsAttr::get(words, b.getI32IntegerAttr(bits)));
  };
  Value x = loadElements(words, where, {});
  Value even = arith::ShLIOp::create(b, x, splatOf(16)),
        odd = arith::AndIOp::create(b, x, splatOf(0xffff0000));
  Type real = vectorOf(b.getF32Type());
  return {arith::BitcastOp::create(b, real, even), arith::BitcastOp::create(b, real, odd)};
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
  bool isHalved = element.isF32() && rows.element.isBF16() && size % (2 * W) == 0;
  int64_t step = isHalved ? 2 * W : W, line = kLineBytes / (rows.element.getIntOrFloatBitWidth() / 8);
  Value start = address(row, point);
  std::optional<Index> ahead = distanceAhead(many, rows, size, rows.stride(sweep.lane), W);
  auto read = [&](const View &view, Value at) {
    return widen(loadTile(view, at, /*isVector=*/true), element);
  };
  // Of the one row, as vectors of the others are read.
  auto readOne = [&](Index k) -> std::pair<Value, Value> {
    Value x = read(row, gep(start, row.element, k));
    return isHalved ? separate(x, read(row, gep(start, row.element, k + W))) : std::pair(x, Value());
  };
  auto addStep = [&](Value at, Index k, std::pair<Value, Value> y, Value sum) {
    if (ahead && (k.value || k.constant % line == 0))
      prefetch(rows, gep(at, rows.element, add(k, *ahead)), step);
    Value where = gep(at, rows.element, k);
    if (!isHalved)
      return Value(math::FmaOp::create(b, read(rows, where), y.first, sum));
    auto [even, odd] = loadHalves(where);
    sum = math::FmaOp::create(b, even, y.first, sum);
    return Value(math::FmaOp::create(b, odd, y.second, sum));
  };
  auto addRows = [&](ArrayRef<Value> pointers, ArrayRef<std::pair<Value, Value>> ys) {
    SmallVector<Value> sums(pointers.size(), zeroOf(vectorOf(element)));
    for (auto [at, sum] : llvm::zip_equal(pointers, sums))
      for (auto [i, y] : llvm::enumerate(ys))
        sum = addStep(at, int64_t(i) * step, y, sum);
    if (!ys.empty())
      return sums;
    auto loop = scf::ForOp::create(b, constant(0), constant(size), constant(step), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Index k(loop.getInductionVar());
    std::pair<Value, Value> y = readOne(k);
    SmallVector<Value> next;
    for (auto [at, sum] : llvm::zip_equal(pointers, loop.getRegionIterArgs()))
      next.push_back(addStep(at, k, y, sum));
    scf::YieldOp::create(b, next);
    return SmallVector<Value>(loop.getResults());
  };
  SmallVector<std::pair<Value, Value>> ys;
  for (int64_t k = 0; k < size && size <= kMostUnrolled; k += step)
    ys.push_back(readOne(k));
  Block2D block(1);
  for (int64_t v = 0; v < vectors; ++v) {
    Value first = address(rows, point.moved(sweep.lane, v * W));
    // In the order of memory: a longer basic block would be scheduled as it suits registers.
    SmallVector<Value> groups(W / kRows, zeroOf(vectorOf(element)));
    auto loop = scf::ForOp::create(b, constant(0), constant(W), constant(kRows), groups);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(loop.getBody());
      SmallVector<Value> pointers, next(llvm::drop_begin(loop.getRegionIterArgs()));
      for (int64_t i = 0; i < kRows; ++i)
        pointers.push_back(
            gep(first, rows.element, multiply(rows.stride(sweep.lane), Index(loop.getInductionVar()) + i)));
      SmallVector<Value> sums = addRows(pointers, ys);
      next.push_back(sumEach(sums, 1));
      scf::YieldOp::create(b, next);
    }
    SmallVector<Value> results(loop.getResults());
    block[0].push_back(sumEach(results, kRows));
  }
  return block;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of one row whose operands both lie along the axis that is summed over, as the scores of one query:
// each sum is made along the lanes, of what lies where it is, and nothing is transposed.
//
//   x0 * y   a b c d                       a+b  e+f  c+d  g+h
//   x1 * y   e f g h    -> pairs of rows
//   x2 * y   i j k l                       i+j  m+n  k+l  o+p    -> ..    a+b+c+d  e+..  i+..  m+..
//   x3 * y   m n o p
#include "codegen/Targets/CPU/MicroKernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// So many channels are summed without a loop.
static constexpr int64_t kMostUnrolled = 128;
/// Rows at a time: a vector has as many lanes, or more.
static constexpr int64_t kRows = 4;

/// Of what is read once, so many bytes are on their way: measured, README.md.
static constexpr int64_t kBytesAhead = 8192, kLineBytes = 64;

std::optional<Index> MicroKernel::distanceAhead(Value value, const TileView &view, int64_t size, Index stride,
                                                int64_t step) {
  if (!plan.isReadOnce(value))
    return std::nullopt;
  int64_t bytes = size * (view.element.getIntOrFloatBitWidth() / 8);
  return multiply(stride, int64_t(llvm::alignTo(std::max<int64_t>(kBytesAhead / bytes, 1), step)));
}

void MicroKernel::prefetch(const TileView &view, Value where, int64_t elements) {
  int64_t line = kLineBytes / (view.element.getIntOrFloatBitWidth() / 8);
  for (int64_t i = 0; i < elements; i += line)
    LLVM::Prefetch::create(b, gep(where, view.element, i), /*rw=*/0, /*hint=*/3, /*cache=*/1);
}

/// Products of one row's elements with those of many rows, summed along both operands' lanes.
struct MicroKernel::RowSums {
  /// A vector of the one row, or its elements of even and of odd index.
  using Pair = std::pair<Value, Value>;

  MicroKernel &emitter;
  ImplicitLocOpBuilder &b;
  Value many, one;
  TileView rows, row;
  Type element;
  StringAttr lane;
  const int64_t W;
  int64_t size, step, line;
  bool isHalved; ///< Numbers of bf16 are read as even and odd ones, without a shuffle.
  Value start;
  std::optional<Index> ahead;

  RowSums(MicroKernel &emitter, const Sweep &sweep, const Point &point, StringAttr over)
      : emitter(emitter), b(emitter.b), element(DotOp(sweep.dot).getType().getElementType()),
        lane(sweep.lane), W(emitter.W) {
    DotOp dot = sweep.dot;
    many = dot.getA(), one = dot.getB();
    if (!cast<TileType>(many.getType()).hasAxis(lane))
      std::swap(many, one);
    rows = *emitter.tiles.findView(many, over), row = *emitter.tiles.findView(one, over);
    size = cast<TileType>(one.getType()).getSize(over);
    isHalved = element.isF32() && rows.element.isBF16() && size % (2 * W) == 0;
    step = isHalved ? 2 * W : W;
    line = kLineBytes / (rows.element.getIntOrFloatBitWidth() / 8);
    start = emitter.address(row, point);
    ahead = emitter.distanceAhead(many, rows, size, rows.stride(lane), W);
  }

  Value read(const TileView &view, Value at) {
    return emitter.widen(emitter.loadTile(view, at, /*isVector=*/true), element);
  }

  /// Of the one row, as vectors of the others are read.
  Pair readOne(Index k) {
    Value x = read(row, emitter.gep(start, row.element, k));
    if (!isHalved)
      return {x, Value()};
    return emitter.separate(x, read(row, emitter.gep(start, row.element, k + W)));
  }

  Value addStep(Value at, Index k, Pair y, Value sum) {
    if (ahead && (k.value || k.constant % line == 0))
      emitter.prefetch(rows, emitter.gep(at, rows.element, emitter.add(k, *ahead)), step);
    Value where = emitter.gep(at, rows.element, k);
    if (!isHalved)
      return math::FmaOp::create(b, read(rows, where), y.first, sum);
    auto [even, odd] = emitter.loadHalves(where);
    sum = math::FmaOp::create(b, even, y.first, sum);
    return math::FmaOp::create(b, odd, y.second, sum);
  }

  /// A vector of sums for each row: of the one row's vectors `ys`, or without any in a loop that reads them.
  SmallVector<Value> addRows(ArrayRef<Value> pointers, ArrayRef<Pair> ys) {
    SmallVector<Value> sums(pointers.size(), emitter.zeroOf(emitter.vectorOf(element)));
    for (auto [at, sum] : llvm::zip_equal(pointers, sums))
      for (auto [i, y] : llvm::enumerate(ys))
        sum = addStep(at, int64_t(i) * step, y, sum);
    if (!ys.empty())
      return sums;
    auto loop =
        scf::ForOp::create(b, emitter.constant(0), emitter.constant(size), emitter.constant(step), sums);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(loop.getBody());
    Index k(loop.getInductionVar());
    Pair y = readOne(k);
    SmallVector<Value> next;
    for (auto [at, sum] : llvm::zip_equal(pointers, loop.getRegionIterArgs()))
      next.push_back(addStep(at, k, y, sum));
    scf::YieldOp::create(b, next);
    return SmallVector<Value>(loop.getResults());
  }

  /// One vector: the sums of W rows, of which the first begins at `first`.
  Value sumsOf(Value first, ArrayRef<Pair> ys) {
    // In the order of memory: a longer basic block would be scheduled as it suits registers.
    SmallVector<Value> groups(W / kRows, emitter.zeroOf(emitter.vectorOf(element)));
    auto loop =
        scf::ForOp::create(b, emitter.constant(0), emitter.constant(W), emitter.constant(kRows), groups);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(loop.getBody());
      SmallVector<Value> pointers, next(llvm::drop_begin(loop.getRegionIterArgs()));
      for (int64_t i = 0; i < kRows; ++i)
        pointers.push_back(emitter.gep(
            first, rows.element, emitter.multiply(rows.stride(lane), Index(loop.getInductionVar()) + i)));
      SmallVector<Value> sums = addRows(pointers, ys);
      next.push_back(emitter.sumEach(sums, 1));
      scf::YieldOp::create(b, next);
    }
    SmallVector<Value> results(loop.getResults());
    return emitter.sumEach(results, kRows);
  }
};

VectorBlock MicroKernel::emitRowSums(const Sweep &sweep, const Point &point, StringAttr over,
                                     int64_t vectors) {
  RowSums sums(*this, sweep, point, over);
  SmallVector<RowSums::Pair> ys;
  for (int64_t k = 0; k < sums.size && sums.size <= kMostUnrolled; k += sums.step)
    ys.push_back(sums.readOne(k));
  VectorBlock block(1);
  for (int64_t v = 0; v < vectors; ++v)
    block[0].push_back(sums.sumsOf(address(sums.rows, point.moved(sweep.lane, v * W)), ys));
  return block;
}

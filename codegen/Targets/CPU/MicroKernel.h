// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of tiles on vectors.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_MICROKERNEL_H
#define TAYLOR_CODEGEN_TARGETS_CPU_MICROKERNEL_H
#include "codegen/Targets/CPU/MaskedOperands.h"

namespace mlir::tile::cpu {

/// The one micro-kernel of all products, and the one of a single row's scores.
class MicroKernel : VectorCode {
public:
  MicroKernel(TileElements &tiles, MaskedOperands &masked)
      : VectorCode(tiles), plan(tiles.plan), tiles(tiles), masked(masked) {}

  /// The sums of `rows` by `vectors` vectors of a sweep's product from `point` on.
  VectorBlock emitProduct(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows,
                          int64_t vectors);

private:
  struct Product;
  /// Adds the product over the axes, and of all elements along them, to C's accumulators [row * vectors + v].
  SmallVector<Value> sumOver(const Product &product, ArrayRef<Axis> axes, Index offsetA, Index offsetB,
                             const Point &point, ValueRange accumulators);
  /// The same of one row with sums of even and of odd lanes, while it adds.
  SmallVector<Value> sumHalves(const Product &product, ArrayRef<Axis> axes, const Point &point,
                               ArrayRef<Value> start);
  /// Adds one element (or pair) of A per row times B's vectors. `point` is where the product and the sum are.
  SmallVector<Value> multiplyAdd(const Product &product, Index offsetA, Index offsetB, const Point &point,
                                 ValueRange accumulators);
  /// What of the axis the sum needs to visit: where A is masked with zeros it starts late or ends early.
  std::pair<Index, Index> sumRange(const Product &product, const Axis &axis);
  Value loadA(const Product &product, Value where);
  Value loadB(const Product &product, Value where);

  // RowSums.cpp
  struct RowSums;
  /// Where the sum runs along the lanes `over` of both operands.
  VectorBlock emitRowSums(const Sweep &sweep, const Point &point, StringAttr over, int64_t vectors);
  /// Elements from one of an array that is read once to what the next lines of the caches hold, of rows so
  /// many elements long that are `stride` apart; null where a value is no such array.
  std::optional<Index> distanceAhead(Value value, const TileView &view, int64_t size, Index stride,
                                     int64_t step);
  /// Fetches what so many elements hold.
  void prefetch(const TileView &view, Value where, int64_t elements);

  const KernelPlan &plan;
  TileElements &tiles;
  MaskedOperands &masked;
};

} // namespace mlir::tile::cpu
#endif

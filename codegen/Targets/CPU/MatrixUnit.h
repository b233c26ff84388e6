// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of bf16 on the matrix unit (AMX).
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_MATRIXUNIT_H
#define TAYLOR_CODEGEN_TARGETS_CPU_MATRIXUNIT_H
#include "codegen/Targets/CPU/MaskedOperands.h"

namespace mlir::tile::cpu {

class MatrixUnit : VectorCode {
public:
  MatrixUnit(TileElements &tiles, MaskedOperands &masked)
      : VectorCode(tiles), plan(tiles.plan), tiles(tiles), masked(masked) {}

  /// The unit's registers get their usual sizes at a kernel's beginning, and are given back at its end.
  void begin();
  void end();
  /// A sweep's product, whole.
  void emitProduct(const Sweep &sweep);
  /// `rows` by `lanes` (a multiple of 16) sums of a product, from `firstRow` and `firstLane` on, to `to`.
  void emitStrip(DotOp dot, const TileView &to, const Point &outer, Index firstRow, int64_t rows,
                 Index firstLane, int64_t lanes);

private:
  struct Blocks;
  Blocks openProduct(DotOp dot, const TileView &to);
  void readCleared(Blocks &blocks);
  void emitRegion(Blocks blocks, const Point &outer, Index firstRow, int64_t rows, Index firstLane,
                  int64_t lanes);
  void emitBlock(const Blocks &blocks, const Point &point, ArrayRef<int64_t> tileRows, int64_t columns,
                 int64_t firstK, int64_t pastK, int64_t step);
  /// What of [firstK, pastK) a block needs to visit: where an operand is masked with zeros it starts late or
  /// ends early.
  std::pair<Index, Index> rangeOf(const Blocks &blocks, const Point &point, int64_t columns, int64_t firstK,
                                  int64_t pastK, int64_t step);
  void configure(ArrayRef<int8_t> configuration);
  /// An instruction of the unit, or a call of its emulation.
  void callUnit(StringRef instruction, ArrayRef<int64_t> registers, ValueRange operands);

  const KernelPlan &plan;
  TileElements &tiles;
  MaskedOperands &masked;
};

} // namespace mlir::tile::cpu
#endif

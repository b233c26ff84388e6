// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loops over the elements of a tile.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_SWEEPEMITTER_H
#define TAYLOR_CODEGEN_TARGETS_CPU_SWEEPEMITTER_H
#include "codegen/Targets/CPU/ArrayWindows.h"
#include "codegen/Targets/CPU/MatrixUnit.h"
#include "codegen/Targets/CPU/MicroKernel.h"

namespace mlir::tile::cpu {

/// Emits a sweep: blocks of rows by vectors of lanes, with all the sweep's ops inside.
class SweepEmitter : VectorCode {
public:
  SweepEmitter(TileElements &tiles, ArrayWindows &windows, MaskedOperands &masked, MatrixUnit &unit)
      : VectorCode(tiles), plan(tiles.plan), tiles(tiles), windows(windows), masked(masked), unit(unit),
        microKernel(tiles, masked) {}

  void emitSweep(const Sweep &sweep);

private:
  /// How a sweep goes through its tile: blocks of `rows` along `row` by `vectors` of lanes.
  struct SweepShape {
    StringAttr row; // null: none
    int64_t lanesSize = 1, rowSize = 1;
    int64_t rows = 1, vectors = 1;
    bool skips = false; // only blocks that the sweep's skips leave
  };
  SweepShape shapeOf(const Sweep &sweep) const;
  /// Defines what an op of the sweep writes to: places of its results, windows of stores.
  void openResults(Operation *op, const Sweep &sweep);
  /// Fills the place of a reduction that is made of several blocks: they are combined there.
  void startReduction(ReduceOp reduce, const Sweep &sweep);
  /// All rows of the sweep for `vectors` vectors of lanes.
  void emitLanes(const Sweep &sweep, const SweepShape &shape, const Point &outer, Index firstLane,
                 int64_t vectors);
  /// Rows of the lanes [firstLane, firstLane + lanes) that the sweep's skips leave, in multiples of `step`.
  std::pair<Index, Index> rowRange(const Sweep &sweep, StringAttr row, int64_t rowSize, int64_t step,
                                   Index firstLane, int64_t lanes);
  /// Stores the masks' constants where the sweep does not go.
  void fillSkipped(const Sweep &sweep, const Point &outer, StringAttr row, Index begin, Index end,
                   Index firstLane, int64_t vectors);
  void emitSweepBlock(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows, int64_t vectors);
  /// What follows the product in a block of a sweep. `valid`: its rows lie in all arrays that it writes.
  void emitSweepRows(const Sweep &sweep, const Point &point, StringAttr row, int64_t rows, int64_t vectors,
                     const VectorBlock &product, bool valid);
  /// By operation: a vector that it reduces or writes.
  using Results = llvm::MapVector<Operation *, Value>;
  void emitOps(const Sweep &sweep, const Point &point, Locals &locals, Results &reduced, Results &written);
  void reduceBlock(ReduceOp reduce, const Sweep &sweep, const Point &point, StringAttr row,
                   const VectorBlock &block);
  bool coversLanes(ReduceOp reduce, const Sweep &sweep) const;
  /// A sweep with products of its own on the matrix unit, strip by strip.
  void emitStrips(const Sweep &sweep);

  const KernelPlan &plan;
  TileElements &tiles;
  ArrayWindows &windows;
  MaskedOperands &masked;
  MatrixUnit &unit;
  MicroKernel microKernel;
};

} // namespace mlir::tile::cpu
#endif

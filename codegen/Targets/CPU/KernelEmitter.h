// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits one kernel as scf, arith, math and vector code on LLVM pointers, after a KernelPlan.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_KERNELEMITTER_H
#define TAYLOR_CODEGEN_TARGETS_CPU_KERNELEMITTER_H
#include "codegen/Targets/CPU/FeatureLoops.h"
#include "codegen/Targets/CPU/SweepEmitter.h"
#include "codegen/Targets/Frame/KernelFrame.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tile::cpu {

/// Emits the body of one kernel: the loop over its blocks, and each step by who knows it. The plan has
/// refused what is not supported, so nothing here fails.
class KernelEmitter : KernelFrame {
public:
  KernelEmitter(KernelOp kernel, const KernelPlan &plan, const Processor &target, ImplicitLocOpBuilder &b)
      : KernelFrame(kernel, b), plan(plan), b(b), tiles(plan, target, b, scalars), windows(tiles),
        masked(tiles), unit(tiles, masked), rearranger(tiles), features(tiles, rearranger),
        sweeps(tiles, windows, masked, unit) {
    // A tile is memory.
    types.addConversion([](TileType, SmallVectorImpl<Type> &) { return success(); });
  }

  /// The body of `void (call, begin, end, scratch)`: blocks [begin, end) of the kernel's grid.
  void emit(func::FuncOp function);

private:
  LogicalResult emitBlock(Block &block) override;
  Value addressOf(Value array) override { return windows.addressOf(array); }
  void openTile(Value tile) override { tiles.definePlace(tile, plan.laneOf(tile)); }
  void moveTile(Value from, Value to) override;

  const KernelPlan &plan;
  ImplicitLocOpBuilder &b;
  TileElements tiles;
  ArrayWindows windows;
  MaskedOperands masked;
  MatrixUnit unit;
  TileRearranger rearranger;
  FeatureLoops features;
  SweepEmitter sweeps;
};

/// The sizes that `pointer` (TaylorCall.dims) holds.
SizeValues loadSizes(ImplicitLocOpBuilder &b, Value pointer);

} // namespace mlir::tile::cpu
#endif

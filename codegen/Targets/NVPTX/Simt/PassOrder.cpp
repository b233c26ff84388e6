// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"

using namespace mlir;
using namespace mlir::simt;

InFlightDiagnostic mlir::simt::emitErrorInside(ModuleOp module, const Twine &message) {
  Operation *first = module.getBody()->empty() ? module.getOperation() : &module.getBody()->front();
  return first->emitError(message);
}

LogicalResult mlir::simt::requirePrograms(ModuleOp module) {
  if (!module.getOps<tile::ProgramOp>().empty())
    return success();
  return emitErrorInside(module, "expected a tile.program, but found none; run taylor-tile-pipeline before");
}

static tile::TileType tileOf(Operation *op, llvm::function_ref<bool(tile::TileType)> is) {
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (auto tile = dyn_cast<tile::TileType>(type); tile && is(tile))
      return tile;
  return {};
}

/// Whether `check` succeeds for all ops of kernels.
static LogicalResult checkKernels(ModuleOp module, llvm::function_ref<LogicalResult(Operation *)> check) {
  WalkResult walk = module.walk([&](tile::KernelOp kernel) -> WalkResult {
    return kernel.walk([&](Operation *op) { return WalkResult(check(op)); });
  });
  return failure(walk.wasInterrupted());
}

LogicalResult mlir::simt::requireNoLayouts(ModuleOp module) {
  return checkKernels(module, [](Operation *op) -> LogicalResult {
    if (!isa<SimtDialect>(op->getDialect()) &&
        !tileOf(op, [](tile::TileType tile) { return bool(layoutOf(tile)); }))
      return success();
    return op->emitOpError("expected tiles without layouts; taylor-simt-assign-layouts has run already");
  });
}

LogicalResult mlir::simt::requireLayouts(Operation *op) {
  tile::TileType tile = tileOf(op, [](tile::TileType tile) { return !layoutOf(tile); });
  if (!tile)
    return success();
  return op->emitOpError() << "expected tiles with layouts, but got " << tile
                           << "; run taylor-simt-assign-layouts before";
}

LogicalResult mlir::simt::requireLayoutsOfAll(ModuleOp module) {
  return failure(failed(requirePrograms(module)) || failed(checkKernels(module, requireLayouts)));
}

LogicalResult mlir::simt::requireUnscheduled(ModuleOp module) {
  return checkKernels(module, [](Operation *op) -> LogicalResult {
    if (isa<CommitOp, WaitOp, BarrierOp, SlotOp>(op))
      return op->emitOpError(
          "expected ops on buffers in the order of the text; taylor-simt-schedule-copies has run already");
    if (isa<PartOp>(op))
      return op->emitOpError(
          "expected whole buffers; run taylor-simt-strip-mine after taylor-simt-schedule-copies");
    return success();
  });
}

LogicalResult mlir::simt::requireThreadCode(ModuleOp module) {
  for (Operation &op : *module.getBody())
    if (isa<tile::ProgramOp>(op))
      return op.emitOpError("expected the code of one thread, but got a tile program; run "
                            "taylor-simt-lower-to-nvvm before");
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frame of a kernel: sizes, arrays, the loop over blocks, scalars and control flow.
#include "codegen/Targets/CPU/KernelEmitter.h"
#include "dialect/Tile/Extents.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "runtime/artifact.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

SizeValues mlir::tile::cpu::loadSizes(ImplicitLocOpBuilder &b, Value pointer) {
  SmallVector<Value> sizes;
  for (int32_t i = 0; i <= TAYLOR_DIM_OFFSET; ++i) {
    Value at = LLVM::GEPOp::create(b, pointer.getType(), b.getI64Type(), pointer, ArrayRef<LLVM::GEPArg>{i});
    sizes.push_back(LLVM::LoadOp::create(b, b.getI64Type(), at));
  }
  return SizeValues(b, b.getLoc(), sizes, SizeValues::Runs::host);
}

void KernelEmitter::emit(func::FuncOp function) {
  OpBuilder::InsertionGuard guard(b);
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  tiles.setScratch(entry->getArgument(3));
  Value call = entry->getArgument(0);
  Value dims = LLVM::GEPOp::create(b, call.getType(), b.getI8Type(), call,
                                   ArrayRef<LLVM::GEPArg>{int32_t(offsetof(TaylorCall, dims))});
  sizes.emplace(loadSizes(b, LLVM::LoadOp::create(b, call.getType(), dims)));
  windows.loadArrays(kernel, call, *sizes);
  SmallVector<Value> grid = sizes->gridOf(kernel);
  bool usesTiles = plan.usesTiles();
  if (usesTiles)
    unit.begin();
  auto blocks = scf::ForOp::create(b, entry->getArgument(1), entry->getArgument(2), tiles.constant(1));
  if (usesTiles)
    unit.end();
  func::ReturnOp::create(b);
  b.setInsertionPointToStart(blocks.getBody());
  forPlacesInGrid(
      blocks.getInductionVar(), grid.size(), [&](unsigned i) { return grid[i]; },
      [&](unsigned i, Value place) { scalars[kernel.getBlock()->getArgument(i)] = place; }, *sizes);
  (void)emitBlock(*kernel.getBlock());
}

LogicalResult KernelEmitter::emitBlock(Block &block) {
  for (const Step &step : plan.stepsOf(&block)) {
    switch (step.kind) {
    case Step::Scalar:
      if (auto lookup = dyn_cast<LookupOp>(step.op)) {
        scalars[lookup] = windows.emitLookup(lookup);
        break;
      }
      [[fallthrough]];
    case Step::Control:
      if (failed(emitFrameOp(step.op)))
        return failure();
      break;
    case Step::Window:
      windows.emitWindow(cast<LoadOp>(step.op));
      break;
    case Step::Pack:
      rearranger.emitPack(step.pack);
      break;
    case Step::SweepStep:
      sweeps.emitSweep(*step.sweep);
      break;
    case Step::Scan:
      rearranger.emitScan(cast<ScanOp>(step.op));
      break;
    case Step::Concat:
      rearranger.emitConcat(cast<ConcatOp>(step.op));
      break;
    case Step::Features:
      if (auto expand = dyn_cast<ExpandOp>(step.op))
        features.emitExpand(expand);
      else
        features.emitContract(cast<ContractOp>(step.op));
      break;
    }
  }
  return success();
}

void KernelEmitter::moveTile(Value from, Value to) {
  StringAttr lane = plan.laneOf(to);
  const ScratchPlace *place = plan.placeOf(from, lane);
  if (!place || !plan.sharePlace(*place, *plan.placeOf(to, lane)))
    rearranger.copyTile(from, tiles.ownView(to));
}

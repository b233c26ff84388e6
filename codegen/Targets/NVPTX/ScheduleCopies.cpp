// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies, waits and barriers. Passes.td has the rule.
#include "codegen/Targets/NVPTX/CopiesAhead.h"
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/PlaceBarriers.h"
#include "codegen/Targets/NVPTX/RoleStreams.h"
#include "codegen/Targets/NVPTX/SharedPlan.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-simt-schedule-copies"

namespace mlir::simt {
#define GEN_PASS_DEF_SCHEDULECOPIES
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

namespace {

/// A buffer that nothing reads has no use for copies and writes.
void eraseUnread(tile::KernelOp kernel) {
  llvm::DenseSet<Value> isRead;
  SmallVector<Operation *> writers;
  kernel.walk([&](Operation *op) {
    for (const Access &access : getAccesses(op))
      if (!access.writes)
        isRead.insert(access.memory);
    auto copy = dyn_cast<CopyOp>(op);
    if (isa<WriteOp>(op) || (copy && !copy.getRing()))
      writers.push_back(op);
  });
  for (Operation *op : writers) {
    Value slot = isa<CopyOp>(op) ? cast<CopyOp>(op).getBuffer() : cast<WriteOp>(op).getBuffer();
    if (!isRead.contains(getBuffer(slot)))
      op->erase();
  }
  for (AllocOp op : llvm::make_early_inc_range(kernel.getBlock()->getOps<AllocOp>()))
    if (op.use_empty())
      op.erase();
}

/// Copies that do not run ahead: neighbours are one group, if of different buffers.
void commitCopies(tile::KernelOp kernel, const PipelinedBuffers &pipelined) {
  SmallVector<CopyOp> copies;
  kernel.walk([&](CopyOp copy) {
    if (!copy.getRing() && !pipelined.contains(getBuffer(copy.getBuffer())))
      copies.push_back(copy);
  });
  for (CopyOp copy : copies) {
    auto next = dyn_cast_if_present<CopyOp>(copy->getNextNode());
    if (next && llvm::is_contained(copies, next) && next.getBuffer() != copy.getBuffer())
      continue;
    OpBuilder builder(copy->getContext());
    builder.setInsertionPointAfter(copy);
    CommitOp::create(builder, copy.getLoc());
  }
}

struct ScheduleCopies : simt::impl::ScheduleCopiesBase<ScheduleCopies> {
  using ScheduleCopiesBase::ScheduleCopiesBase;

  void runOnOperation() override {
    if (stages < 1) {
      getOperation().emitError() << "expected stages of at least 1, but got " << stages.getValue();
      return signalPassFailure();
    }
    if (failed(requireLayoutsOfAll(getOperation())) || failed(requireUnscheduled(getOperation())))
      return signalPassFailure();
    getOperation().walk([&](tile::KernelOp kernel) {
      if (failed(schedule(kernel)))
        signalPassFailure();
    });
  }

  LogicalResult schedule(tile::KernelOp kernel) {
    eraseUnread(kernel);
    SmallVector<scf::ForOp> loops;
    // What a loop around others copies ahead lies beside all that those need.
    bool isCrowded = chooseBufferLife(kernel, shared) == BufferLife::Iterations;
    // A member's loop over places copies what one place keeps: no iteration of it is ahead of another.
    kernel.walk([&](scf::ForOp loop) {
      bool holdsLoops = llvm::any_of(loop.getOps(), [](Operation &op) {
        return op.walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted();
      });
      if (!loop->getParentOfType<RolesOp>() && !(isCrowded && holdsLoops))
        loops.push_back(loop);
    });
    WalkResult started = kernel.walk(
        [](DotOp dot) { return isStarted(dot) ? WalkResult::interrupt() : WalkResult::advance(); });
    bool isEarly = early && started.wasInterrupted();
    PipelinedBuffers pipelined;
    for (scf::ForOp loop : loops)
      pipelineLoop(loop, {stages, shared, isEarly}, pipelined);
    LDBG() << "@" << kernel.getSymName() << ": copies of " << pipelined.size() << " buffers run ahead";
    numAhead += pipelined.size();
    commitCopies(kernel, pipelined);
    if (failed(placeBarriers(kernel, pipelined)))
      return failure();
    joinGroups(kernel);
    return success();
  }
};

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of products are written to shared memory when they are needed. Passes.td has the rule.
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/SharedPlan.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-simt-sink-operands"

namespace mlir::simt {
#define GEN_PASS_DEF_SINKOPERANDS
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

namespace {

bool isRead(AllocOp buffer) {
  return llvm::any_of(buffer->getUsers(), [](Operation *user) { return !isa<WriteOp, CopyOp>(user); });
}

/// Whether a block has room for the buffers that something reads, as they are needed now.
bool hasRoom(tile::KernelOp kernel, int64_t shared) {
  SlotCounts slots;
  for (auto buffer : kernel.getBlock()->getOps<AllocOp>())
    if (!isRead(buffer))
      slots[buffer] = 0;
  return planShared(kernel, BufferLife::Iterations, slots).bytes <= shared;
}

/// The one op that writes the buffer; null where there are several, or it is no tile that is written.
WriteOp findOnlyWrite(AllocOp buffer) {
  WriteOp found;
  for (Operation *user : buffer->getUsers()) {
    auto write = dyn_cast<WriteOp>(user);
    if (isa<CopyOp>(user) || (write && found))
      return nullptr;
    found = write ? write : found;
  }
  return found;
}

/// The first op of the write's block that reads what it wrote, or holds such an op; null where one reads the
/// buffer elsewhere or before.
Operation *findFirstReader(AllocOp buffer, WriteOp write) {
  Operation *first = nullptr;
  for (Operation *user : buffer->getUsers()) {
    if (user == write)
      continue;
    Operation *here = write->getBlock()->findAncestorOpInBlock(*user);
    if (!here || here->isBeforeInBlock(write))
      return nullptr;
    if (!first || here->isBeforeInBlock(first))
      first = here;
  }
  return first;
}

/// Moves the op, and before it what is computed for it alone.
void sink(Operation *op, Operation *before) {
  Block *block = op->getBlock();
  op->moveBefore(before);
  for (Value operand : op->getOperands()) {
    Operation *source = operand.getDefiningOp();
    if (source && source->getBlock() == block && isMemoryEffectFree(source) &&
        llvm::all_of(source->getUsers(), [&](Operation *user) { return user == op; }))
      sink(source, op);
  }
}

struct SinkOperands : simt::impl::SinkOperandsBase<SinkOperands> {
  using SinkOperandsBase::SinkOperandsBase;

  void runOnOperation() override {
    if (failed(requireLayoutsOfAll(getOperation())) || failed(requireUnscheduled(getOperation())))
      return signalPassFailure();
    getOperation().walk([&](tile::KernelOp kernel) {
      if (!hasRoom(kernel, shared))
        sinkWrites(kernel);
    });
  }

  void sinkWrites(tile::KernelOp kernel) {
    for (auto buffer : kernel.getBlock()->getOps<AllocOp>()) {
      WriteOp write = findOnlyWrite(buffer);
      Operation *reader = write ? findFirstReader(buffer, write) : nullptr;
      if (!reader || write->getNextNode() == reader)
        continue;
      LDBG() << "@" << kernel.getSymName() << ": " << buffer.getName() << " is written before "
             << reader->getName();
      sink(write, reader);
      ++numSunk;
    }
  }
};

} // namespace

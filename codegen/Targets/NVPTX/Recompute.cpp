// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/KernelSteps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using tile::TileType;

namespace {

/// One loop, or one contraction: values from before it, made again after it.
class Recomputation {
public:
  explicit Recomputation(Operation *loop) : loop(loop), builder(loop->getContext()) {
    builder.setInsertionPointAfter(loop);
  }

  void run() {
    SmallVector<OpOperand *> uses;
    for (Operation &op : *loop->getBlock()) {
      if (&op == loop)
        break;
      for (Value result : op.getResults())
        for (OpOperand &use : result.getUses())
          if (isa<TileType>(result.getType()) && isBehind(use.getOwner()))
            uses.push_back(&use);
    }
    for (OpOperand *use : uses)
      if (canRecompute(use->get()))
        use->set(recompute(use->get()));
  }

private:
  bool isBefore(Operation *op) const {
    return op->getBlock() == loop->getBlock() && op->isBeforeInBlock(loop);
  }
  bool isBehind(Operation *op) const {
    Operation *here = loop->getBlock()->findAncestorOpInBlock(*op);
    return here && here != loop && loop->isBeforeInBlock(here);
  }

  bool canRecompute(Value value) {
    Operation *def = value.getDefiningOp();
    if (!def || !isBefore(def))
      return false;
    if (auto load = dyn_cast<tile::LoadOp>(def))
      return !isWritten(load.getArray());
    if (!isa<tile::MapOp, tile::SliceOp, tile::ConcatOp, tile::PositionOp, tile::SplatOp>(def))
      return false;
    return llvm::all_of(def->getOperands(), [&](Value operand) {
      return !isa<TileType>(operand.getType()) || canRecompute(operand);
    });
  }

  bool isWritten(Value array) const {
    return llvm::any_of(array.getUsers(), [&](Operation *user) {
      return isa<tile::StoreOp, tile::AccumulateOp>(user) &&
             user->getParentOfType<tile::KernelOp>() == loop->getParentOfType<tile::KernelOp>();
    });
  }

  Value recompute(Value value) {
    if (Value made = mapping.lookupOrNull(value))
      return made;
    Operation *def = value.getDefiningOp();
    for (Value operand : def->getOperands())
      if (isa<TileType>(operand.getType()))
        recompute(operand);
    builder.clone(*def, mapping);
    return mapping.lookup(value);
  }

  Operation *loop;
  OpBuilder builder;
  IRMapping mapping;
};

} // namespace

void mlir::simt::recomputeAfterLoops(tile::KernelOp kernel) {
  kernel.walk([](Operation *op) {
    if (!isa<scf::ForOp, tile::ContractOp>(op) || op->getParentOfType<scf::ForOp>())
      return; // what an iteration makes again costs as often as the loop runs
    auto isWide = [](Operation *inner) {
      return isa<tile::DotOp, tile::ContractOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
    };
    if (op->walk(isWide).wasInterrupted())
      Recomputation(op).run();
  });
}

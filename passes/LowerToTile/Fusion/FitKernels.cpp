// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// More memory, where two kernels would compute the same sums or a block has no room. FusionPasses.td has the
// rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"
#include "passes/LowerToTile/Passes.h"

#include "mlir/Pass/PassManager.h"

#define DEBUG_TYPE "taylor-fit-kernels"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_FITKERNELSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {

using fusion::KernelOp;
using fusion::StoreOp;

/// What turns out to need memory when kernels are known. Each question keeps what it finds, and returns
/// whether something is kept that was not.
class KernelFitter {
public:
  explicit KernelFitter(FunctionOp function) : kept(function), kernels(fusion::getKernels(function)) {}

  /// Returns whether the kernels are to be formed anew.
  bool keepMore();

private:
  /// Sums into rows that several kernels would compute.
  bool keepSharedRows();
  /// Those of which a kernel computes something with more than a block holds.
  bool keepCrowdedRows();
  /// Sums into columns, where others that wait for their turn leave no room.
  bool keepCrowdedColumns();

  FunctionMemory kept;
  SmallVector<KernelOp> kernels;
};

bool KernelFitter::keepSharedRows() {
  DenseMap<Operation *, KernelOp> computedIn;
  bool shared = false;
  for (KernelOp kernel : kernels) {
    llvm::SetVector<Operation *> rowPairs;
    for (StoreOp store : kernel.getStores())
      rowPairs.insert_range(kept.readsOf(store).rowPairs);
    for (Operation *op : rowPairs) {
      auto [it, fresh] = computedIn.try_emplace(op, kernel);
      if (fresh || it->second == kernel)
        continue;
      LDBG() << op->getLoc() << ": stored, two kernels would compute it";
      shared |= keepResults(kept, op, "two kernels would compute it");
    }
  }
  return shared;
}

bool KernelFitter::keepCrowdedRows() {
  const TileSizes &sizes = kept.getSizes();
  bool crowded = false;
  for (KernelOp kernel : kernels)
    for (StoreOp store : kernel.getStores()) {
      auto operations = kept.readsOf(store).rowPairs;
      if (isa_and_nonnull<PairwiseOp>(store.getValue().getDefiningOp()))
        continue;
      // Sums of one loop wait while the next one runs with its own, next to a score tile.
      int64_t sums = 0;
      for (Value sum : kept.needsOf(store.getValue()).sums)
        sums += countTokenBytes(sum, kept.getValues());
      for (Operation *op : operations) {
        ScoreTile tile = rowTile(cast<PairwiseOp>(op), sizes);
        bool waits = operations.size() > 1 && sizes.blockBytes &&
                     (sums + sums / 4 + 4 * tile.keys) * tile.queries > sizes.blockBytes;
        if (!waits && kept.fitsBlock(store.getValue(), tile.queries))
          continue;
        LDBG() << op->getLoc() << ": stored, a block has no room for " << store.getLoc() << " at its end";
        crowded |= keepResults(kept, op, "a block of queries has no room for what is computed from it");
      }
    }
  return crowded;
}

bool KernelFitter::keepCrowdedColumns() {
  for (KernelOp kernel : kernels) {
    auto pairs = dyn_cast_or_null<PairwiseOp>(kernel.getPlanned());
    if (!pairs)
      continue;
    std::vector<StoreOp> stores = kernel.getStores();
    for (auto [number, store] : llvm::enumerate(stores)) {
      auto sums = kept.needsOf(store.getValue()).sums;
      llvm::SmallSetVector<Value, 4> later;
      for (StoreOp next : ArrayRef(stores).drop_front(number + 1))
        later.insert_range(kept.needsOf(next.getValue()).sums);
      int64_t waiting = 0;
      for (Value sum : later)
        if (!sums.contains(sum))
          waiting += countTokenBytes(sum, kept.getValues());
      // As in a loop, what waits can neither be computed again nor in parts: it counts a quarter more.
      if (sums.contains(store.getValue()) ||
          kept.fitsBlock(store.getValue(), columnTile(pairs, kept.getSizes()).keys, waiting + waiting / 4))
        continue;
      LDBG() << store.getLoc() << ": computed by another kernel, a block of columns has no room for it";
      bool isNew = false;
      for (Value sum : sums)
        isNew |= kept.keepApart(sum, "a block of keys has no room for what is computed from it");
      if (isNew)
        return true;
    }
  }
  return false;
}

bool KernelFitter::keepMore() {
  bool any = keepSharedRows() || keepCrowdedRows() || keepCrowdedColumns();
  kept.write();
  return any;
}

struct FitKernels : taylor::impl::FitKernelsPassBase<FitKernels> {
  using FitKernelsPassBase::FitKernelsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    FitKernelsPassBase::getDependentDialects(registry);
    registerLowering(registry);
  }
  void runOnOperation() override {
    OpPassManager forming(FunctionOp::getOperationName());
    buildFormingPipeline(forming);
    // This ends: a round keeps a value that was not kept, or keeps a sum apart that was not. Nothing takes
    // memory away, and a function has finitely many values. The bound is for what this overlooks.
    for (int64_t round = 0; KernelFitter(getOperation()).keepMore(); ++round) {
      if (round == maxRounds) {
        getOperation().emitError("requires kernels that have room after ")
            << maxRounds.getValue()
            << " rounds, but the last one still kept more in memory; raise max-rounds";
        return signalPassFailure();
      }
      ++numRounds;
      if (failed(runPipeline(forming, getOperation())))
        return signalPassFailure();
    }
  }
};

} // namespace

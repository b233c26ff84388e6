// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fewer kernels: what is ready early waits for a later kernel over the same axes. FusionPasses.td has the
// rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/Passes.h"

#define DEBUG_TYPE "taylor-delay-stores"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_DELAYSTORESPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {

using fusion::KernelOp;

/// The first stage at which a kernel reads a value, or the sums of a reduction over blocks of tokens.
struct FirstReads {
  FirstReads(const FunctionMemory &kept, ArrayRef<KernelOp> kernels) {
    for (KernelOp kernel : kernels) {
      for (fusion::StoreOp store : kernel.getStores())
        note(kept.readsOf(store), kernel.getStage());
      if (Value positions = positionsOf(kernel))
        ofValues.try_emplace(positions, kernel.getStage());
      note(kept.readsOfPlanned(kernel), kernel.getStage());
    }
  }
  /// The last stage at which what the kernel stores may still be computed.
  int64_t lastStageOf(KernelOp kernel) const {
    int64_t last = std::numeric_limits<int64_t>::max();
    for (fusion::StoreOp store : kernel.getStores()) {
      if (store.getParts()) {
        if (auto it = ofParts.find(store.getValue().getDefiningOp()); it != ofParts.end())
          last = std::min(last, it->second - 1);
      } else if (auto it = ofValues.find(store.getValue()); it != ofValues.end()) {
        last = std::min(last, it->second - 1);
      }
    }
    return last;
  }

private:
  void note(const Reads &reads, int64_t stage) {
    for (Value value : reads.values) {
      int64_t &first = ofValues.try_emplace(value, stage).first->second;
      first = std::min(first, stage);
    }
    for (Operation *op : reads.parts) {
      int64_t &first = ofParts.try_emplace(op, stage).first->second;
      first = std::min(first, stage);
    }
  }

  DenseMap<Value, int64_t> ofValues;
  DenseMap<Operation *, int64_t> ofParts;
};

struct DelayStores : taylor::impl::DelayStoresPassBase<DelayStores> {
  void getDependentDialects(DialectRegistry &registry) const override {
    DelayStoresPassBase::getDependentDialects(registry);
    registerLowering(registry);
  }
  void runOnOperation() override {
    SmallVector<KernelOp> kernels = fusion::getKernels(getOperation());
    FunctionMemory kept(getOperation());
    FirstReads firstReads(kept, kernels);
    for (KernelOp early : kernels) {
      if (!early.isLocal())
        continue;
      int64_t last = firstReads.lastStageOf(early);
      for (KernelOp late : kernels)
        if (late.isLocal() && haveSameGrid(early, late) && late.getStage() > early.getStage() &&
            int64_t(late.getStage()) <= last && !early.getBlock()->empty()) {
          LDBG() << early.getStores().size() << " arrays of stage " << early.getStage() << " wait for stage "
                 << late.getStage();
          numDelayed += early.getStores().size();
          late.getBlock()->getOperations().splice(late.getBlock()->end(), early.getBlock()->getOperations());
        }
    }
    fusion::eraseEmptyKernels(getOperation());
  }
};

} // namespace

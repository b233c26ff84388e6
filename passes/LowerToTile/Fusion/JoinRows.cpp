// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel that loops over keys stores what one over the same tokens would have computed for it.
// FusionPasses.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"
#include "passes/LowerToTile/Passes.h"

#include "dialect/Tile/TileDialect.h"

#define DEBUG_TYPE "taylor-join-rows"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_JOINROWSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {

using fusion::KernelOp;
using fusion::StoreOp;

class RowJoiner {
public:
  explicit RowJoiner(FunctionOp function) : kept(function), kernels(fusion::getKernels(function)) {}

  /// Returns how many arrays other kernels store now.
  int64_t run();

private:
  bool canJoin(KernelOp early, KernelOp late);
  /// Whether the kernel is local to tokens and loops over keys.
  bool loops(KernelOp kernel);

  FunctionMemory kept;
  SmallVector<KernelOp> kernels;
};

bool RowJoiner::canJoin(KernelOp early, KernelOp late) {
  if (!early.isLocal() || !haveSameGrid(early, late) || early.getStage() >= late.getStage() ||
      early.getStores().empty())
    return false;
  llvm::SmallPtrSet<Value, 8> values;
  int64_t queries = std::numeric_limits<int64_t>::max();
  for (StoreOp store : late.getStores())
    for (Operation *op : kept.readsOf(store).rowPairs)
      queries = std::min(queries, rowTile(cast<PairwiseOp>(op), kept.getSizes()).queries);
  for (StoreOp store : early.getStores()) {
    if (store.getParts() || !kept.readsOf(store).rowPairs.empty() ||
        !kept.fitsBlock(store.getValue(), queries))
      return false;
    values.insert(store.getValue());
  }
  auto reads = [&](const Reads &reads) {
    return llvm::any_of(reads.values, [&](Value value) { return values.contains(value); });
  };
  bool isRead = false;
  for (KernelOp kernel : kernels) {
    bool readsAny =
        reads(kept.readsOfPlanned(kernel)) || values.contains(positionsOf(kernel)) ||
        llvm::any_of(kernel.getStores(), [&](StoreOp store) { return reads(kept.readsOf(store)); });
    if (kernel == late) {
      isRead = readsAny;
      continue;
    }
    // At one stage, kernels that are local to tokens come first.
    bool comesLater = kernel.getStage() > late.getStage() ||
                      (kernel.getStage() == late.getStage() && kernel.getKind() > fusion::KernelKind::Local);
    if (readsAny && !comesLater)
      return false;
  }
  return isRead;
}

bool RowJoiner::loops(KernelOp kernel) {
  return kernel.isLocal() && llvm::any_of(kernel.getStores(), [&](StoreOp store) {
           return !kept.readsOf(store).rowPairs.empty();
         });
}

int64_t RowJoiner::run() {
  int64_t joined = 0;
  for (KernelOp late : kernels) {
    if (!loops(late) || llvm::any_of(late.getStores(), [](StoreOp store) { return store.getParts(); }))
      continue;
    for (KernelOp early : kernels)
      if (canJoin(early, late)) {
        joined += early.getStores().size();
        LDBG() << late.getLoc() << ": also stores " << early.getStores().size() << " arrays of stage "
               << early.getStage();
        late.getBlock()->getOperations().splice(late.getBlock()->begin(), early.getBlock()->getOperations());
      }
  }
  return joined;
}

struct JoinRows : taylor::impl::JoinRowsPassBase<JoinRows> {
  void getDependentDialects(DialectRegistry &registry) const override {
    JoinRowsPassBase::getDependentDialects(registry);
    registerLowering(registry);
  }
  void runOnOperation() override {
    // Operands of two numbers leave no registers for it.
    TileSizes sizes = tile::getTileSizes(getOperation());
    if (!sizes.joinsKernels || sizes.splitProducts)
      return;
    numJoined += RowJoiner(getOperation()).run();
    fusion::eraseEmptyKernels(getOperation());
  }
};

} // namespace

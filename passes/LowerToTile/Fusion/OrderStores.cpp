// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order a kernel computes what it stores, so that few tiles live at once. FusionPasses.td has the
// rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/Passes.h"

#define DEBUG_TYPE "taylor-order-stores"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_ORDERSTORESPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {

using fusion::StoreOp;

using Stores = std::vector<StoreOp>;

Stores orderStores(Stores stores, const FunctionMemory &kept) {
  llvm::sort(stores, [](StoreOp a, StoreOp b) {
    Operation *ofA = a.getValue().getDefiningOp(), *ofB = b.getValue().getDefiningOp();
    if (ofA == ofB)
      return a != b && a->isBeforeInBlock(b);
    return ofB && (!ofA || ofA->isBeforeInBlock(ofB));
  });
  std::vector<std::pair<StoreOp, Needs>> open;
  llvm::SmallSetVector<Value, 8> sums, loaded;
  for (StoreOp store : stores) {
    Needs needs = kept.needsOf(store.getValue());
    sums.insert_range(needs.sums);
    loaded.insert_range(needs.loaded);
    open.emplace_back(store, std::move(needs));
  }
  Stores ordered;
  auto place = [&](function_ref<bool(const Needs &)> isNext) {
    llvm::erase_if(open, [&](std::pair<StoreOp, Needs> &each) {
      if (!isNext(each.second))
        return false;
      ordered.push_back(each.first);
      return true;
    });
  };
  auto countOperations = [&](Value tile) {
    llvm::SmallPtrSet<Operation *, 16> operations;
    for (auto &[store, needs] : open)
      if (needs.contains(tile))
        operations.insert_range(needs.operations);
    return operations.size();
  };
  auto placeByTiles = [&](ArrayRef<Value> tiles) {
    SmallVector<Value> left(tiles);
    while (!left.empty()) {
      auto *next =
          llvm::min_element(left, [&](Value a, Value b) { return countOperations(a) < countOperations(b); });
      place([&](const Needs &needs) { return needs.contains(*next); });
      left.erase(next);
    }
  };
  placeByTiles(sums.getArrayRef());
  placeByTiles(loaded.getArrayRef());
  place([](const Needs &) { return true; });
  return ordered;
}

struct OrderStores : taylor::impl::OrderStoresPassBase<OrderStores> {
  void getDependentDialects(DialectRegistry &registry) const override {
    OrderStoresPassBase::getDependentDialects(registry);
    registerLowering(registry);
  }
  void runOnOperation() override {
    FunctionMemory kept(getOperation());
    for (fusion::KernelOp kernel : fusion::getKernels(getOperation())) {
      Stores before = kernel.getStores(), after = orderStores(before, kept);
      if (before == after)
        continue;
      ++numOrdered;
      LDBG() << kernel.getLoc() << ": " << after.size() << " arrays in another order";
      for (StoreOp store : after)
        store->moveBefore(kernel.getBlock(), kernel.getBlock()->end());
    }
  }
};

} // namespace

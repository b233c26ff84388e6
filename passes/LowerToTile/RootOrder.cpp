// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/RootOrder.h"

using namespace mlir;
using namespace taylor;

namespace {
/// What a root is computed from in its kernel: sums over pairs, arrays in memory, and operations behind them.
struct Needs {
  llvm::SmallSetVector<Value, 4> sums, loaded;
  llvm::SmallPtrSet<Operation *, 16> operations;

  Needs(Value root, const llvm::SetVector<Value> &stored) { collect(root, stored); }
  bool contains(Value tile) const { return sums.contains(tile) || loaded.contains(tile); }

private:
  void collect(Value value, const llvm::SetVector<Value> &stored) {
    Operation *op = value.getDefiningOp();
    if (op && isa<PairwiseOp>(op)) {
      sums.insert(value);
      return;
    }
    if (!op || !operations.insert(op).second)
      return;
    for (Value operand : op->getOperands())
      if (stored.contains(operand) || isa<BlockArgument>(operand))
        loaded.insert(operand);
      else
        collect(operand, stored);
  }
};
} // namespace

llvm::SmallSetVector<Value, 4> taylor::findSums(Value value, const llvm::SetVector<Value> &stored) {
  return Needs(value, stored).sums;
}

void taylor::orderRoots(std::vector<Root> &roots, const llvm::SetVector<Value> &stored) {
  llvm::stable_sort(roots, [](const Root &a, const Root &b) {
    Operation *ofA = a.value.getDefiningOp(), *ofB = b.value.getDefiningOp();
    return ofB && (!ofA || ofA->isBeforeInBlock(ofB)) && ofA != ofB;
  });
  std::vector<std::pair<Root, Needs>> open;
  llvm::SmallSetVector<Value, 8> sums, loaded;
  for (Root &root : roots) {
    Needs needs(root.value, stored);
    sums.insert_range(needs.sums);
    loaded.insert_range(needs.loaded);
    open.emplace_back(std::move(root), std::move(needs));
  }
  roots.clear();
  auto place = [&](function_ref<bool(const Needs &)> isNext) {
    llvm::erase_if(open, [&](std::pair<Root, Needs> &each) {
      if (!isNext(each.second))
        return false;
      roots.push_back(std::move(each.first));
      return true;
    });
  };
  auto countOperations = [&](Value tile) {
    llvm::SmallPtrSet<Operation *, 16> operations;
    for (auto &[root, needs] : open)
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
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels and sums serve only what callers may leave out. FusionPasses.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/Passes.h"

#include <set>

#define DEBUG_TYPE "taylor-find-demand"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_FINDDEMANDPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {

using fusion::KernelOp;
using fusion::StoreOp;
using fusion::SumOp;

/// Who asks for a value: everybody, or the holders of these results of the function (by number).
struct Demand {
  bool always = false;
  std::set<unsigned> results; ///< In their order, so that kernels which forms have in common are the same.
  void join(const Demand &other) {
    always |= other.always;
    results.insert(other.results.begin(), other.results.end());
  }
  bool operator==(const Demand &) const = default;
};

class DemandFinder {
public:
  explicit DemandFinder(FunctionOp function)
      : function(function), yield(cast<YieldOp>(function.getBody().front().getTerminator())), kept(function) {
  }

  /// Returns how many kernels and sums are not always asked for.
  int64_t run();

private:
  void visit(KernelOp kernel);
  Demand demandOf(StoreOp store);
  void ask(const Reads &reads, const Demand &demand);
  /// The names of the results; null where the value is always asked for.
  ArrayAttr namesOf(const Demand &demand);

  FunctionOp function;
  YieldOp yield;
  FunctionMemory kept;
  DenseMap<Value, Demand> ofValues;
  DenseMap<Operation *, Demand> ofParts;
  int64_t count = 0;
};

void DemandFinder::ask(const Reads &reads, const Demand &demand) {
  for (Value value : reads.values)
    ofValues[value].join(demand);
  for (Operation *op : reads.parts)
    ofParts[op].join(demand);
}

Demand DemandFinder::demandOf(StoreOp store) {
  Value value = store.getValue();
  Demand demand = store.getParts() ? ofParts.lookup(value.getDefiningOp()) : ofValues.lookup(value);
  // What reads a sum from memory asks for its kernel, not for the result that it is too.
  if (!store.getParts() && columnPairs(value))
    demand = {};
  if (store.getNames())
    for (auto [number, result] : llvm::enumerate(yield.getValues()))
      if (result == value && llvm::is_contained(*store.getNames(), (*yield.getNames())[number])) {
        demand.always |= !isOptional(function, number);
        demand.results.insert(number);
      }
  return demand;
}

ArrayAttr DemandFinder::namesOf(const Demand &demand) {
  if (demand.always || demand.results.empty())
    return {};
  SmallVector<Attribute> names =
      llvm::map_to_vector(demand.results, [&](unsigned number) { return (*yield.getNames())[number]; });
  ++count;
  return ArrayAttr::get(function.getContext(), names);
}

void DemandFinder::visit(KernelOp kernel) {
  Demand all;
  DenseMap<Operation *, Demand> ofRows; // of loops over keys
  // Those that others of the kernel are computed from come first.
  std::vector<StoreOp> stores = kernel.getStores();
  for (StoreOp store : llvm::reverse(stores)) {
    Demand demand = demandOf(store);
    Reads reads = kept.readsOf(store);
    ask(reads, demand);
    all.join(demand);
    for (Operation *op : reads.rowPairs)
      ofRows[op].join(demand);
  }
  if (Value positions = positionsOf(kernel))
    ofValues[positions].always = true;
  bool isPairs = kernel.getKind() == fusion::KernelKind::Pairs;
  if (isPairs)
    for (SumOp sum : kernel.getSums())
      all.join(ofValues[sum.getValue()]);
  for (SumOp sum : kernel.getSums()) {
    const Demand &demand = isPairs ? ofValues[sum.getValue()] : ofRows[sum.getValue().getDefiningOp()];
    if (ArrayAttr names = isPairs || !(demand == all) ? namesOf(demand) : ArrayAttr())
      sum.setAskedAttr(names);
  }
  if (ArrayAttr names = namesOf(all)) {
    LDBG() << "kernel " << kernel.getSymName().value_or("") << " is asked for by " << names;
    kernel.setAskedAttr(names);
  }
  ask(kept.readsOfPlanned(kernel), all);
}

int64_t DemandFinder::run() {
  SmallVector<KernelOp> kernels = fusion::getKernels(function);
  for (KernelOp kernel : llvm::reverse(kernels))
    visit(kernel);
  return count;
}

struct FindDemand : taylor::impl::FindDemandPassBase<FindDemand> {
  void getDependentDialects(DialectRegistry &registry) const override {
    FindDemandPassBase::getDependentDialects(registry);
    registerLowering(registry);
  }
  void runOnOperation() override { numAsked += DemandFinder(getOperation()).run(); }
};

} // namespace

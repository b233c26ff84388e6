// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of kernels, their names and their loops over keys. FusionPasses.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"
#include "passes/LowerToTile/Passes.h"

#define DEBUG_TYPE "taylor-order-kernels"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_ORDERKERNELSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {

using fusion::KernelKind;
using fusion::KernelOp;

/// By stage, then kind, then as they were formed.
SmallVector<KernelOp> sortKernels(FunctionOp function) {
  SmallVector<KernelOp> kernels = fusion::getKernels(function);
  llvm::sort(kernels, [](KernelOp a, KernelOp b) {
    auto before = std::pair(a.getStage(), a.getKind()), after = std::pair(b.getStage(), b.getKind());
    return before != after ? before < after : a->isBeforeInBlock(b) && a != b;
  });
  for (KernelOp kernel : kernels)
    kernel->moveBefore(function.getBody().front().getTerminator());
  return kernels;
}

/// The sums of the loops over keys that a kernel runs for what it stores.
void addSums(KernelOp kernel, const FunctionMemory &kept) {
  llvm::SetVector<Operation *> rowPairs;
  for (fusion::StoreOp store : kernel.getStores())
    rowPairs.insert_range(kept.readsOf(store).rowPairs);
  OpBuilder inside = OpBuilder::atBlockBegin(kernel.getBlock());
  for (Operation *op : rowPairs)
    for (Value result : op->getResults())
      fusion::SumOp::create(inside, op->getLoc(), result, ArrayAttr());
}

/// `isFinished`: after the first kernel of pairs.
std::string nameLocal(KernelOp kernel, bool isFinished) {
  if (!kernel.getSums().empty())
    return "attend";
  SmallVector<AxisRef> axes = kernel.getAxes();
  auto *token = llvm::find_if(axes, isTokenAxis);
  if (token == axes.end())
    return "combine";
  StringRef name = *token == AxisRole::Query ? "rows" : *token == AxisRole::Key ? "columns" : "lags";
  return (isFinished ? "finish_" + name : name).str();
}

std::string nameOf(KernelOp kernel, const FunctionMemory &kept, uint64_t firstPairs) {
  switch (kernel.getKind()) {
  case KernelKind::Angles:
    return "angles_" +
           cast<LoweringOpInterface>(kernel.getRotated().getDefiningOp()).getAngles()->token.str();
  case KernelKind::Local:
    return nameLocal(kernel, kernel.getStage() > firstPairs);
  case KernelKind::Pairs:
    return hasDiagonalsOnGrid(cast<PairwiseOp>(kernel.getPlanned()), kept.getSizes()) ? "diagonals" : "pairs";
  case KernelKind::Scan:
  case KernelKind::States:
  case KernelKind::Steps:
    return stringifyKernelKind(kernel.getKind()).str();
  }
  llvm_unreachable("all kinds are above");
}

struct OrderKernels : taylor::impl::OrderKernelsPassBase<OrderKernels> {
  void getDependentDialects(DialectRegistry &registry) const override {
    OrderKernelsPassBase::getDependentDialects(registry);
    registerLowering(registry);
  }
  void runOnOperation() override {
    FunctionMemory kept(getOperation());
    SmallVector<KernelOp> kernels = sortKernels(getOperation());
    uint64_t firstPairs = std::numeric_limits<int64_t>::max();
    for (KernelOp kernel : kernels)
      if (kernel.getKind() == KernelKind::Pairs)
        firstPairs = std::min(firstPairs, kernel.getStage());
    llvm::StringMap<int> used;
    for (KernelOp kernel : kernels) {
      if (kernel.isLocal())
        addSums(kernel, kept);
      std::string name = nameOf(kernel, kept, firstPairs);
      int count = used[name]++;
      kernel.setSymName(count ? name + "_" + std::to_string(count + 1) : name);
      LDBG() << "kernel " << *kernel.getSymName() << ": stage " << kernel.getStage() << ", "
             << kernel.getStores().size() << " arrays, " << kernel.getSums().size() << " sums over pairs";
    }
    numKernels += kernels.size();
  }
};

} // namespace

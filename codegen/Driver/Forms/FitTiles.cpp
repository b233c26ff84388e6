// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Smaller tiles where planned kernels need them. Passes.td has the rule.
#include "codegen/Driver/Forms/CountNeeds.h"
#include "codegen/Driver/Forms/Passes.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-fit-tiles"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_FITTILESPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

namespace {

/// Of the other uses few tokens are a tile, or states take the room.
bool isOverAllPairs(TileUse use) {
  return use == TileUse::Parallel || use == TileUse::Short || use == TileUse::Long;
}

struct FitTiles : taylor::impl::FitTilesPassBase<FitTiles> {
  using FitTilesPassBase::FitTilesPassBase;

  void runOnOperation() override {
    std::unique_ptr<Target> target = findTarget(getOperation(), targetName);
    FailureOr<TargetProblem> problem = readProblem(getOperation());
    if (!target || failed(problem))
      return signalPassFailure();
    for (auto function : getOperation().getOps<FunctionOp>()) {
      if (!isOverAllPairs(findTileUse(*target, *problem, function)))
        continue;
      SmallVector<PairLoopNeeds> needs = findKernelNeeds(function);
      for (const PairLoopNeeds &loop : needs)
        LDBG() << "@" << function.getSymName() << ": " << loop;
      TileSizes sizes = tile::getTileSizes(function);
      std::string reason = target->fitTiles(needs, *problem, sizes);
      if (reason.empty())
        continue;
      LDBG() << "@" << function.getSymName() << ": " << reason;
      function.setPlanAttr(tile::PlanAttr::get(&getContext(), sizes));
      function.setFormAttr(getForm(function).withSmallerTiles(reason));
      ++numSmaller;
    }
  }
};

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile sizes as an attribute of each function. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"

#define DEBUG_TYPE "taylor-plan-tiles"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_PLANTILESPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

void taylor::setPlan(ModuleOp module, const TileSizes &sizes) {
  auto plan = tile::PlanAttr::get(module.getContext(), sizes);
  for (auto function : module.getOps<FunctionOp>())
    function.setPlanAttr(plan);
}

namespace {

struct PlanTiles : taylor::impl::PlanTilesPassBase<PlanTiles> {
  using PlanTilesPassBase::PlanTilesPassBase;

  void runOnOperation() override {
    TileSizes sizes;
    if (llvm::Error error = sizes.parse(tiles)) {
      getOperation().emitError(llvm::toString(std::move(error)));
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<FunctionOp>()) {
      LDBG() << "@" << function.getSymName() << ": " << (tiles.empty() ? "the defaults" : tiles.getValue());
      ++numPlanned;
    }
    setPlan(getOperation(), sizes);
  }
};

} // namespace

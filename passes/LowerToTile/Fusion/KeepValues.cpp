// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that must have memory, as the rule of each operation says. FusionPasses.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/Passes.h"

#define DEBUG_TYPE "taylor-keep-values"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_KEEPVALUESPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {
struct KeepValues : taylor::impl::KeepValuesPassBase<KeepValues> {
  void getDependentDialects(DialectRegistry &registry) const override {
    KeepValuesPassBase::getDependentDialects(registry);
    registerLowering(registry);
  }
  void runOnOperation() override {
    FunctionMemory kept(getOperation());
    for (Operation &op : getOperation().getBody().front())
      if (auto lowering = dyn_cast<LoweringOpInterface>(op))
        lowering.chooseKept(kept);
    numKept += kept.write();
    for (fusion::KeepOp keep : fusion::getKept(getOperation()))
      LDBG() << "in memory: " << keep.getValue().getType() << " of " << keep.getValue().getLoc() << ", "
             << keep.getBecause();
  }
};
} // namespace

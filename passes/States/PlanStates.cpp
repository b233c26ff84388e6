// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What calls hand on, as it was asked for. StatePasses.td has the rule.
#include "passes/Debug.h"
#include "passes/Passes.h"

#define DEBUG_TYPE "taylor-plan-states"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_PLANSTATESPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

struct PlanStates : taylor::impl::PlanStatesPassBase<PlanStates> {
  using PlanStatesPassBase::PlanStatesPassBase;

  void runOnOperation() override {
    for (SpecOp spec : getOperation().getOps<SpecOp>()) {
      if (spec.getCarriesAttr())
        continue;
      spec.setCarriesAttr(CarryAttr::get(&getContext(), mode, block));
      LDBG() << "@" << spec.getSymName() << ": " << spec.getCarriesAttr();
      ++numPlanned;
    }
  }
};

} // namespace

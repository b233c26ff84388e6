// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Forms/Passes.h"
#include "dialect/Refusal.h"
#include "dialect/Taylor/Carried.h"
#include "passes/Debug.h"

#include "mlir/IR/Builders.h"

#define DEBUG_TYPE "taylor-plan-steps"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_PLANSTEPSPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

/// No argument has a name of what calls hand on.
static LogicalResult checkNames(SpecOp spec) {
  for (StringRef name : spec.getArgNames().getAsValueRange<StringAttr>())
    for (StringRef prefix : {kCachePrefix, kHandedOnPrefix})
      if (name.starts_with(prefix))
        return refuse(spec.emitError("unsupported argument '%"))
               << name << "' with --decode: names that begin with '" << prefix
               << "' are those of prepared keys; rename it";
  return success();
}

static void setForm(SpecOp spec, Form kind, const Twine &because) {
  auto form = tile::FormAttr::get(spec.getContext(), kind, FunctionRole::Step);
  spec.setFormAttr(form.withReason(because));
  LDBG() << "@" << spec.getSymName() << ": " << spec.getFormAttr();
}

namespace {

struct PlanSteps : taylor::impl::PlanStepsPassBase<PlanSteps> {
  using PlanStepsPassBase::PlanStepsPassBase;

  void runOnOperation() override {
    std::string asked = ("--decode=" + stringifyDecode(decode)).str();
    for (SpecOp spec : llvm::to_vector(getOperation().getOps<SpecOp>())) {
      if (failed(checkNames(spec)))
        return signalPassFailure();
      if (decode == Decode::Cache) {
        setForm(spec, Form::Parallel, asked);
        continue;
      }
      SpecOp recurrent = spec;
      if (decode == Decode::Auto && !requiresStates) {
        OpBuilder builder(spec);
        recurrent = cast<SpecOp>(builder.clone(*spec));
        recurrent.setSymName((spec.getSymName() + kTwinSuffix).str());
        setForm(spec, Form::Parallel, asked);
        ++numTwins;
      }
      setForm(recurrent, Form::Recurrent, asked + ": its sums are recurrences");
    }
  }
};

} // namespace

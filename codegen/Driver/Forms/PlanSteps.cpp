// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Forms/Passes.h"
#include "dialect/Refusal.h"
#include "dialect/Taylor/Carried.h"
#include "passes/Debug.h"

#include "mlir/IR/SymbolTable.h"

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

namespace {

struct PlanSteps : taylor::impl::PlanStepsPassBase<PlanSteps> {
  using PlanStepsPassBase::PlanStepsPassBase;

  void runOnOperation() override;

private:
  void addStep(SpecOp spec, StringRef suffix, Form kind, CarryAttr carries, const Twine &because);
  void addSteps(SpecOp spec);
};

} // namespace

/// A specification of the same formula, for a step, after all that there are.
void PlanSteps::addStep(SpecOp spec, StringRef suffix, Form kind, CarryAttr carries, const Twine &because) {
  auto step = cast<SpecOp>(spec->clone());
  step.setSymName((spec.getSymName() + suffix).str());
  step.setStepOf(spec.getSymName());
  step.setFormAttr(tile::FormAttr::get(&getContext(), kind, FunctionRole::Step).withReason(because));
  step.setCarriesAttr(carries);
  SymbolTable(getOperation()).insert(step, getOperation().getBody()->end());
  LDBG() << "@" << step.getSymName() << ": " << step.getFormAttr() << ", " << carries;
  ++numSteps;
}

/// Calls of the whole sequence leave what steps go on from, unless more was asked of them. With `auto`,
/// taylor-carry-states finds out which of two steps that is.
void PlanSteps::addSteps(SpecOp spec) {
  std::string asked = ("--decode=" + stringifyDecode(decode)).str();
  bool maybeKeys = decode == Decode::Cache || (decode == Decode::Auto && !requiresStates);
  bool maybeStates = decode != Decode::Cache;
  CarryAttr pieces = CarryAttr::get(&getContext(), CarryMode::Pieces, block);
  CarryAttr recurrent = CarryAttr::get(&getContext(), CarryMode::Recurrent, block);
  CarryAttr queries = CarryAttr::get(&getContext(), CarryMode::Queries);
  if (maybeStates && maybeKeys)
    recurrent = CarryAttr::get(&getContext(), CarryMode::Recurrent, block, channels, mostTokens);
  else if (!spec.getCarriesAttr())
    spec.setCarriesAttr(maybeKeys ? queries : pieces);
  numTwins += maybeStates && maybeKeys;
  if (maybeStates)
    addStep(spec, maybeKeys ? ".step.recurrent" : ".step", Form::Recurrent, recurrent,
            asked + ": its sums are recurrences");
  if (maybeKeys)
    addStep(spec, ".step", Form::Parallel, queries, asked);
}

void PlanSteps::runOnOperation() {
  for (SpecOp spec : llvm::to_vector(getOperation().getOps<SpecOp>())) {
    if (spec.getStepOf())
      continue;
    if (failed(checkNames(spec)))
      return signalPassFailure();
    addSteps(spec);
  }
}

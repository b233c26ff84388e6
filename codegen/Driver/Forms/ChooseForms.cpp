// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs of functions, and the forms that pay. Passes.td has the rule.
#include "codegen/Driver/Forms/Passes.h"
#include "passes/Debug.h"
#include "llvm/ADT/MapVector.h"

#define DEBUG_TYPE "taylor-choose-forms"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CHOOSEFORMSPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

namespace {

struct ChooseForms : taylor::impl::ChooseFormsPassBase<ChooseForms> {
  using ChooseFormsPassBase::ChooseFormsPassBase;
  TargetProblem problem;
  std::vector<CostSample> machine;

  void runOnOperation() override;

private:
  bool isCausal();
  void choose(FunctionOp function, FunctionOp twin);
};

} // namespace

bool ChooseForms::isCausal() {
  auto interface = getOperation()->getAttrOfType<InterfaceAttr>(kInterface);
  return !interface || interface.getMask() == Mask::Causal;
}

void ChooseForms::choose(FunctionOp function, FunctionOp twin) {
  std::optional<int64_t> crossover =
      findCrossover(getForm(function).getCost().getCost(), getForm(twin).getCost().getCost(), isCausal());
  LDBG() << "@" << twin.getSymName() << (crossover ? " pays" : " does not pay");
  if (crossover) {
    ++numKept;
    return setReason(function, "chunked from about " + Twine(*crossover) +
                                   " tokens on (one head that attends to itself), parallel below, by the "
                                   "costs of both");
  }
  ++numErased;
  setReason(function, "parallel: the chunked form costs more at 1048576 tokens");
  twin.erase();
}

void ChooseForms::runOnOperation() {
  std::unique_ptr<Target> target = findTarget(getOperation(), targetName);
  if (!target)
    return signalPassFailure();
  CostRates rates = target->getRates(problem);
  rates.machine = machine;
  llvm::MapVector<StringAttr, FunctionOp> first;
  SmallVector<std::pair<FunctionOp, FunctionOp>> twins;
  for (auto function : getOperation().getOps<FunctionOp>()) {
    auto form = cast_if_present<tile::FormAttr>(function.getFormAttr());
    if (!form || (form.getFunction() != "forward" && form.getFunction() != "backward"))
      continue;
    function.setFormAttr(form.withCost(estimateCost(function, form.getFunction(), rates)));
    if (roleOf(function) == form.getFunction())
      first[form.getFunction()] = function;
    else
      twins.push_back({first.lookup(form.getFunction()), function});
  }
  for (auto [function, twin] : twins)
    choose(function, twin);
}

std::unique_ptr<Pass> taylor::createChooseFormsPass(const ChooseFormsPassOptions &options,
                                                    const TargetProblem &problem,
                                                    ArrayRef<CostSample> machine) {
  auto pass = std::make_unique<ChooseForms>(options);
  pass->problem = problem;
  pass->machine = machine.vec();
  return pass;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs of functions, and the forms that pay. Passes.td has the rule.
#include "codegen/Driver/Forms/Passes.h"
#include "passes/Debug.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#define DEBUG_TYPE "taylor-choose-forms"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CHOOSEFORMSPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

namespace {

/// A function's forms: the first one, which every call can take, and the others, null where there is none.
struct FunctionForms {
  FunctionOp parallel, longer, chunked;
};

struct ChooseForms : taylor::impl::ChooseFormsPassBase<ChooseForms> {
  using ChooseFormsPassBase::ChooseFormsPassBase;

  void runOnOperation() override;

private:
  bool isCausal();
  std::optional<int64_t> crossoverOf(FunctionOp function, FunctionOp twin);
  void keep(FunctionOp twin, bool pays);
  void choose(FunctionForms forms);
};

} // namespace

bool ChooseForms::isCausal() {
  auto interface = getOperation()->getAttrOfType<InterfaceAttr>(kInterface);
  return !interface || interface.getMask() == Mask::Causal;
}

/// The tokens from which on the twin costs less; none where there is no twin.
std::optional<int64_t> ChooseForms::crossoverOf(FunctionOp function, FunctionOp twin) {
  if (!twin)
    return std::nullopt;
  return findCrossover(getForm(function).getCost().getCost(), getForm(twin).getCost().getCost(), isCausal());
}

void ChooseForms::keep(FunctionOp twin, bool pays) {
  if (!twin)
    return;
  LDBG() << "@" << twin.getSymName() << (pays ? " pays" : " does not pay");
  if (pays && !firstAlone) {
    ++numKept;
  } else {
    ++numErased;
    twin.erase();
  }
}

/// Of the three forms, each is the cheapest from its own number of tokens on, or goes.
void ChooseForms::choose(FunctionForms forms) {
  std::optional<int64_t> longer = crossoverOf(forms.parallel, forms.longer),
                         chunked = crossoverOf(forms.parallel, forms.chunked);
  if (longer && chunked && *chunked <= *longer)
    longer = std::nullopt;
  if (longer)
    chunked = crossoverOf(forms.longer, forms.chunked);
  if (forms.chunked && !chunked)
    forms.parallel.setFormAttr(
        getForm(forms.parallel).withLeftOut("the chunked form costs more at 1048576 tokens"));
  SmallVector<std::string> found;
  for (auto [kind, from] : {std::pair(Form::Long, longer), std::pair(Form::Chunked, chunked)})
    if (from)
      found.push_back((Twine(stringifyForm(kind)) + " from about " + Twine(*from)).str());
  keep(forms.longer, longer.has_value());
  keep(forms.chunked, chunked.has_value());
  if (!found.empty())
    setReason(forms.parallel, llvm::join(found, ", ") +
                                  " tokens on (one head that attends to itself), parallel below, by the "
                                  "costs of " +
                                  (found.size() == 1 ? "both" : "all"));
}

/// The parallel form's cost, with the differences that the target knows.
static FormCost costOfLong(const FormCost &parallel, const FormCost &own, const LongForm &form) {
  FormCost cost = parallel;
  cost.pair *= form.pair;
  cost.query += parallel.pair * form.pairsOfQuery;
  cost.operations = own.operations;
  return cost;
}

void ChooseForms::runOnOperation() {
  std::unique_ptr<Target> target = findTarget(getOperation(), targetName);
  FailureOr<TargetProblem> problem = readProblem(getOperation());
  if (!target || failed(problem))
    return signalPassFailure();
  CostRates rates = target->getRates(*problem);
  rates.machine = problem->formCosts;
  // Twins stand after the functions that they are twins of.
  llvm::MapVector<FunctionRole, FunctionForms> functions;
  for (auto function : getOperation().getOps<FunctionOp>()) {
    auto form = cast_if_present<tile::FormAttr>(function.getFormAttr());
    if (!form ||
        (form.getFunction() != FunctionRole::Forward && form.getFunction() != FunctionRole::Backward))
      continue;
    FormCost cost = estimateCost(function, form.getFunction(), rates);
    FunctionForms &forms = functions[form.getFunction()];
    if (!function.isTwin()) {
      forms.parallel = function;
    } else if (form.getKind() == Form::Long) {
      forms.longer = function;
      cost = costOfLong(getForm(forms.parallel).getCost().getCost(), cost,
                        *target->getLongForm(*problem, form.getFunction()));
    } else {
      forms.chunked = function;
    }
    function.setFormAttr(form.withCost(cost));
  }
  for (const auto &[role, forms] : functions)
    if (forms.longer || forms.chunked)
      choose(forms);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function for each form, with a plan. Passes.td has the rule.
#include "codegen/Driver/Forms/Passes.h"
#include "dialect/Refusal.h"
#include "passes/Debug.h"
#include "passes/LowerToTile/VisibleRanges.h"

#define DEBUG_TYPE "taylor-plan-forms"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_PLANFORMSPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

std::unique_ptr<Target> taylor::findTarget(ModuleOp module, StringRef name) {
  std::string error;
  std::unique_ptr<Target> target = makeTarget(name, error);
  if (!target)
    module.emitError(error);
  return target;
}

tile::FormAttr taylor::makeForm(FunctionOp function, FunctionRole role, Form kind) {
  Builder builder(function.getContext());
  auto form = tile::FormAttr::get(builder.getContext(), kind, role);
  if (kind != Form::Recurrent)
    return form;
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  SmallVector<Attribute> pairs;
  for (auto steps : function.getBody().front().getOps<StepStatesOp>())
    for (auto [before, after] : llvm::zip(steps.getInitial(), steps.getStates())) {
      auto argument = dyn_cast<BlockArgument>(before);
      auto result = llvm::find(yield.getValues(), after);
      if (argument && result != yield.getValues().end())
        pairs.push_back(builder.getArrayAttr({function.getArgNames()[argument.getArgNumber()],
                                              (*yield.getNames())[result - yield.getValues().begin()]}));
    }
  return form.withInPlace(builder.getArrayAttr(pairs));
}

namespace {

/// Functions that get a form.
using Group = SmallVector<FunctionOp>;

struct PlanForms : taylor::impl::PlanFormsPassBase<PlanForms> {
  using PlanFormsPassBase::PlanFormsPassBase;
  TargetProblem problem;

  void runOnOperation() override;

private:
  void setPlan(const Target &target, FunctionOp function, TileUse use);
  LogicalResult setForms(const Target &target, Group &group);
  FunctionOp cloneAs(FunctionOp function, Form kind);
  void addLongTwins(const Target &target, Group &group);
  void addChunkedTwins(const Target &target, Group &group);
};

} // namespace

/// Whether the target has tiles for long sequences for it, and the longer sequences are, the more pairs it
/// has: with windows and documents there are as few of them however long the sequence is.
static bool hasLongForm(const Target &target, const TargetProblem &problem, FunctionOp function) {
  std::optional<FunctionRole> role = function.getRole();
  return role && target.getLongForm(problem, *role) &&
         llvm::all_of(function.getBody().front().getOps<PairwiseOp>(), [](PairwiseOp pairs) {
           return pairs.getVisible().empty() || VisibleRanges(pairs).isDiagonal();
         });
}

/// Few queries are a step's, or those of the function that prepares keys for it.
TileUse taylor::findTileUse(const Target &target, const TargetProblem &problem, FunctionOp function) {
  switch (getForm(function).getKind()) {
  case Form::Recurrent:
    return TileUse::Steps;
  case Form::Long:
    return TileUse::Long;
  case Form::Chunked:
    return TileUse::Chunked;
  case Form::Parallel:
    break;
  }
  if (FunctionRole role = getForm(function).getFunction();
      role == FunctionRole::Step || role == FunctionRole::Append)
    return TileUse::FewQueries;
  return hasLongForm(target, problem, function) ? TileUse::Short : TileUse::Parallel;
}

void PlanForms::setPlan(const Target &target, FunctionOp function, TileUse use) {
  TileSizes sizes = target.planTiles(problem, use);
  sizes.chunked = use == TileUse::Chunked;
  function.setPlanAttr(tile::PlanAttr::get(&getContext(), sizes));
  LDBG() << "@" << function.getSymName() << ": " << function.getPlanAttr();
  ++numPlans;
}

/// The form that was asked for; `parallel` where none was, or a function has no tiles for long sequences.
LogicalResult PlanForms::setForms(const Target &target, Group &group) {
  std::optional<Form> asked = formOf(form);
  bool isLong = asked == Form::Long;
  if (isLong &&
      llvm::none_of(group, [&](FunctionOp function) { return hasLongForm(target, problem, function); }))
    return refuse(getOperation().getBody()->front().emitError("unsupported for "))
           << target.getName()
           << ": --form=long; it is for kernels with tiles by length: of sm_90a+lengths, in 16 bits, of 64 "
              "or 128 channels, causal or without a mask";
  for (FunctionOp function : group) {
    std::optional<FunctionRole> role = function.getRole();
    if (!role)
      return function.emitOpError("requires a name that ends with what it is for, such as @f.forward");
    bool isParallel = !asked || (isLong && !hasLongForm(target, problem, function));
    function.setFormAttr(makeForm(function, *role, isParallel ? Form::Parallel : *asked));
    if (asked)
      setReason(function, "--form=" + stringifyFormChoice(form) +
                              (isParallel ? ": it has no tiles of its own for long sequences" : ""));
  }
  return success();
}

/// A twin in another form, after the functions.
FunctionOp PlanForms::cloneAs(FunctionOp function, Form kind) {
  auto twin = cast<FunctionOp>(OpBuilder::atBlockEnd(getOperation().getBody()).clone(*function));
  twin.setFormAttr(makeForm(function, getForm(function).getFunction(), kind));
  twin.setSymName((function.getSymName() + "_" + stringifyForm(kind)).str());
  return twin;
}

/// Twins with tiles for long sequences.
void PlanForms::addLongTwins(const Target &target, Group &group) {
  for (FunctionOp function : group) {
    if (!hasLongForm(target, problem, function))
      continue;
    setPlan(target, cloneAs(function, Form::Long), TileUse::Long);
    ++numTwins;
  }
}

/// Twins in the chunked form. Those that have none go in taylor-chunk-sums, which says why.
void PlanForms::addChunkedTwins(const Target &target, Group &group) {
  for (FunctionOp function : group) {
    setPlan(target, cloneAs(function, Form::Chunked), TileUse::Chunked);
    ++numTwins;
  }
}

void PlanForms::runOnOperation() {
  std::unique_ptr<Target> target = findTarget(getOperation(), targetName);
  FailureOr<TargetProblem> said = readProblem(getOperation());
  if (!target || failed(said))
    return signalPassFailure();
  problem = *said;
  // Steps say their form already.
  Group main;
  for (auto function : getOperation().getOps<FunctionOp>())
    if (!function.getFormAttr())
      main.push_back(function);
  if (failed(setForms(*target, main)))
    return signalPassFailure();
  for (auto function : getOperation().getOps<FunctionOp>())
    setPlan(*target, function, findTileUse(*target, problem, function));
  if (!alternatives)
    return;
  addLongTwins(*target, main);
  addChunkedTwins(*target, main);
}

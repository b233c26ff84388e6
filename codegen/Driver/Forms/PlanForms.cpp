// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function for each form, with a plan. Passes.td has the rule.
#include "codegen/Driver/Forms/Passes.h"
#include "dialect/Refusal.h"
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/LowerToTile/VisibleRanges.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include <vector>

#define DEBUG_TYPE "taylor-plan-forms"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_PLANFORMSPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

/// What finds no room after so many shrinkings is refused where its code is made.
static constexpr int64_t kMostRetries = 4;

std::unique_ptr<Target> taylor::findTarget(ModuleOp module, StringRef name) {
  std::string error;
  std::unique_ptr<Target> target = makeTarget(name, error);
  if (!target)
    module.emitError(error);
  return target;
}

LogicalResult taylor::reportFault(ModuleOp module, StringRef what, StringRef wayOut) {
  return module.getBody()->front().emitError("expected ")
         << what << ", or why there is none, but "
         << "got an error: a fault of the compiler, please report it; " << wayOut;
}

tile::FormAttr taylor::makeForm(FunctionOp function, StringRef name) {
  Builder builder(function.getContext());
  auto form = tile::FormAttr::get(builder.getStringAttr(name), builder.getStringAttr(roleOf(function)));
  if (name != "recurrent")
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

/// Functions that have one plan: those of a form, or of steps.
using Group = SmallVector<FunctionOp>;

struct PlanForms : taylor::impl::PlanFormsPassBase<PlanForms> {
  using PlanFormsPassBase::PlanFormsPassBase;
  TargetProblem problem;

  void runOnOperation() override;

private:
  TileUse useOf(const Target &target, FunctionOp function) const;
  std::string setPlans(const Target &target, Group &group, TileUse use);
  bool hasLongForm(const Target &target, FunctionOp function) const;
  LogicalResult setForms(const Target &target, Group &group);
  FunctionOp cloneAs(FunctionOp function, StringRef name);
  void addLongTwins(const Target &target, Group &group);
  LogicalResult addChunkedTwins(const Target &target, Group &group);
  FailureOr<OwningOpRef<ModuleOp>> lowerCopy(ArrayRef<FunctionOp> group,
                                             function_ref<void(OpPassManager &)> build);
};

} // namespace

/// Few queries are a step's, or those of the function that prepares keys for it.
TileUse PlanForms::useOf(const Target &target, FunctionOp function) const {
  StringRef form = getForm(function).getName();
  if (form == "recurrent")
    return TileUse::Steps;
  if (form == "long")
    return TileUse::Long;
  if (form == "chunked")
    return TileUse::Chunked;
  if (roleOf(function) == "step" || roleOf(function) == "append")
    return TileUse::FewQueries;
  return hasLongForm(target, function) ? TileUse::Short : TileUse::Parallel;
}

static TileSizes planTiles(const Target &target, const TargetProblem &problem, TileUse use) {
  TileSizes sizes = target.planTiles(problem, use);
  sizes.chunked = use == TileUse::Chunked;
  return sizes;
}

/// A module of copies of the functions, after the passes that `build` adds.
FailureOr<OwningOpRef<ModuleOp>> PlanForms::lowerCopy(ArrayRef<FunctionOp> group,
                                                      function_ref<void(OpPassManager &)> build) {
  OwningOpRef<ModuleOp> copy = ModuleOp::create(getOperation().getLoc());
  for (FunctionOp function : group)
    copy->push_back(function->clone());
  PassManager manager(&getContext(), ModuleOp::getOperationName());
  build(manager);
  if (failed(manager.run(*copy)))
    return failure();
  return copy;
}

/// The module's programs of some of the functions that it was made of, which are those from `first` on.
static OwningOpRef<ModuleOp> takePrograms(ModuleOp programs, size_t first, size_t count) {
  OwningOpRef<ModuleOp> taken = programs.clone();
  for (auto [number, program] : llvm::enumerate(llvm::to_vector(taken->getOps<tile::ProgramOp>())))
    if (number < first || number >= first + count)
      program.erase();
  return taken;
}

/// The largest plans of which code can be made that the target would not rather make smaller; if there is
/// none the smallest, and why.
std::string PlanForms::setPlans(const Target &target, Group &group, TileUse use) {
  // What functions of the parallel form have in common does not hang on their tiles: each has a plan of its
  // own.
  size_t count = use == TileUse::Parallel && !problem.states ? 1 : group.size();
  struct Attempt {
    TargetProblem problem;
    TileSizes sizes;
    size_t first; ///< of its functions
    bool isDone = false;
  };
  std::vector<Attempt> attempts;
  auto plan = [&](Attempt &attempt) {
    attempt.sizes = planTiles(target, attempt.problem, use);
    for (FunctionOp function : ArrayRef(group).slice(attempt.first, count))
      function.setPlanAttr(tile::PlanAttr::get(&getContext(), attempt.sizes));
    numPlans += count;
  };
  auto canShrink = [&](const Attempt &attempt) {
    TargetProblem least = attempt.problem;
    least.retries = kMostRetries;
    return attempt.problem.retries < kMostRetries && !(planTiles(target, least, use) == attempt.sizes);
  };
  for (size_t first = 0; first < group.size(); first += count) {
    plan(attempts.emplace_back(Attempt{problem, {}, first, false}));
    attempts.back().isDone = !canShrink(attempts.back());
  }
  // What is wrong with the functions is said where they are lowered.
  ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &) { return success(); });
  std::string refusal;
  while (!llvm::all_of(attempts, [](const Attempt &attempt) { return attempt.isDone; })) {
    FailureOr<OwningOpRef<ModuleOp>> programs = lowerCopy(group, buildTilePipeline);
    if (failed(programs))
      return "";
    for (Attempt &attempt : attempts) {
      if (attempt.isDone)
        continue;
      refusal = target.refuse(*takePrograms(**programs, attempt.first, count), problem);
      attempt.isDone = refusal.empty() || !canShrink(attempt);
      if (attempt.isDone)
        continue;
      LDBG() << "smaller tiles for " << count << " functions: " << refusal;
      ++numShrunk;
      // Where some sizes are at their least already, the next attempt shrinks others.
      for (TileSizes before = attempt.sizes; canShrink(attempt) && attempt.sizes == before; plan(attempt))
        ++attempt.problem.retries;
    }
  }
  return refusal;
}

/// Whether the target has tiles for long sequences for it, and the longer sequences are, the more pairs it
/// has: with windows and documents there are as few of them however long the sequence is.
bool PlanForms::hasLongForm(const Target &target, FunctionOp function) const {
  return target.getLongForm(problem, roleOf(function)) &&
         llvm::all_of(function.getBody().front().getOps<PairwiseOp>(), [](PairwiseOp pairs) {
           return pairs.getVisible().empty() || VisibleRanges(pairs).isDiagonal();
         });
}

/// The form that was asked for; `parallel` where none was, or a function has no tiles for long sequences.
LogicalResult PlanForms::setForms(const Target &target, Group &group) {
  bool isLong = form == "long";
  if (isLong && llvm::none_of(group, [&](FunctionOp function) { return hasLongForm(target, function); }))
    return getOperation().getBody()->front().emitError("unsupported for ")
           << target.getName()
           << ": --form=long; it is for kernels with tiles by length: of sm_90a+lengths, in 16 bits, of 64 "
              "or 128 channels, causal or without a mask";
  for (FunctionOp function : group) {
    bool isParallel = form == "auto" || (isLong && !hasLongForm(target, function));
    function.setFormAttr(makeForm(function, isParallel ? "parallel" : form.getValue()));
    if (form != "auto")
      setReason(function, "--form=" + Twine(form.getValue()) +
                              (isParallel ? ": it has no tiles of its own for long sequences" : ""));
  }
  return success();
}

/// A twin in another form, after the functions.
FunctionOp PlanForms::cloneAs(FunctionOp function, StringRef name) {
  auto twin = cast<FunctionOp>(OpBuilder::atBlockEnd(getOperation().getBody()).clone(*function));
  twin.setFormAttr(makeForm(function, name));
  twin.setSymName((function.getSymName() + "_" + name).str());
  return twin;
}

/// Twins with tiles for long sequences.
void PlanForms::addLongTwins(const Target &target, Group &group) {
  Group twins;
  for (FunctionOp function : group)
    if (hasLongForm(target, function))
      twins.push_back(cloneAs(function, "long"));
  if (!twins.empty())
    setPlans(target, twins, TileUse::Long);
  numTwins += twins.size();
}

/// Twins in the chunked form; none of a group of which a sum has no such form.
LogicalResult PlanForms::addChunkedTwins(const Target &target, Group &group) {
  Group twins;
  for (FunctionOp function : group)
    twins.push_back(cloneAs(function, "chunked"));
  for (FunctionOp twin : twins)
    twin.setPlanAttr(tile::PlanAttr::get(&getContext(), planTiles(target, problem, TileUse::Chunked)));
  // That some sums stay as they are in a form that no one asked for is no news.
  ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
  });
  std::string refusal;
  auto lower = [&] { return lowerCopy(twins, buildFormPipeline); };
  if (failed(captureRefusal(&getContext(), refusal, lower)) && refusal.empty())
    return reportFault(getOperation(), "the chunked form", "use --form=parallel until it is mended");
  if (refusal.empty())
    refusal = setPlans(target, twins, TileUse::Chunked);
  if (refusal.empty()) {
    numTwins += twins.size();
    return success();
  }
  LDBG() << "no chunked form: " << refusal;
  for (auto [function, twin] : llvm::zip_equal(group, twins)) {
    setReason(function, "parallel: " + Twine(refusal));
    twin.erase();
  }
  return success();
}

void PlanForms::runOnOperation() {
  std::unique_ptr<Target> target = findTarget(getOperation(), targetName);
  FailureOr<TargetProblem> said = readProblem(getOperation());
  if (!target || failed(said))
    return signalPassFailure();
  problem = *said;
  // In the order of the module; functions with the same use have one plan, except in the parallel form. Steps
  // say their form already.
  llvm::MapVector<TileUse, Group> groups;
  Group main;
  for (auto function : getOperation().getOps<FunctionOp>())
    if (!function.getFormAttr())
      main.push_back(function);
  if (failed(setForms(*target, main)))
    return signalPassFailure();
  for (auto function : getOperation().getOps<FunctionOp>())
    groups[useOf(*target, function)].push_back(function);
  for (auto &[use, group] : groups)
    setPlans(*target, group, use);
  if (!alternatives)
    return;
  addLongTwins(*target, main);
  if (failed(addChunkedTwins(*target, main)))
    signalPassFailure();
}

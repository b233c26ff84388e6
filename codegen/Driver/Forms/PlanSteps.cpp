// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that decode.  Passes.td has the rule.
#include "codegen/Driver/Forms/Passes.h"
#include "dialect/Refusal.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Carried.h"
#include "passes/Debug.h"
#include "passes/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "taylor-plan-steps"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_PLANSTEPSPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

/// Larger states than the keys and values of so many tokens are not chosen.
static constexpr int64_t kMostTokensOfStates = 1'000'000;

/// `@NAME.step`, or `@NAME.append` of the function that prepares keys for it.
static void nameStep(FunctionOp function) {
  StringRef spec = function.getSpecName();
  bool prepares = function.getPreparesKeys() && spec.consume_back(kKeysSuffix);
  function.setSymName((spec + (prepares ? ".append" : ".step")).str());
}

/// Names the functions and says their form; over prepared keys there is also `extend`, which is `step` for
/// many queries.
static void finishSteps(ModuleOp module, StringRef form, StringRef because) {
  FunctionOp step;
  bool preparesKeys = false;
  for (auto function : module.getOps<FunctionOp>()) {
    nameStep(function);
    function.setFormAttr(makeForm(function, form));
    if (function.getPreparesKeys()) {
      preparesKeys = true;
      continue;
    }
    step = function;
    setReason(function, because);
  }
  if (!preparesKeys)
    return;
  auto extend = cast<FunctionOp>(OpBuilder::atBlockEnd(module.getBody()).clone(*step));
  extend.setSymName((step.getSpecName() + ".extend").str());
  extend.setFormAttr(makeForm(extend, form));
}

/// Bytes of the states of one head.
static double stateBytes(FunctionOp step) {
  double bytes = 0;
  for (auto [argument, name] :
       llvm::zip(step.getBody().getArguments(), step.getArgNames().getAsValueRange<StringAttr>())) {
    if (!isCarried(name.split(':').second))
      continue;
    auto type = cast<ArrayType>(argument.getType());
    double size = type.getElementType().getIntOrFloatBitWidth() / 8;
    for (auto [axis, extent] : llvm::zip(type.getAxes(), type.getSizes()))
      size *= isRuntimeAxis(axis) ? 1.0 : double(extent);
    bytes += size;
  }
  return bytes;
}

/// No argument has a name of what calls hand on.
static LogicalResult checkNames(ModuleOp module) {
  for (auto spec : module.getOps<SpecOp>())
    for (StringRef name : spec.getArgNames().getAsValueRange<StringAttr>())
      for (StringRef prefix : {kCachePrefix, kHandedOnPrefix})
        if (name.starts_with(prefix))
          return spec.emitError("unsupported argument '%")
                 << name << "' with --decode: names that begin with '" << prefix
                 << "' are those of prepared keys; rename it";
  return success();
}

namespace {

/// A step in one of its two forms.
struct StepFunctions {
  OwningOpRef<ModuleOp> functions;
  /// What is to be said of this form alone, if it is taken.
  SmallVector<std::pair<Location, std::string>> warnings;
};

struct PlanSteps : taylor::impl::PlanStepsPassBase<PlanSteps> {
  using PlanStepsPassBase::PlanStepsPassBase;

  void runOnOperation() override;

private:
  FailureOr<StepFunctions> lowerCopy(const CarriedStates &states);
  FailureOr<StepFunctions> findRecurrence(std::string &refusal);
};

} // namespace

/// Forward functions of a copy of the specifications that hands on what `states` says.
FailureOr<StepFunctions> PlanSteps::lowerCopy(const CarriedStates &states) {
  StepFunctions step;
  step.functions = getOperation().clone();
  auto run = [&](function_ref<void(OpPassManager &)> build) {
    PassManager manager(&getContext(), ModuleOp::getOperationName());
    build(manager);
    return manager.run(*step.functions);
  };
  // What is to be said of the specification is said where its other functions are made.
  ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
  });
  {
    ScopedDiagnosticHandler keep(&getContext(), [&](Diagnostic &diagnostic) {
      bool isWarning = diagnostic.getSeverity() == DiagnosticSeverity::Warning;
      if (isWarning)
        step.warnings.push_back({diagnostic.getLocation(), diagnostic.str()});
      return success(isWarning);
    });
    if (failed(run([&](OpPassManager &manager) { buildSpecializedToPairsPipeline(manager, states); })))
      return failure();
  }
  if (failed(
          run([](OpPassManager &manager) { buildPairsToPairwisePipeline(manager, /*forwardOnly=*/true); })))
    return failure();
  return step;
}

/// The step as a recurrence. Where there is none, or its states are larger than keys would be, `refusal` says
/// why; it is empty after an error.
FailureOr<StepFunctions> PlanSteps::findRecurrence(std::string &refusal) {
  FailureOr<StepFunctions> step = captureRefusal(&getContext(), refusal, [&] {
    return lowerCopy({stateBlock, /*recurrent=*/true, /*queriesOnly=*/false});
  });
  if (failed(step))
    return failure();
  double bytes = stateBytes(*step->functions->getOps<FunctionOp>().begin());
  if (bytes <= 4.0 * kMostTokensOfStates * double(channels))
    return step;
  refusal = llvm::formatv("its states have {0:F1} GB per head, more than keys and values of {1} tokens",
                          bytes * 1e-9, kMostTokensOfStates);
  return failure();
}

void PlanSteps::runOnOperation() {
  if (failed(checkNames(getOperation())))
    return signalPassFailure();
  std::string refusal;
  FailureOr<StepFunctions> step = failure();
  if (decode == "auto" && !requiresStates) {
    step = findRecurrence(refusal);
    if (failed(step) && refusal.empty()) {
      (void)reportFault(getOperation().getBody()->front().emitError(), "a step that carries states",
                        "use --decode=cache until it is mended");
      return signalPassFailure();
    }
  } else if (decode != "cache") {
    step = lowerCopy({stateBlock, /*recurrent=*/true, /*queriesOnly=*/false});
    if (failed(step))
      return signalPassFailure();
  }
  bool isRecurrence = succeeded(step);
  std::string because = "--decode=" + decode;
  if (isRecurrence) {
    for (auto &[at, text] : step->warnings)
      emitWarning(at) << text;
    because += ": its sums are recurrences";
    ++numRecurrences;
  } else {
    step = lowerCopy({1, /*recurrent=*/false, /*queriesOnly=*/true, /*preparesKeys=*/true});
    if (failed(step))
      return signalPassFailure();
    if (!refusal.empty())
      because += ", over all keys: " + refusal;
    ++numOverKeys;
  }
  LDBG() << because;
  finishSteps(*step->functions, isRecurrence ? "recurrent" : "parallel", because);
  // The functions take the place of the specifications that they were made of.
  Block *body = getOperation().getBody();
  while (!body->empty())
    body->back().erase();
  body->getOperations().splice(body->end(), step->functions->getBody()->getOperations());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions a specification becomes, and the tile programs of a target. Which forms they have is
// decided in codegen/Forms.
#include "codegen/Driver/Driver.h"
#include "codegen/Forms/Passes.h"

#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Carried.h"
#include "passes/AddDocuments.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"
#include "runtime/artifact.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace taylor;

//===----------------------------------------------------------------------===//
// What may be refused
//===----------------------------------------------------------------------===//

/// A handler for what is made beside or after that whose warnings are shown.
static LogicalResult swallowWarning(Diagnostic &diagnostic) {
  return success(diagnostic.getSeverity() == DiagnosticSeverity::Warning);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// One layout of states for all targets.
int64_t Driver::stateBlock() const {
  TargetProblem problem = getProblem();
  problem.states = true;
  int64_t block = 1;
  for (const std::unique_ptr<Target> &target : targets)
    block = std::max(block, target->planTiles(problem, TileUse::Chunked).featureBlock);
  return block;
}

/// Larger states than the keys and values of so many tokens are not chosen.
static constexpr int64_t kMostTokensOfStates = 1'000'000;

/// What calls hand on that have all keys.
static CarriedStates carriedQueries(bool preparesKeys = false) {
  return {1, /*recurrent=*/false, /*queriesOnly=*/true, preparesKeys};
}

/// `@NAME.step`, or `@NAME.append` of the function that prepares keys for it.
static void nameStep(FunctionOp function) {
  StringRef spec = function.getSpecName();
  bool prepares = function->hasAttr(kKeysAttr) && spec.consume_back(kKeysSuffix);
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
    if (function->hasAttr(kKeysAttr)) {
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

/// Gives arrays that are kept of keys their role: `cache:NAME` before the call, `append:NAME` after it. So
/// has what the function `append` hands on: `cache:carried.NAME`.
static void nameCache(ModuleOp programs) {
  for (auto program : programs.getOps<tile::ProgramOp>()) {
    bool prepares = program.getSymName() == "append";
    for (auto tensor : program.getBlock()->getOps<tile::TensorOp>()) {
      auto [role, name] = tensor.getName().split(':');
      bool isInput = role == "input";
      StringRef kind = isInput ? "cache:" : "append:";
      if (name.consume_front(kCachePrefix))
        tensor.setName((kind + name).str());
      else if (prepares && name.consume_front(isInput ? "initial." : "final."))
        tensor.setName((kind + kHandedOnPrefix + name).str());
    }
  }
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

/// Makes `steps` of the specialised specification: the recurrence, where its sums have that form, else its
/// forward, of queries whose call has all keys.
LogicalResult Driver::prepareSteps() {
  if (failed(checkNames(*module)))
    return failure();
  // What is to be said of the specification is said where its other functions are made; what is of the
  // recurrence alone, when it is known to be one.
  SmallVector<std::pair<Location, std::string>> ofRecurrence;
  auto lower = [&](const CarriedStates &states) -> LogicalResult {
    steps = module->clone();
    ScopedDiagnosticHandler quiet(&context, swallowWarning);
    {
      ScopedDiagnosticHandler keep(&context, [&](Diagnostic &diagnostic) {
        bool isWarning = diagnostic.getSeverity() == DiagnosticSeverity::Warning;
        if (isWarning)
          ofRecurrence.push_back({diagnostic.getLocation(), diagnostic.str()});
        return success(isWarning);
      });
      if (failed(runPasses(
              *steps, [&](OpPassManager &manager) { buildSpecializedToPairsPipeline(manager, states); })))
        return failure();
    }
    return runPasses(
        *steps, [&](OpPassManager &manager) { buildPairsToPairwisePipeline(manager, /*forwardOnly=*/true); });
  };
  std::string refusal, stepReason;
  bool isRecurrence = false;
  auto carry = [&] { return lower({stateBlock(), /*recurrent=*/true, /*queriesOnly=*/false}); };
  if (options.decode == "auto" && !options.states) {
    isRecurrence = succeeded(captureRefusal(&context, refusal, carry));
    if (!isRecurrence && refusal.empty())
      return reportFault(*module, "a step that carries states", "use --decode=cache until it is mended");
    double bytes = isRecurrence ? stateBytes(*steps->getOps<FunctionOp>().begin()) : 0;
    if (bytes > 4.0 * kMostTokensOfStates * double(options.headDim + options.getValueDim())) {
      isRecurrence = false;
      refusal = llvm::formatv("its states have {0:F1} GB per head, more than keys and values of {1} tokens",
                              bytes * 1e-9, kMostTokensOfStates);
    }
  } else if (options.decode != "cache") {
    isRecurrence = succeeded(carry());
  }
  if (isRecurrence) {
    options.states = true;
    stepReason = "--decode=" + options.decode + ": its sums are recurrences";
    for (auto &[at, text] : ofRecurrence)
      emitWarning(at) << text;
  } else if (options.decode == "state" || (options.decode == "auto" && options.states) ||
             failed(lower(carriedQueries(/*preparesKeys=*/true)))) {
    return failure();
  } else {
    stepReason = "--decode=" + options.decode + (refusal.empty() ? "" : ", over all keys: " + refusal);
  }
  finishSteps(*steps, isRecurrence ? "recurrent" : "parallel", stepReason);
  return success();
}

/// What the runtime would refuse to load, said before it is compiled: a message, empty if there is nothing.
static std::string checkLimits(ModuleOp module) {
  for (auto function : module.getOps<FunctionOp>()) {
    auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
    auto arrays = llvm::concat<Value>(function.getBody().getArguments(), yield.getValues());
    auto names = llvm::concat<const Attribute>(function.getArgNames(), *yield.getNames());
    for (auto [array, name] : llvm::zip(arrays, names))
      if (size_t rank = cast<ArrayType>(array.getType()).getAxes().size(); rank > TAYLOR_MAX_RANK)
        return llvm::formatv(
            "unsupported array '{0}' of {1} axes: kernels take at most {2}; join some of its axes",
            cast<StringAttr>(name).getValue().split(':').second, rank, TAYLOR_MAX_RANK);
    if (size_t count = function.getBody().getNumArguments() + yield.getNumOperands();
        count > TAYLOR_MAX_TENSORS)
      return llvm::formatv(
          "unsupported {0} of {1} arrays (inputs, results, and what the backward needs of each sum): "
          "kernels take at most {2}; join inputs of one shape along a further axis, or write fewer sums",
          function.getSymName().rsplit('.').second, count, TAYLOR_MAX_TENSORS);
  }
  return "";
}

LogicalResult Driver::declareInterface() {
  if (!describes)
    return success();
  DeclareInterfacePassOptions declare;
  if (options.documents)
    declare.ascending = kDocumentsInput.str();
  return runPasses(*module,
                   [&](OpPassManager &manager) { manager.addPass(createDeclareInterfacePass(declare)); });
}

LogicalResult Driver::lowerToPairwise() {
  SpecializePassOptions specialize;
  specialize.headDim = options.headDim;
  specialize.valueDim = options.getValueDim();
  specialize.dtype = stringifyStorageType(options.dtype).str();
  if (failed(runStage(*module, "specialized",
                      [&](OpPassManager &manager) { manager.addPass(createSpecializePass(specialize)); })))
    return failure();
  if (failed(declareInterface()))
    return failure();
  module->walk([&](RecurrencesOp sums) {
    auto channels = [](ArrayType array) { return array.sizeOf(channelOf(array)); };
    widestKey = std::max(widestKey, channels(sums.getQuery().getType()));
    widestValue = std::max(widestValue, channels(sums.getValue().getType()));
  });
  if (!options.decode.empty() && failed(prepareSteps()))
    return failure();
  bool recurrent = options.form == "recurrent";
  options.states |= recurrent;
  std::optional<CarriedStates> states;
  if (options.states)
    states = {stateBlock(), recurrent, false};
  else if (steps)
    states = carriedQueries();
  if (failed(runPasses(*module,
                       [&](OpPassManager &manager) { buildSpecializedToPairsPipeline(manager, states); })))
    return failure();
  if (failed(declareInterface()) || failed(runStage(*module, "pairwise", [&](OpPassManager &manager) {
        buildPairsToPairwisePipeline(manager, /*forwardOnly=*/!options.hasBackward());
      })))
    return failure();
  if (std::string message = checkLimits(*module); !message.empty())
    return module->emitError() << message;
  return success();
}

//===----------------------------------------------------------------------===//
// Tile programs
//===----------------------------------------------------------------------===//

/// Tile programs of a target: of all functions, in the form that was asked for, or where none was and there
/// will be a manifest, also in another that may cost less.
FailureOr<OwningOpRef<ModuleOp>> Driver::lowerToTile(const Target &target,
                                                     function_ref<void(ModuleOp)> onKernels) {
  OwningOpRef<ModuleOp> programs = module->clone();
  if (steps)
    for (auto function : steps->getOps<FunctionOp>())
      programs->push_back(function->clone());
  PlanFormsPassOptions plan{target.getName(), options.form, describes && options.form == "auto"};
  auto planKernels = [&](OpPassManager &manager) {
    manager.addPass(createPlanFormsPass(plan, getProblem()));
    buildFormPipeline(manager);
    if (describes)
      manager.addPass(createChooseFormsPass({target.getName()}, getProblem(), options.formCosts));
    buildKernelPipeline(manager);
  };
  if (failed(runPasses(*programs, planKernels)))
    return failure();
  if (onKernels)
    onKernels(*programs);
  auto emit = [](OpPassManager &manager) {
    buildEmissionPipeline(manager);
    manager.addPass(createMatchFormsPass());
  };
  if (failed(runPasses(*programs, emit)))
    return failure();
  nameCache(*programs);
  if (describes) {
    (*programs)->setAttr(tile::kTarget, target.describe(&context));
    auto describe = [](OpPassManager &manager) { manager.addPass(createDescribeProgramsPass()); };
    if (failed(runPasses(*programs, describe)))
      return failure();
  }
  observe(stageOf("tile", target), *programs);
  return programs;
}

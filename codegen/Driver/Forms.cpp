// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions a specification becomes, and in which forms each has tile programs.
#include "codegen/Driver/Driver.h"

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

LogicalResult Driver::reportFault(StringRef what, StringRef wayOut) {
  return module->getBody()->front().emitError("expected ")
         << what << ", or why there is none, but "
         << "got an error: a fault of the compiler, please report it; " << wayOut;
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
  std::string refusal;
  auto carry = [&] { return lower({stateBlock(), /*recurrent=*/true, /*queriesOnly=*/false}); };
  if (options.decode == "auto" && !options.states) {
    isRecurrence = succeeded(captureRefusal(refusal, carry));
    if (!isRecurrence && refusal.empty())
      return reportFault("a step that carries states", "use --decode=cache until it is mended");
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
  for (auto function : steps->getOps<FunctionOp>()) {
    nameStep(function);
    if (isRecurrence)
      manifest.addCarried(function);
    if (function->hasAttr(kKeysAttr))
      manifest.addCache(function);
  }
  return success();
}

/// What the runtime would refuse to load, said before it is compiled: a message, empty if there is nothing.
static std::string checkLimits(const Manifest &manifest, ModuleOp module) {
  const ManifestTensor *wide = nullptr;
  auto look = [&](const ManifestTensor &tensor) {
    if (tensor.axes.size() > TAYLOR_MAX_RANK)
      wide = &tensor;
  };
  llvm::for_each(manifest.inputs, look);
  llvm::for_each(manifest.outputs, look);
  llvm::for_each(manifest.saved, look);
  if (wide)
    return llvm::formatv(
        "unsupported array '{0}' of {1} axes: kernels take at most {2}; join some of its axes", wide->name,
        wide->axes.size(), TAYLOR_MAX_RANK);
  for (auto function : module.getOps<FunctionOp>()) {
    auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
    if (size_t count = function.getBody().getNumArguments() + yield.getNumOperands();
        count > TAYLOR_MAX_TENSORS)
      return llvm::formatv(
          "unsupported {0} of {1} arrays (inputs, results, and what the backward needs of each sum): "
          "kernels take at most {2}; join inputs of one shape along a further axis, or write fewer sums",
          function.getSymName().rsplit('.').second, count, TAYLOR_MAX_TENSORS);
  }
  return "";
}

LogicalResult Driver::lowerToPairwise() {
  SpecializePassOptions specialize;
  specialize.headDim = options.headDim;
  specialize.valueDim = options.getValueDim();
  specialize.dtype = stringifyStorageType(options.dtype).str();
  if (failed(runStage(*module, "specialized",
                      [&](OpPassManager &manager) { manager.addPass(createSpecializePass(specialize)); })))
    return failure();
  manifest.addSpecification(*module->getOps<SpecOp>().begin());
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
  manifest.addInterface(*module->getOps<SpecOp>().begin(), options.documents ? kDocumentsInput : "");
  if (failed(runStage(*module, "pairwise", [&](OpPassManager &manager) {
        buildPairsToPairwisePipeline(manager, /*forwardOnly=*/!options.hasBackward());
      })))
    return failure();
  manifest.addFunctions(*module, recurrent);
  if (std::string message = checkLimits(manifest, *module); !message.empty())
    return module->emitError() << message;
  return success();
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

static TileUse useOf(StringRef form) {
  return form == "chunked" ? TileUse::Chunked : form == "recurrent" ? TileUse::Steps : TileUse::Parallel;
}

/// Whether two programs declare the same arrays of the caller.
static bool takeSameTensors(tile::ProgramOp a, tile::ProgramOp b) {
  auto namesOf = [](tile::ProgramOp program) {
    return llvm::map_to_vector(program.getBlock()->getOps<tile::TensorOp>(),
                               [](tile::TensorOp tensor) { return tensor.getName(); });
  };
  return namesOf(a) == namesOf(b);
}

/// What has no room then is refused where its code is made.
static constexpr int64_t kMostRetries = 4;

/// Tile programs that `lower` makes of a copy of `functions`, whose plan is the target's, with the largest
/// tiles that a block's memory has room for.
FailureOr<OwningOpRef<ModuleOp>> Driver::lowerWithRoom(const Target &target, TileUse use, ModuleOp functions,
                                                       function_ref<LogicalResult(ModuleOp)> lower) {
  TargetProblem problem = getProblem();
  TileSizes sizes = target.planTiles(problem, use);
  auto make = [&]() -> FailureOr<OwningOpRef<ModuleOp>> {
    OwningOpRef<ModuleOp> programs = functions.clone();
    setPlan(*programs, sizes);
    if (failed(lower(*programs)))
      return failure();
    return programs;
  };
  FailureOr<OwningOpRef<ModuleOp>> programs = make();
  // Warnings were given at the first.
  ScopedDiagnosticHandler quiet(&context, swallowWarning);
  while (succeeded(programs) && problem.retries < kMostRetries && !target.hasRoom(**programs, problem)) {
    // A retry whose sizes are at their least already changes nothing; the next one shrinks others.
    TileSizes smaller = sizes;
    while (problem.retries < kMostRetries && smaller == sizes) {
      ++problem.retries;
      smaller = target.planTiles(problem, use);
    }
    if (smaller == sizes)
      break;
    sizes = smaller;
    programs = make();
  }
  return programs;
}

/// Tile programs of a target in one form; what their functions cost is in `form`.
FailureOr<OwningOpRef<ModuleOp>> Driver::lowerForm(const Target &target, FormPlan &form) {
  CostRates rates = target.getRates(getProblem());
  rates.machine = options.formCosts;
  return lowerWithRoom(target, useOf(form.name), *module, [&](ModuleOp programs) -> LogicalResult {
    if (failed(runPasses(programs, buildFormPipeline)))
      return failure();
    for (auto function : programs.getOps<FunctionOp>()) {
      StringRef name = function.getSymName().rsplit('.').second;
      form.costs[name.str()] = estimateCost(function, name, rates);
    }
    return runPasses(programs, buildProgramPipeline);
  });
}

/// The chunked form beside the parallel one, for those functions where it pays; else null, and why in
/// `first`. Fails where the compiler does.
FailureOr<OwningOpRef<ModuleOp>> Driver::lowerAlternative(const Target &target, ModuleOp programs,
                                                          FormPlan &first, FormPlan &other) {
  other.name = "chunked";
  other.isAlternative = true;
  // That some sums stay as they are in a form that nobody asked for is no news.
  ScopedDiagnosticHandler quiet(&context, swallowWarning);
  std::string refusal;
  FailureOr<OwningOpRef<ModuleOp>> lowered =
      captureRefusal(refusal, [&] { return lowerForm(target, other); });
  if (failed(lowered) && refusal.empty())
    return reportFault("the chunked form", "use --form=parallel until it is mended");
  for (auto program : llvm::make_early_inc_range(programs.getOps<tile::ProgramOp>())) {
    std::string name = program.getSymName().str(), &reason = first.reasons[name];
    reason = "parallel: ";
    if (failed(lowered)) {
      reason += refusal;
      continue;
    }
    auto twin = (*lowered)->lookupSymbol<tile::ProgramOp>(name);
    std::optional<int64_t> crossover =
        findCrossover(first.costs[name], other.costs[name], manifest.mask == "causal");
    if (crossover && takeSameTensors(program, twin)) {
      reason = "chunked from about " + std::to_string(*crossover) +
               " tokens on (one head that attends to itself), parallel below, by the costs of both";
      continue;
    }
    reason +=
        crossover ? "the chunked form takes other tensors" : "the chunked form costs more at 1048576 tokens";
    twin.erase();
  }
  if (failed(lowered) || (*lowered)->getOps<tile::ProgramOp>().empty())
    return OwningOpRef<ModuleOp>();
  return std::move(*lowered);
}

/// Tile programs of a target: in the form that was asked for, or where none was also in others that may cost
/// less.
FailureOr<OwningOpRef<ModuleOp>> Driver::lowerToTile(const Target &target, ManifestTarget &described,
                                                     bool withAlternatives, const std::string &refusal) {
  FormPlan first, other;
  first.name = options.form == "auto" ? "parallel" : options.form;
  FailureOr<OwningOpRef<ModuleOp>> programs = lowerForm(target, first);
  if (failed(programs))
    return failure();
  OwningOpRef<ModuleOp> alternative;
  if (withAlternatives) {
    FailureOr<OwningOpRef<ModuleOp>> lowered = lowerAlternative(target, **programs, first, other);
    if (failed(lowered))
      return failure();
    alternative = std::move(*lowered);
  }
  for (auto program : (*programs)->getOps<tile::ProgramOp>())
    if (std::string &reason = first.reasons[program.getSymName().str()]; reason.empty())
      reason = options.form == "auto" ? "parallel: " + refusal : "--form=" + options.form;
  described.name = target.getName();
  described.kind = stringifyTargetKind(target.getKind()).str();
  TileSizes sizes = tile::getTileSizes(*(*programs)->getOps<tile::ProgramOp>().begin());
  described.tiles = {{std::string(nameOf(AxisRole::Query)), sizes.rows.queries},
                     {std::string(nameOf(AxisRole::Key)), sizes.rows.keys},
                     {"outer_u", sizes.columns.keys},
                     {"tokens", sizes.tokens}};
  target.describe(described);
  if (failed(manifest.addPrograms(**programs, first, described)))
    return failure();
  if (alternative) {
    if (failed(manifest.addPrograms(*alternative, other, described)))
      return failure();
    Block *body = (*programs)->getBody();
    body->getOperations().splice(body->end(), alternative->getBody()->getOperations());
  }
  if (steps && failed(addSteps(target, **programs, described)))
    return failure();
  observe(stageOf("tile", target), **programs);
  return programs;
}

/// The function `step`, beside the programs of the others; over prepared keys also `append`, which prepares
/// them, and `extend`, which is `step` for many queries.
LogicalResult Driver::addSteps(const Target &target, ModuleOp programs, ManifestTarget &described) {
  FormPlan form;
  form.name = isRecurrence ? "recurrent" : "parallel";
  form.reasons["step"] = stepReason;
  auto add = [&](TileUse use, ModuleOp functions) -> LogicalResult {
    FailureOr<OwningOpRef<ModuleOp>> lowered = lowerWithRoom(
        target, use, functions, [&](ModuleOp programs) { return runPasses(programs, buildProgramPipeline); });
    if (failed(lowered))
      return failure();
    if (!manifest.cache.empty())
      nameCache(**lowered);
    if (failed(manifest.addPrograms(**lowered, form, described)))
      return failure();
    Block *body = programs.getBody();
    body->getOperations().splice(body->end(), (*lowered)->getBody()->getOperations());
    return success();
  };
  if (failed(add(isRecurrence ? TileUse::Steps : TileUse::FewQueries, *steps)))
    return failure();
  if (manifest.cache.empty())
    return success();
  OwningOpRef<ModuleOp> many = steps->clone();
  for (auto function : llvm::make_early_inc_range(many->getOps<FunctionOp>()))
    if (function->hasAttr(kKeysAttr))
      function.erase();
    else
      function.setSymName((function.getSpecName() + ".extend").str());
  return add(TileUse::Parallel, *many);
}

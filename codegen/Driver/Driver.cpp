// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a specification to an artifact: which passes run, and in which order. What is asked for is in
// Request.cpp, levels that are printed are in Levels.cpp; which forms functions have is decided in Forms/.
#include "codegen/Driver/Driver.h"

#include "codegen/Driver/CommandLine.h"
#include "codegen/Driver/Forms/Passes.h"
#include "codegen/Driver/Manifest.h"
#include "codegen/Driver/Torch/TorchPrinter.h"

#include "dialect/Taylor/Axes.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/Passes.h"
#include "passes/Specification/Rewrites.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace taylor;

LogicalResult Driver::runPasses(ModuleOp module, function_ref<void(OpPassManager &)> build) {
  PassManager manager(&context, ModuleOp::getOperationName());
  build(manager);
  return manager.run(module);
}

/// Shows the module to who watches; the next phase begins.
void Driver::observe(StringRef stage, ModuleOp module) {
  if (onStage)
    onStage(stage, module);
  beginPhase();
}

/// A stage is a phase.
LogicalResult Driver::runStage(ModuleOp module, StringRef stage, function_ref<void(OpPassManager &)> build) {
  if (failed(runPasses(module, build)))
    return failure();
  observe(stage, module);
  return success();
}

/// One layout of states for all targets.
int64_t Driver::stateBlock() const {
  TargetProblem problem = getProblem();
  problem.states = true;
  int64_t block = 1;
  for (const std::unique_ptr<Target> &target : targets)
    block = std::max(block, target->planTiles(problem, TileUse::Chunked).featureBlock);
  return block;
}

/// What callers must know of the specification, where they will be told.
void Driver::declareInterface(OpPassManager &manager) {
  if (!describes)
    return;
  DeclareInterfacePassOptions declare;
  if (options.documents)
    declare.ascending = kDocumentsInput.str();
  manager.addPass(createDeclareInterfacePass(declare));
}

/// The channels of a specification's widest keys and values.
static std::pair<int64_t, int64_t> findWidest(ModuleOp module) {
  int64_t key = 0, value = 0;
  module->walk([&](RecurrencesOp sums) {
    auto channels = [](ArrayType array) { return array.sizeOf(channelOf(array)); };
    key = std::max(key, channels(sums.getQuery().getType()));
    value = std::max(value, channels(sums.getValue().getType()));
  });
  return {key, value};
}

/// The functions that decode, where they are asked for.
LogicalResult Driver::planSteps() {
  if (options.decode.empty())
    return success();
  steps = module->clone();
  PlanStepsPassOptions plan{options.decode, stateBlock(), options.getHeadDim() + options.getValueDim(),
                            options.states};
  if (failed(runPasses(*steps, [&](OpPassManager &manager) { manager.addPass(createPlanStepsPass(plan)); })))
    return failure();
  // A recurrence goes on from the states that the other functions leave.
  options.states |= llvm::any_of(steps->getOps<FunctionOp>(), [](FunctionOp function) {
    return getForm(function).getName() == "recurrent";
  });
  return success();
}

/// What calls hand on to those that follow; nothing where none do.
std::optional<CarriedStates> Driver::chooseStates() const {
  bool recurrent = options.form == "recurrent";
  if (options.states || recurrent)
    return CarriedStates{stateBlock(), recurrent, /*queriesOnly=*/false};
  if (steps)
    return CarriedStates{1, /*recurrent=*/false, /*queriesOnly=*/true};
  return std::nullopt;
}

/// Functions on arrays.
LogicalResult Driver::lowerToPairwise() {
  SpecializePassOptions specialize{options.getHeadDim(), options.getValueDim(),
                                   stringifyStorageType(options.dtype).str()};
  if (failed(runStage(*module, "specialized", [&](OpPassManager &manager) {
        manager.addPass(createSpecializePass(specialize));
        declareInterface(manager);
      })))
    return failure();
  std::tie(widestKey, widestValue) = findWidest(*module);
  if (failed(planSteps()))
    return failure();
  std::optional<CarriedStates> states = chooseStates();
  options.states |= options.form == "recurrent";
  auto build = [&](OpPassManager &manager) {
    buildSpecializedToPairsPipeline(manager, states);
    declareInterface(manager);
    buildPairsToPairwisePipeline(manager, /*forwardOnly=*/!options.hasBackward());
  };
  if (failed(runStage(*module, "pairwise", build)))
    return failure();
  return runPasses(*module, [](OpPassManager &manager) { manager.addPass(createCheckLimitsPass()); });
}

/// What the observer calls a stage: with several targets, each has its own.
std::string Driver::stageOf(StringRef stage, const Target &target) const {
  return targets.size() == 1 ? stage.str() : (stage + "-" + target.getName()).str();
}

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
    manager.addPass(createPlanFormsPass(plan));
    buildFormPipeline(manager);
    if (describes)
      manager.addPass(createChooseFormsPass({target.getName()}));
    buildKernelPipeline(manager);
  };
  (*programs)->setAttr(kProblem, describeProblem(getProblem(), &context));
  if (failed(runPasses(*programs, planKernels)))
    return failure();
  (*programs)->removeAttr(kProblem);
  if (onKernels)
    onKernels(*programs);
  auto emit = [&](OpPassManager &manager) {
    buildEmissionPipeline(manager);
    manager.addPass(createMatchFormsPass());
    manager.addPass(createNameCachePass());
    if (describes)
      manager.addPass(createDescribeProgramsPass());
  };
  if (describes)
    (*programs)->setAttr(tile::kTarget, target.describe(&context));
  if (failed(runPasses(*programs, emit)))
    return failure();
  observe(stageOf("tile", target), *programs);
  return programs;
}

LogicalResult Driver::compileTarget(const Target &target, Emission emission, ArtifactCode &code) {
  FailureOr<OwningOpRef<ModuleOp>> programs = lowerToTile(target);
  SmallVector<ModuleOp> others = llvm::map_to_vector(compiled, [](auto &module) { return *module; });
  if (failed(programs) || failed(verifySameTensors(others, **programs)))
    return failure();
  if (emission == Emission::Artifact || target.isLaunchedByManifest()) {
    auto run = [&](StringRef stage, function_ref<void(OpPassManager &)> build) {
      return runStage(**programs, stageOf(stage, target), build);
    };
    if (failed(target.emit(**programs, getProblem(), run, code)))
      return failure();
    beginPhase();
  }
  compiled.push_back(std::move(*programs));
  return success();
}

/// Links in a temporary file, so that the caller decides when the name it wants appears.
FailureOr<std::string> Driver::linkArtifact(const ArtifactCode &code, StringRef manifest) {
  SmallString<128> path;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("taylorc", "so", path))
    return module->emitError("requires a folder for temporary files (TMPDIR): ") << code.message();
  llvm::FileRemover remover(path);
  std::string error;
  if (failed(writeArtifact(code, manifest, path, error)))
    return module->emitError(error);
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return module->emitError("requires the linked file '") << path << "': " << file.getError().message();
  return (*file)->getBuffer().str();
}

RequestAttr Driver::describeRequest() {
  Builder builder(&context);
  std::string all = text + "\n" + options.getKey() + "\n" + getVersion("taylorc");
  std::string hash = llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(all)), /*LowerCase=*/true);
  return RequestAttr::get(&context, builder.getStringAttr(hash), builder.getStringAttr(options.form),
                          builder.getStringAttr(stringifyStorageType(options.dtype)));
}

/// A manifest, or an artifact with it.
FailureOr<Compilation> Driver::compileTargets(Emission emission) {
  describes = true;
  (*module)->setAttr(kRequest, describeRequest());
  if (failed(lowerToPairwise()))
    return failure();
  ArtifactCode code;
  for (const std::unique_ptr<Target> &target : targets)
    if (failed(compileTarget(*target, emission, code)))
      return failure();
  std::string manifest = printManifest(llvm::map_to_vector(compiled, [](auto &module) { return *module; }));
  if (emission == Emission::Manifest)
    return Compilation{manifest, manifest};
  FailureOr<std::string> linked = linkArtifact(code, manifest);
  if (failed(linked))
    return failure();
  return Compilation{*linked, manifest};
}

FailureOr<Compilation> Driver::compile(Emission emission) {
  if (onStage)
    onStage("spec", *module);
  auto asText = [](FailureOr<std::string> text) -> FailureOr<Compilation> {
    if (failed(text))
      return failure();
    return Compilation{*text, ""};
  };
  if (emission == Emission::Torch)
    return asText(printTorch(*module->getOps<SpecOp>().begin()));
  if (emission == Emission::Series)
    return asText(printSeriesLevel());
  planPhases(emission);
  beginPhase();
  if (emission == Emission::Manifest || emission == Emission::Artifact)
    return compileTargets(emission);
  return asText(printLevel(emission == Emission::PTX ? Emission::Assembly : emission));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Driver.h"

#include "codegen/Driver/SeriesText.h"
#include "codegen/Driver/SourceText.h"
#include "codegen/Driver/Version.h"
#include "codegen/Explain/Explanation.h"
#include "codegen/Manifest.h"
#include "codegen/Torch/TorchPrinter.h"

#include "dialect/Taylor/Parameters.h"
#include "passes/AddDocuments.h"
#include "passes/LowerToTile/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace taylor;

/// The size of an axis as the types of a specification's arguments write it; 0 where none does.
static int64_t writtenSize(SpecOp spec, AxisRef axis) {
  for (Type argument : spec.getBody().getArgumentTypes())
    if (auto type = dyn_cast<ArrayType>(argument); type && type.has(axis))
      if (int64_t size = type.sizeOf(axis); size != ArrayType::kUnknown)
        return size;
  return 0;
}

LogicalResult Driver::load(StringRef source, StringRef name) {
  text = source.str();
  fileName = name.str();
  if (failed(checkText(source, name, context)))
    return failure();
  module = parseSourceString<ModuleOp>(source, &context, fileName);
  if (!module)
    return failure();
  // What is said of the module as a whole is said at the file's start, and then at the specification.
  (*module)->setLoc(FileLineColLoc::get(&context, fileName, 1, 1));
  FailureOr<SpecOp> spec = selectSpec(*module, options.spec);
  if (succeeded(spec))
    (*module)->setLoc(spec->getLoc());
  if (failed(spec) || failed(setParameters(*spec, options.parameters)) ||
      (options.mask && failed(setMask(*spec, *options.mask))) ||
      (options.documents && failed(addDocuments(*spec))))
    return failure();
  if (int64_t size = writtenSize(*spec, AxisRole::Channel); size && !options.isHeadDimChosen)
    options.headDim = size;
  if (!options.valueDim)
    options.valueDim = writtenSize(*spec, AxisRole::ValueChannel);
  // Targets were chosen before these sizes were known.
  for (const std::unique_ptr<Target> &target : targets)
    if (std::string message = target->check(getProblem()); !message.empty())
      return spec->emitError() << message;
  return success();
}

/// What the target cannot do, as a message.
std::string Driver::checkTarget(const Target &target, Emission emission) {
  std::string message = target.checkLevel(emission);
  return message.empty() ? target.check(getProblem()) : message;
}

std::string Driver::chooseTargets(Emission emission) {
  llvm::StringSet<> given;
  for (const std::string &name : options.targets) {
    if (!given.insert(name).second)
      return "expected each target once, but got '" + name + "' twice";
    std::string error;
    std::unique_ptr<Target> target = makeTarget(name, error);
    if (target)
      error = checkTarget(*target, emission);
    if (!error.empty())
      return error;
    // Two GPUs may run the same code.
    if (llvm::none_of(targets, [&](const auto &other) { return other->getName() == target->getName(); }))
      targets.push_back(std::move(target));
  }
  return "";
}

/// What `compile` does, a phase for each stage and each step without one.
void Driver::planPhases(Emission emission) {
  phases = {"sizes and types", options.hasBackward() ? "forward and backward" : "forward"};
  phasesBegun = 0;
  if (emission == Emission::Pairwise)
    return;
  bool isOne = emission == Emission::Explanation;
  for (const std::unique_ptr<Target> &target : ArrayRef(targets).take_front(isOne ? 1 : targets.size())) {
    std::vector<std::string> own = target->getPhases();
    size_t count = own.size();
    if (emission == Emission::Tile || (emission == Emission::Manifest && !target->isLaunchedByManifest()))
      count = 0;
    else if (emission == Emission::Vector || emission == Emission::LLVM)
      count = emission == Emission::Vector ? 1 : 2;
    else if (emission == Emission::Assembly || emission == Emission::Explanation)
      count = 3;
    own.resize(std::min(count, own.size()));
    own.insert(own.begin(), "tiles");
    for (const std::string &phase : own)
      phases.push_back(target->getName() + ": " + phase);
  }
  if (emission == Emission::Artifact)
    phases.push_back("shared object");
}

void Driver::beginPhase() {
  if (phasesBegun == phases.size())
    return;
  ++phasesBegun;
  if (onPhase)
    onPhase("phase " + std::to_string(phasesBegun) + " of " + std::to_string(phases.size()) + ", " +
            phases[phasesBegun - 1]);
}

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

static std::string printModule(ModuleOp module) {
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  module->print(stream);
  return printed + "\n";
}

/// What the observer calls a stage: with several targets, each has its own.
std::string Driver::stageOf(StringRef stage, const Target &target) const {
  return targets.size() == 1 ? stage.str() : (stage + "-" + target.getName()).str();
}

FailureOr<std::string> Driver::printTargetLevel(Emission emission) {
  const Target &target = *targets.front();
  FailureOr<OwningOpRef<ModuleOp>> programs = lowerToTile(target);
  if (failed(programs))
    return failure();
  if (emission == Emission::Tile)
    return printModule(**programs);
  return target.print(**programs, getProblem(), emission,
                      [&](StringRef stage, function_ref<void(OpPassManager &)> build) {
                        return runStage(**programs, stageOf(stage, target), build);
                      });
}

/// Kernels of all targets.
FailureOr<std::string> Driver::report(bool json) {
  std::unique_ptr<KernelReports> reports;
  for (const std::unique_ptr<Target> &target : targets) {
    FailureOr<OwningOpRef<ModuleOp>> programs = lowerToTile(*target);
    if (failed(programs))
      return failure();
    auto run = [&](StringRef stage, function_ref<void(OpPassManager &)> build) {
      return runStage(**programs, stageOf(stage, *target), build);
    };
    if (failed(target->report(**programs, getProblem(), run, reports)))
      return failure();
    beginPhase();
  }
  return reports->print(json);
}

/// All levels of the first target side by side.
FailureOr<std::string> Driver::explain() {
  const Target &target = *targets.front();
  Explanation explanation(text, fileName, *module);
  CompileOptions shown = options;
  shown.spec = (*module->getOps<SpecOp>().begin()).getSymName().str();
  shown.targets = {target.getName()};
  if (failed(lowerToPairwise()))
    return failure();
  explanation.addModule("pairwise", "Forward and backward", *module);
  FailureOr<OwningOpRef<ModuleOp>> programs = lowerToTile(target);
  if (failed(programs))
    return failure();
  explanation.addModule("tile", "Tile programs", **programs);
  FailureOr<std::string> assembly =
      target.print(**programs, getProblem(), Emission::Assembly,
                   [&](StringRef stage, function_ref<void(OpPassManager &)> build) -> LogicalResult {
                     if (failed(runStage(**programs, stageOf(stage, target), build)))
                       return failure();
                     if (stage == "simt")
                       explanation.addModule("simt", "Tiles over threads", **programs);
                     return stage == "llvm" ? explanation.traceAssembly(**programs) : success();
                   });
  if (failed(assembly))
    return failure();
  explanation.addAssembly("assembly", target.nameAssembly() + " for " + target.getName(), *assembly);
  return explanation.printPage(shown.getKey());
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

std::string Driver::printManifestOfTargets() {
  return printManifest(llvm::map_to_vector(compiled, [](auto &module) { return *module; }));
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

FailureOr<Compilation> Driver::compile(Emission emission) {
  Compilation result;
  if (emission == Emission::PTX)
    emission = Emission::Assembly;
  SpecOp spec = *module->getOps<SpecOp>().begin();
  if (onStage)
    onStage("spec", *module);
  if (emission == Emission::Torch) {
    FailureOr<std::string> printed = printTorch(spec);
    if (failed(printed))
      return failure();
    result.output = *printed;
    return result;
  }
  if (emission == Emission::Series) {
    if (failed(runStage(*module, "series",
                        [](OpPassManager &manager) { manager.addPass(createSplitSeriesPass()); })))
      return failure();
    result.output = printSeries(*module);
    return result;
  }

  planPhases(emission);
  beginPhase();
  if (emission == Emission::Explanation) {
    FailureOr<std::string> page = explain();
    if (failed(page))
      return failure();
    result.output = *page;
    return result;
  }
  describes = emission == Emission::Manifest || emission == Emission::Artifact;
  if (describes)
    (*module)->setAttr(kRequest, describeRequest());
  if (failed(lowerToPairwise()))
    return failure();
  if (emission == Emission::Pairwise) {
    result.output = printModule(*module);
    return result;
  }
  if (emission != Emission::Manifest && emission != Emission::Artifact) {
    bool isReport = emission == Emission::Report || emission == Emission::ReportJSON;
    FailureOr<std::string> printed =
        isReport ? report(emission == Emission::ReportJSON) : printTargetLevel(emission);
    if (failed(printed))
      return failure();
    result.output = *printed;
    return result;
  }
  ArtifactCode code;
  for (const std::unique_ptr<Target> &target : targets)
    if (failed(compileTarget(*target, emission, code)))
      return failure();
  result.output = result.manifest = printManifestOfTargets();
  if (emission == Emission::Artifact) {
    FailureOr<std::string> linked = linkArtifact(code, result.manifest);
    if (failed(linked))
      return failure();
    result.output = *linked;
  }
  return result;
}

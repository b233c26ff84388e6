// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a compilation gives: the text of a level, a manifest, or an artifact of all targets' code.
#include "codegen/Driver/Driver.h"

#include "codegen/Driver/CommandLine.h"
#include "codegen/Driver/Manifest.h"
#include "codegen/Driver/Torch/TorchPrinter.h"

#include "passes/LowerToTile/Passes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace taylor;

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
    phases.begin();
  }
  compiled.push_back(std::move(*programs));
  return success();
}

RequestAttr Driver::describeRequest() {
  Builder builder(&context);
  std::string all = text + "\n" + options.getKey() + "\n" + getVersion("taylorc");
  std::string hash = llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(all)), /*LowerCase=*/true);
  return RequestAttr::get(&context, builder.getStringAttr(hash), options.form, options.dtype);
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
  std::string error;
  FailureOr<std::string> linked = makeArtifact(code, manifest, error);
  if (failed(linked))
    return module->emitError(error);
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
  phases.plan(emission, options.hasBackward(), targets);
  phases.begin();
  if (emission == Emission::Manifest || emission == Emission::Artifact)
    return compileTargets(emission);
  return asText(printLevel(emission == Emission::PTX ? Emission::Assembly : emission));
}

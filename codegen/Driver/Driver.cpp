// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Driver.h"

#include "codegen/CPU/Artifact.h"
#include "codegen/CPU/Passes.h"
#include "codegen/CPU/TileModel.h"
#include "codegen/Driver/Version.h"
#include "codegen/Torch/TorchPrinter.h"

#include "passes/LowerToTile/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace taylor;

LogicalResult Driver::load(StringRef source, StringRef fileName) {
  text = source.str();
  module = parseSourceString<ModuleOp>(source, &context, fileName);
  if (!module)
    return failure();
  FailureOr<SpecOp> spec = selectSpec();
  if (failed(spec) || failed(setParameters(*spec, options.parameters)) || failed(setMask(*spec)))
    return failure();
  return success();
}

FailureOr<SpecOp> Driver::selectSpec() {
  SmallVector<SpecOp> specs(module->getOps<SpecOp>());
  std::string names;
  for (SpecOp spec : specs)
    names += (names.empty() ? "@" : ", @") + spec.getSymName().str();
  if (specs.empty())
    return module->emitError("requires a taylor.spec, but found none");
  if (options.spec.empty() && specs.size() > 1)
    return module->emitError("expected one taylor.spec, but got ")
           << specs.size() << " (" << names << "); name one with --spec";
  SpecOp chosen;
  for (SpecOp spec : specs) {
    if (options.spec.empty() || spec.getSymName() == options.spec)
      chosen = spec;
    else
      spec.erase();
  }
  if (!chosen)
    return module->emitError("expected --spec to name one of ")
           << names << ", but got '" << options.spec << "'";
  return chosen;
}

LogicalResult Driver::setMask(SpecOp spec) {
  if (!options.mask)
    return success();
  auto mask = MaskAttr::get(&context, *options.mask);
  spec.walk([&](RecurrencesOp op) { op.setMaskAttr(mask); });
  spec.walk([&](RecurrenceOp op) { op.setMaskAttr(mask); });
  return mlir::verify(spec);
}

std::string Driver::chooseTarget() {
  std::string error;
  std::optional<tile::cpu::Target> found = tile::cpu::findTarget(options.target, error);
  if (!found)
    return error;
  target = *found;
  manifest.target = target.name;
  manifest.processor = target.cpu;
  manifest.features = target.features;
  return "";
}

LogicalResult Driver::runStage(StringRef stage, function_ref<void(OpPassManager &)> build) {
  PassManager manager(&context, ModuleOp::getOperationName());
  build(manager);
  if (failed(manager.run(*module)))
    return failure();
  if (onStage)
    onStage(stage, *module);
  return success();
}

std::string Driver::printModule() {
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  module->print(stream);
  return printed + "\n";
}

LogicalResult Driver::lowerToPairwise() {
  SpecializePassOptions specialize;
  specialize.headDim = options.headDim;
  specialize.valueDim = options.getValueDim();
  specialize.dtype = options.dtype;
  if (failed(runStage("specialized",
                      [&](OpPassManager &manager) { manager.addPass(createSpecializePass(specialize)); })))
    return failure();
  manifest.addSpecification(*module->getOps<SpecOp>().begin());
  if (failed(
          runStage("pairwise", [&](OpPassManager &manager) { buildSpecializedToPairwisePipeline(manager); })))
    return failure();
  manifest.addFunctions(*module);
  return success();
}

LogicalResult Driver::lowerToTile() {
  TileSizes sizes = tile::cpu::chooseTileSizes(
      target, {options.headDim, options.getValueDim(), options.dtype == "f64" ? 8 : 4});
  StringRef productType = options.dtype == "bf16" && target.fastPairs ? "bf16" : "";
  if (failed(
          runStage("tile", [&](OpPassManager &manager) { buildTilePipeline(manager, sizes, productType); })))
    return failure();
  manifest.tiles = {
      {"t", sizes.queries}, {"u", sizes.keys}, {"outer_u", sizes.outerKeys}, {"tokens", sizes.tokens}};
  manifest.addPrograms(*module);
  return success();
}

/// Links in a temporary file, so that the caller decides when the name it wants appears.
FailureOr<std::string> Driver::linkObject(ArrayRef<char> object) {
  SmallString<128> path;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("taylorc", "so", path))
    return module->emitError("requires a folder for temporary files (TMPDIR): ") << code.message();
  llvm::FileRemover remover(path);
  std::string error;
  if (failed(tile::cpu::writeArtifact(object, path, error)))
    return module->emitError(error);
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return module->emitError("requires the linked file '") << path << "': " << file.getError().message();
  return (*file)->getBuffer().str();
}

FailureOr<std::string> Driver::emitMachineLevel(Emission emission) {
  if (failed(runStage("vector",
                      [&](OpPassManager &manager) { tile::cpu::buildVectorPipeline(manager, target.name); })))
    return failure();
  if (emission == Emission::Vector)
    return printModule();
  if (failed(runStage("llvm", [&](OpPassManager &manager) { tile::cpu::buildLLVMPipeline(manager); })))
    return failure();
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> code =
      tile::cpu::translateToLLVM(*module, target, manifest.print(), llvmContext);
  if (!code)
    return failure();
  std::string output;
  if (emission == Emission::LLVM) {
    llvm::raw_string_ostream stream(output);
    code->print(stream, nullptr);
    return output;
  }
  SmallVector<char> bytes;
  std::string error;
  if (failed(tile::cpu::emitMachineCode(*code, target, emission == Emission::Assembly, bytes, error)))
    return module->emitError(error);
  if (emission == Emission::Assembly)
    return std::string(bytes.begin(), bytes.end());
  return linkObject(bytes);
}

FailureOr<Compilation> Driver::compile(Emission emission) {
  Compilation result;
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

  manifest.hash = llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text + "\n" + options.getKey() +
                                                                             "\n" + getVersion("taylorc"))),
                              /*LowerCase=*/true);
  manifest.dtype = options.dtype;
  if (failed(lowerToPairwise()))
    return failure();
  if (emission == Emission::Pairwise) {
    result.output = printModule();
    return result;
  }
  if (failed(lowerToTile()))
    return failure();
  result.manifest = manifest.print();
  if (emission == Emission::Tile || emission == Emission::Manifest) {
    result.output = emission == Emission::Tile ? printModule() : result.manifest;
    return result;
  }
  FailureOr<std::string> output = emitMachineLevel(emission);
  if (failed(output))
    return failure();
  result.output = *output;
  return result;
}

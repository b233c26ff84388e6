// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/CPUTarget.h"
#include "codegen/Targets/CPU/CPUPipeline.h"
#include "codegen/Targets/CPU/Passes.h"
#include "codegen/Targets/CPU/TileModel.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::tile;

namespace {

class CPUTarget : public taylor::Target {
public:
  explicit CPUTarget(cpu::Processor target) : target(std::move(target)) {}

  std::string getName() const override { return target.name; }

  taylor::TileSizes planTiles(const taylor::TargetProblem &problem, taylor::TileUse use) const override {
    int64_t bytes = problem.dtype == taylor::StorageType::F64 ? 8 : 4;
    taylor::TileSizes sizes = cpu::chooseTileSizes(target, bytes);
    if (use == taylor::TileUse::Chunked || problem.states)
      cpu::chooseChunks(target, bytes, problem.chunk, sizes);
    if (use == taylor::TileUse::Steps || use == taylor::TileUse::FewQueries)
      cpu::chooseSteps(sizes);
    // One token is no work for matrix units, and its states stay in f32. Over keys it waits for memory:
    // nothing is gained by its rounding.
    bool isPrecise = use == taylor::TileUse::Steps || use == taylor::TileUse::FewQueries;
    if (problem.dtype == taylor::StorageType::BF16 && target.prefersPairs() && !isPrecise)
      sizes.productType = taylor::ProductType::BF16;
    if (target.hasTiles && sizes.productType != taylor::ProductType::F32)
      cpu::chooseMatrixTiles(sizes);
    return sizes;
  }

  /// Products over pairs and over features run at much the same share of the peak; README.md says how the
  /// factors were measured.
  taylor::CostRates getRates(const taylor::TargetProblem &) const override {
    constexpr auto kForward = taylor::FunctionRole::Forward, kBackward = taylor::FunctionRole::Backward;
    taylor::CostRates rates;
    rates.samples = {{kForward, 17, 17, 1.35},   {kBackward, 16, 17, 0.96},   {kForward, 65, 65, 1.07},
                     {kBackward, 64, 65, 1.02},  {kForward, 153, 17, 1.18},   {kBackward, 152, 17, 0.89},
                     {kForward, 2145, 65, 1.06}, {kBackward, 2144, 65, 1.00}, {kForward, 969, 17, 1.23},
                     {kBackward, 968, 17, 1.18}};
    return rates;
  }

  TargetAttr describe(MLIRContext *context) const override {
    Builder builder(context);
    SmallVector<StringRef> features(target.features.begin(), target.features.end());
    return TargetAttr::get(context, builder.getStringAttr(target.name), taylor::TargetKind::Cpu,
                           builder.getStringAttr(target.cpu), builder.getStrArrayAttr(features));
  }

  /// Code of the machine is made without a `run`, after that of LLVM.
  std::vector<std::string> getPhases() const override { return {"vectors", "LLVM", "machine code"}; }

  FailureOr<std::string> print(ModuleOp module, const taylor::TargetProblem &, taylor::Emission level,
                               taylor::StageRunner run) const override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (failed(lowerToVector(run)))
      return failure();
    if (level == taylor::Emission::Vector) {
      module.print(stream);
      return text + "\n";
    }
    llvm::LLVMContext context;
    if (failed(lowerToLLVM(run)))
      return failure();
    std::unique_ptr<llvm::Module> code = cpu::translateToLLVM(module, target, context);
    if (!code)
      return failure();
    if (level == taylor::Emission::LLVM) {
      code->print(stream, nullptr);
      return text;
    }
    std::string error;
    if (failed(cpu::emitAssembly(*code, target, text, error)))
      return module.emitError(error);
    return text;
  }

  LogicalResult emit(ModuleOp module, const taylor::TargetProblem &, taylor::StageRunner run,
                     taylor::ArtifactCode &code) const override {
    return success(succeeded(lowerToVector(run)) && succeeded(lowerToLLVM(run)) &&
                   succeeded(cpu::emitObject(module, target, code)));
  }

private:
  LogicalResult lowerToVector(taylor::StageRunner run) const {
    return run("vector", [&](OpPassManager &manager) { cpu::buildVectorPipeline(manager, target.name); });
  }
  LogicalResult lowerToLLVM(taylor::StageRunner run) const {
    return run("llvm", [&](OpPassManager &manager) { cpu::buildLLVMPipeline(manager); });
  }

  cpu::Processor target;
};

} // namespace

std::unique_ptr<taylor::Target> cpu::makeCPUTarget(StringRef name, std::string &error) {
  std::optional<Processor> target = findTarget(name, error);
  return target ? std::make_unique<CPUTarget>(std::move(*target)) : nullptr;
}

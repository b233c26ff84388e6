// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/NVPTXTarget.h"
#include "codegen/Targets/NVPTX/Emit/Emit.h"
#include "codegen/Targets/NVPTX/KernelReport.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Ptxas.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "codegen/Targets/NVPTX/TileModel.h"
#include "dialect/Refusal.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::simt;

namespace {

struct PTXReports : llvm::RTTIExtends<PTXReports, taylor::KernelReports> {
  inline static char ID = 0;
  std::string print(bool json) const override { return json ? printJSON(report) : printTable(report); }
  CodeReport report;
};

class NVPTXTarget : public taylor::Target {
public:
  explicit NVPTXTarget(const simt::Machine &target) : target(target) {}

  std::string getName() const override { return target.name; }
  std::string checkLevel(taylor::Emission) const override { return ""; }
  bool isLaunchedByManifest() const override { return true; }
  std::string nameAssembly() const override { return "PTX"; }
  std::string check(const taylor::TargetProblem &problem) const override;
  taylor::TileSizes planTiles(const taylor::TargetProblem &problem, taylor::TileUse use) const override;
  std::optional<taylor::LongForm> getLongForm(const taylor::TargetProblem &problem,
                                              taylor::FunctionRole function) const override;
  std::string fitTiles(ArrayRef<taylor::PairLoopNeeds> loops, const taylor::TargetProblem &problem,
                       taylor::TileSizes &sizes) const override;
  taylor::CostRates getRates(const taylor::TargetProblem &problem) const override;
  std::vector<std::string> getPhases() const override {
    return {"layouts and copies", "code of one thread", "PTX", "ptxas"};
  }
  FailureOr<std::string> print(ModuleOp module, const taylor::TargetProblem &problem, taylor::Emission level,
                               taylor::StageRunner run) const override;
  LogicalResult report(ModuleOp module, const taylor::TargetProblem &problem, taylor::StageRunner run,
                       std::unique_ptr<taylor::KernelReports> &reports) const override;
  LogicalResult emit(ModuleOp module, const taylor::TargetProblem &problem, taylor::StageRunner run,
                     taylor::ArtifactCode &code) const override;
  tile::TargetAttr describe(MLIRContext *context) const override {
    return tile::TargetAttr::get(context, StringAttr::get(context, target.name), taylor::TargetKind::Ptx, {},
                                 {});
  }

private:
  LogicalResult lowerToThreads(const taylor::TargetProblem &problem, taylor::StageRunner run) const;
  FailureOr<PTXOp> lowerToText(ModuleOp module, const taylor::TargetProblem &problem,
                               taylor::StageRunner run) const;

  const simt::Machine &target;
};

} // namespace

std::string NVPTXTarget::check(const taylor::TargetProblem &problem) const {
  for (auto [name, size] :
       {std::pair("--head-dim", problem.headDim), std::pair("--value-dim", problem.valueDim)})
    if (size % 8 || size < 16 || size > 256)
      return "unsupported for " + getName() + ": " + name + "=" + std::to_string(size) +
             "; expected a multiple of 8 from 16 to 256, as matrix units and aligned copies take them";
  return "";
}

static bool splitsProducts(const taylor::TargetProblem &problem) {
  return problem.dtype == taylor::StorageType::BF16 && problem.bf16Products == taylor::BF16Products::Split;
}

static TileProblem tilesOf(const taylor::TargetProblem &problem) {
  return {std::max(problem.headDim, problem.widestKey), std::max(problem.valueDim, problem.widestValue),
          bytesOf(problem.dtype), splitsProducts(problem), problem.rowSums == taylor::RowSumsChoice::Atomic};
}

/// With states before and after a call, kernels hold panels of features too.
std::optional<taylor::LongForm> NVPTXTarget::getLongForm(const taylor::TargetProblem &problem,
                                                         taylor::FunctionRole function) const {
  return problem.states ? std::nullopt : simt::getLongForm(target, tilesOf(problem), function);
}

taylor::TileSizes NVPTXTarget::planTiles(const taylor::TargetProblem &problem, taylor::TileUse use) const {
  TileProblem tiles = tilesOf(problem);
  tiles.hasRoles = use == taylor::TileUse::Parallel && !problem.states;
  taylor::TileSizes sizes = chooseTileSizes(target, tiles);
  if (use == taylor::TileUse::Short || use == taylor::TileUse::Long)
    chooseTilesByLength(target, tiles, use == taylor::TileUse::Long, sizes);
  if (use == taylor::TileUse::Chunked || problem.states)
    chooseChunks(target, tiles, problem.chunk, sizes);
  if (use == taylor::TileUse::Steps || use == taylor::TileUse::FewQueries)
    chooseSteps(sizes);
  if (isNarrow(problem.dtype))
    sizes.productType =
        problem.dtype == taylor::StorageType::BF16 ? taylor::ProductType::BF16 : taylor::ProductType::F16;
  sizes.splitProducts = tiles.split;
  if (problem.rowSums == taylor::RowSumsChoice::Atomic)
    sizes.rowSums = taylor::RowSums::Atomic;
  return sizes;
}

std::string NVPTXTarget::fitTiles(ArrayRef<taylor::PairLoopNeeds> loops, const taylor::TargetProblem &problem,
                                  taylor::TileSizes &sizes) const {
  return problem.states ? "" : simt::fitTiles(target, tilesOf(problem), loops, sizes);
}

/// Measured on an H100 (README.md, "Costs of forms"): where both forms take the same time, that of the
/// chunked one over that of the parallel one, over what the counts say. Operands of two numbers; of one, of
/// 16 bits; f32.
static std::vector<taylor::CostSample> getSamples(bool isSplit, bool isNarrow) {
  constexpr auto kForward = taylor::FunctionRole::Forward, kBackward = taylor::FunctionRole::Backward;
  if (isSplit)
    return {{kForward, 24, 17, 1.95},    {kBackward, 16, 17, 2.57},   {kForward, 72, 65, 2.48},
            {kBackward, 64, 65, 2.62},   {kForward, 136, 129, 1.85},  {kBackward, 128, 129, 2.05},
            {kForward, 216, 17, 1.48},   {kBackward, 208, 17, 1.59},  {kForward, 2376, 65, 1.22},
            {kBackward, 2368, 65, 1.28}, {kForward, 8840, 129, 1.45}, {kBackward, 8832, 129, 1.63},
            {kForward, 2264, 17, 1.28},  {kBackward, 2256, 17, 1.28}};
  if (isNarrow)
    return {{kForward, 24, 17, 3.07},   {kBackward, 16, 17, 4.94},  {kForward, 72, 65, 3.31},
            {kBackward, 64, 65, 3.15},  {kForward, 136, 129, 2.50}, {kBackward, 128, 129, 2.66},
            {kForward, 216, 17, 1.86},  {kBackward, 208, 17, 2.26}, {kForward, 2376, 65, 1.45},
            {kBackward, 2368, 65, 1.32}};
  return {{kForward, 24, 17, 1.45},   {kBackward, 16, 17, 0.98},  {kForward, 72, 65, 0.62},
          {kBackward, 64, 65, 0.87},  {kForward, 216, 17, 1.25},  {kBackward, 208, 17, 0.72},
          {kForward, 2376, 65, 0.24}, {kBackward, 2368, 65, 0.39}};
}

/// Features take 1.8 times the instructions per operation of pairs (counted by the interpreter, 2 orders, d =
/// e = 64), and a byte as much time as 60 operations on matrix units; what a machine really needs is in the
/// samples.
taylor::CostRates NVPTXTarget::getRates(const taylor::TargetProblem &problem) const {
  taylor::CostRates rates;
  bool isNarrow = taylor::isNarrow(problem.dtype);
  rates.pair = isNarrow ? 0.005 : 0.04;
  // Counted: 2.5 to 2.75 times the products of matrix units.
  if (splitsProducts(problem))
    rates.pair *= 2.5;
  rates.feature = 1.8 * rates.pair;
  rates.byte = 0.3;
  rates.kernel = 4e6;
  // tf32 has not been measured.
  if (problem.dtype != taylor::StorageType::F64 && problem.f32Products != taylor::F32Products::TF32)
    rates.samples = getSamples(splitsProducts(problem), isNarrow);
  return rates;
}

LogicalResult NVPTXTarget::lowerToThreads(const taylor::TargetProblem &problem,
                                          taylor::StageRunner run) const {
  return run("simt",
             [&](OpPassManager &manager) { buildSimtPipeline(manager, target, problem.f32Products); });
}

FailureOr<PTXOp> NVPTXTarget::lowerToText(ModuleOp module, const taylor::TargetProblem &problem,
                                          taylor::StageRunner run) const {
  if (failed(lowerToThreads(problem, run)) ||
      failed(run("llvm", [&](OpPassManager &manager) { buildThreadPipeline(manager, target.cacheBytes); })) ||
      failed(run("ptx", [&](OpPassManager &manager) { manager.addPass(createEmitPTX({target.name})); })))
    return failure();
  return *module.getOps<PTXOp>().begin();
}

LogicalResult NVPTXTarget::report(ModuleOp module, const taylor::TargetProblem &problem,
                                  taylor::StageRunner run,
                                  std::unique_ptr<taylor::KernelReports> &reports) const {
  if (!reports)
    reports = std::make_unique<PTXReports>();
  auto *kernels = dyn_cast<PTXReports>(reports.get());
  if (!kernels)
    return taylor::refuse(module.emitError("unsupported: a report of "))
           << target.name << " next to one of another kind of target; ask for one at a time";
  ScoreTiles tiles = findScoreTiles(module);
  FailureOr<PTXOp> ptx = lowerToText(module, problem, run);
  if (failed(ptx))
    return failure();
  std::string error;
  std::optional<CodeReport> report = reportKernels(*ptx, tiles, findPtxas(), error);
  if (!report)
    return module.emitError(error);
  kernels->report.add(std::move(*report));
  return success();
}

FailureOr<std::string> NVPTXTarget::print(ModuleOp module, const taylor::TargetProblem &problem,
                                          taylor::Emission level, taylor::StageRunner run) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (level == taylor::Emission::Assembly) {
    FailureOr<PTXOp> ptx = lowerToText(module, problem, run);
    if (failed(ptx))
      return failure();
    return ptx->getText().str();
  }
  if (failed(lowerToThreads(problem, run)))
    return failure();
  if (level == taylor::Emission::LLVM &&
      failed(run("llvm", [&](OpPassManager &manager) { buildThreadPipeline(manager, target.cacheBytes); })))
    return failure();
  module.print(stream);
  return text + "\n";
}

LogicalResult NVPTXTarget::emit(ModuleOp module, const taylor::TargetProblem &problem,
                                taylor::StageRunner run, taylor::ArtifactCode &code) const {
  FailureOr<PTXOp> ptx = lowerToText(module, problem, run);
  if (failed(ptx))
    return failure();
  code.images.push_back({getName(), /*isPtx=*/true, ptx->getText().str()});
  // Where there is ptxas, machine code for this GPU starts without the driver's compiler.
  std::string ptxas = findPtxas(), error;
  if (ptxas.empty())
    return success();
  std::optional<Assembly> assembly = assemble(ptxas, ptx->getText(), target, error);
  if (!assembly)
    return module.emitError(error);
  code.images.push_back({getName(), /*isPtx=*/false, assembly->cubin});
  return success();
}

std::unique_ptr<taylor::Target> simt::makeNVPTXTarget(StringRef name, std::string &error) {
  const Machine *target = findTarget(name);
  if (target)
    return std::make_unique<NVPTXTarget>(*target);
  error = describeUnknownTarget(name);
  return nullptr;
}

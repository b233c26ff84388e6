// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Emit/Emit.h"
#include "codegen/Targets/NVPTX/Machines.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::simt;

void mlir::simt::buildThreadPipeline(OpPassManager &pm, int64_t cacheBytes) {
  pm.addPass(createLowerToNVVM({cacheBytes}));
  pm.addPass(createCSEPass());
  pm.addPass(createNVPTXExpandMath());
  pm.addPass(createNVPTXLowerToLLVM());
}

void mlir::simt::buildPTXPipeline(OpPassManager &pm, StringRef target) {
  const Machine *known = findTarget(target); // taylor-nvptx-emit refuses others
  buildThreadPipeline(pm, known ? known->cacheBytes : 0);
  pm.addPass(createEmitPTX({target.str()}));
}

namespace {
struct PipelineOptions : PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("GPU to compile for: sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100 or sm_120"),
      llvm::cl::init("sm_80")};
};
} // namespace

void mlir::simt::registerNVPTXPipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "taylor-nvptx-pipeline",
      "tile programs with layouts and places in shared memory to PTX text: taylor-simt-lower-to-nvvm, "
      "taylor-nvptx-expand-math, taylor-nvptx-lower-to-llvm and taylor-nvptx-emit",
      [](OpPassManager &pm, const PipelineOptions &options) { buildPTXPipeline(pm, options.target); });
}

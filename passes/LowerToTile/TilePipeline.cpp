// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"

using namespace mlir;

namespace {
struct TilePipelineOptions : PassPipelineOptions<TilePipelineOptions> {
  Option<std::string> tiles{
      *this, "tiles",
      llvm::cl::desc(
          "tile sizes, as for taylor-plan-tiles; products=bf16 or f16: operands of products in 16 bits")};
};
} // namespace

void taylor::buildFormPipeline(OpPassManager &manager) {
  manager.nest<FunctionOp>().addPass(createCheckHalfWeightsPass());
  manager.addPass(createChunkSumsPass());
  OpPassManager &functions = manager.nest<FunctionOp>();
  functions.addPass(createCanonicalizePass());
  functions.addPass(createCSEPass());
}

void taylor::buildFormingPipeline(OpPassManager &functions) {
  functions.addPass(createFormKernelsPass());
  functions.addPass(createDelayStoresPass());
  functions.addPass(createOrderStoresPass());
  functions.addPass(createJoinRowsPass());
}

void taylor::buildPlanKernelsPipeline(OpPassManager &manager) {
  manager.addPass(createPrepareKernelsPass());
  OpPassManager &functions = manager.nest<FunctionOp>();
  functions.addPass(createKeepValuesPass());
  buildFormingPipeline(functions);
  functions.addPass(createFitKernelsPass());
  functions.addPass(createOrderKernelsPass());
  functions.addPass(createFindDemandPass());
}

void taylor::buildKernelPipeline(OpPassManager &manager) {
  manager.nest<FunctionOp>().addPass(createSplitRunningSumsPass());
  manager.addPass(createFoldRowFactorsPass());
  manager.nest<FunctionOp>().addPass(createSplitSumsPass());
  manager.addPass(createFoldScoreScalePass());
  buildPlanKernelsPipeline(manager);
}

void taylor::buildEmissionPipeline(OpPassManager &manager) {
  manager.addPass(createLowerToTilePass());
  manager.addPass(createWidenProjectionsPass());
  manager.addPass(createSplitProductsPass());
  manager.addPass(createNarrowProductsPass());
  manager.addPass(createCSEPass());
  manager.addPass(createCanonicalizePass());
  manager.addPass(createFormProductsPass());
  manager.addPass(createReduceFirstPass());
  manager.addPass(createShareMapsPass());
  manager.addPass(createFoldExponentsPass());
  manager.addPass(createJoinKernelsPass());
  manager.addPass(createCanonicalizePass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createCSEPass());
  manager.addPass(createTransposeOperandsPass());
  manager.addPass(createCSEPass());
  manager.addPass(createOrderGridPass());
}

void taylor::buildProgramPipeline(OpPassManager &manager) {
  buildKernelPipeline(manager);
  buildEmissionPipeline(manager);
}

void taylor::buildTilePipeline(OpPassManager &manager) {
  buildFormPipeline(manager);
  buildProgramPipeline(manager);
}

void taylor::registerTilePipeline() {
  PassPipelineRegistration<>("taylor-plan-kernels",
                             "functions at the pairwise level with their kernels as fusion.kernel",
                             buildPlanKernelsPipeline);
  PassPipelineRegistration<TilePipelineOptions>(
      "taylor-tile-pipeline", "functions at the pairwise level into tidy tile programs",
      [](OpPassManager &manager, const TilePipelineOptions &options) {
        manager.addPass(createPlanTilesPass({options.tiles}));
        buildTilePipeline(manager);
      });
}

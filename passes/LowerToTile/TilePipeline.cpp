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
          "tile sizes, as for taylor-lower-to-tile; products=bf16 or f16: operands of products in 16 bits")};
};
} // namespace

void taylor::buildFormPipeline(OpPassManager &manager, const TileSizes &sizes) {
  if (sizes.productType == "f16")
    manager.nest<FunctionOp>().addPass(createCheckHalfWeightsPass());
  if (sizes.chunked) {
    manager.addPass(createChunkSumsPass({sizes.chunk, sizes.getChunkUnit(), sizes.balance, sizes.farBalance,
                                         sizes.nearBytes, sizes.featureBlock}));
    OpPassManager &functions = manager.nest<FunctionOp>();
    functions.addPass(createCanonicalizerPass());
    functions.addPass(createCSEPass());
  }
}

void taylor::buildProgramPipeline(OpPassManager &manager, const TileSizes &sizes) {
  manager.nest<FunctionOp>().addPass(createSplitRunningSumsPass());
  if (sizes.foldRowFactors)
    manager.addPass(createFoldRowFactorsPass());
  if (sizes.rowSums != RowSums::Parts)
    manager.nest<FunctionOp>().addPass(createSplitSumsPass({sizes.rowSums == RowSums::Atomic}));
  manager.addPass(createFoldScoreScalePass());
  manager.addPass(createLowerToTilePass({sizes.str()}));
  manager.addPass(createWidenProjectionsPass());
  if (!sizes.productType.empty()) {
    if (sizes.splitProducts)
      manager.addPass(createSplitProductsPass({sizes.productType}));
    manager.addPass(createNarrowProductsPass({sizes.productType}));
  }
  manager.addPass(createCSEPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createFormProductsPass({sizes.productBytes}));
  manager.addPass(createReduceFirstPass());
  if (sizes.sharesMaps)
    manager.addPass(createShareMapsPass());
  if (sizes.foldExponents)
    manager.addPass(createFoldExponentsPass());
  if (sizes.joinsKernels)
    manager.addPass(createJoinKernelsPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createCSEPass());
  if (sizes.transposesOperands) {
    manager.addPass(createTransposeOperandsPass());
    manager.addPass(createCSEPass());
  }
  manager.addPass(createOrderGridPass());
}

void taylor::buildTilePipeline(OpPassManager &manager, const TileSizes &sizes) {
  buildFormPipeline(manager, sizes);
  buildProgramPipeline(manager, sizes);
}

void taylor::registerTilePipeline() {
  PassRegistryFunction build = [](OpPassManager &manager, StringRef text,
                                  function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
    TilePipelineOptions options;
    if (failed(options.parseFromString(text)))
      return failure();
    TileSizes sizes;
    if (llvm::Error wrong = sizes.parse(options.tiles))
      return error(llvm::toString(std::move(wrong)));
    buildTilePipeline(manager, sizes);
    return success();
  };
  registerPassPipeline(
      "taylor-tile-pipeline", "functions at the pairwise level into tidy tile programs", build,
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) { visit(TilePipelineOptions()); });
}

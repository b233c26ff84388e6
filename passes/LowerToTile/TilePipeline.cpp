// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace {
struct TilePipelineOptions : PassPipelineOptions<TilePipelineOptions> {
  Option<std::string> productType{*this, "product-type",
                                  llvm::cl::desc("operands of products: bf16 or f16; default: as computed")};
};
} // namespace

void taylor::buildTilePipeline(OpPassManager &manager, const TileSizes &sizes, StringRef productType) {
  LowerToTilePassOptions options;
  options.tokens = sizes.tokens;
  options.queries = sizes.queries;
  options.keys = sizes.keys;
  options.edgeKeys = sizes.edgeKeys;
  options.outerKeys = sizes.outerKeys;
  options.blocks = sizes.blocks;
  options.widenKeys = productType.empty();
  manager.addPass(createLowerToTilePass(options));
  manager.addPass(createWidenProjectionsPass());
  if (!productType.empty())
    manager.addPass(createNarrowProductsPass({productType.str()}));
  manager.addPass(createCSEPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createCSEPass());
}

void taylor::registerTilePipeline() {
  PassPipelineRegistration<TilePipelineOptions>(
      "taylor-tile-pipeline", "functions at the pairwise level into tidy tile programs",
      [](OpPassManager &manager, const TilePipelineOptions &options) {
        buildTilePipeline(manager, {}, options.productType);
      });
}

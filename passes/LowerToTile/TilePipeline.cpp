// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void taylor::buildTilePipeline(OpPassManager &manager, const TileSizes &sizes) {
  LowerToTilePassOptions options;
  options.tokens = sizes.tokens;
  options.queries = sizes.queries;
  options.keys = sizes.keys;
  options.edgeKeys = sizes.edgeKeys;
  options.outerKeys = sizes.outerKeys;
  options.blocks = sizes.blocks;
  manager.addPass(createLowerToTilePass(options));
  manager.addPass(createCSEPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createLoopInvariantCodeMotionPass());
  manager.addPass(createCSEPass());
}

void taylor::registerTilePipeline() {
  PassPipelineRegistration<>("taylor-tile-pipeline",
                             "functions at the pairwise level into tidy tile programs",
                             [](OpPassManager &manager) { buildTilePipeline(manager); });
}

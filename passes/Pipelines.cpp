// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Pipelines.h"

#include "passes/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace taylor;

namespace {

/// Dead scalars and equal arrays would look like users to the passes that follow.
void cleanUp(OpPassManager &manager) {
  manager.addPass(createCanonicalizePass());
  manager.addPass(createCSEPass());
}

} // namespace

void taylor::buildPairwisePipeline(OpPassManager &manager, const PairwiseOptions &options) {
  SpecializePassOptions specialize;
  specialize.headDim = options.headDim;
  specialize.valueDim = options.valueDim;
  specialize.dtype = options.dtype;
  specialize.parameters = options.parameters;
  specialize.mask = options.mask;
  if (options.documents)
    manager.addPass(createAddDocumentsPass());
  manager.addPass(createSpecializePass(specialize));
  buildSpecializedToPairwisePipeline(manager);
}

void taylor::buildSpecializedToPairsPipeline(OpPassManager &manager) {
  manager.addPass(createExpandNormalizePass());
  manager.addPass(createRecurrencesToPairwisePass());
  cleanUp(manager);
  manager.addPass(createPrepareKeysPass());
  cleanUp(manager);
  manager.addPass(createCarryStatesPass());
  cleanUp(manager);
}

void taylor::buildSpecializedToPairwisePipeline(OpPassManager &manager) {
  buildSpecializedToPairsPipeline(manager);
  buildPairsToPairwisePipeline(manager);
}

void taylor::buildPairsToPairwisePipeline(OpPassManager &manager, bool forwardOnly) {
  manager.addPass(createFactorExponentialsPass());
  manager.addPass(createMergeExponentsPass());
  cleanUp(manager);
  manager.addPass(createDeriveBackwardPass({forwardOnly}));
  cleanUp(manager);
  OpPassManager &functions = manager.nest<FunctionOp>();
  // Before factors leave their sums: a gate cancels only next to the sum it scales.
  functions.addPass(createReuseOutputsPass());
  functions.addPass(createSimplifyArraysPass());
  cleanUp(functions);
  functions.addPass(createStabilizePass());
  cleanUp(functions);
  functions.addPass(createReuseOutputsPass());
  functions.addPass(createSimplifyArraysPass());
  cleanUp(functions);
  manager.addPass(createSplitBackwardPass());
  OpPassManager &parts = manager.nest<FunctionOp>();
  parts.addPass(createSimplifyArraysPass());
  cleanUp(parts);
}

void taylor::registerPipelines() {
  PassPipelineRegistration<PairwiseOptions>("taylor-to-pairwise",
                                            "from a specification to its forward and backward functions",
                                            buildPairwisePipeline);
}

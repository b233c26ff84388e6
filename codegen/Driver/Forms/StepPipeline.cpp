// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a specialised specification to the functions that decode.
#include "codegen/Driver/Forms/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace taylor;

void taylor::buildStepPipeline(OpPassManager &manager, const StepOptions &options) {
  manager.addPass(createPlanStepsPass({options.decode, options.states}));
  buildStepsToPairsPipeline(manager, options.block, options.channels, options.mostTokens);
  buildPairsToPairwisePipeline(manager, /*forwardOnly=*/true);
  manager.addPass(createNameStepsPass());
}

void taylor::registerStepPipeline() {
  PassPipelineRegistration<StepOptions>(
      "taylor-to-steps", "from a specialised specification to the functions that decode", buildStepPipeline);
}

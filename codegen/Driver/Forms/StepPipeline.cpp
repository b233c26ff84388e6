// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a specialised specification to its functions, and those that decode.
#include "codegen/Driver/Forms/Passes.h"
#include "passes/Passes.h"
#include "passes/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace taylor;

void taylor::buildStepPipeline(OpPassManager &manager, const StepOptions &options) {
  if (options.states)
    manager.addPass(createPlanStatesPass({CarryMode::Pieces, options.block}));
  manager.addPass(createPlanStepsPass(
      {options.decode, options.states, options.block, options.channels, options.mostTokens}));
  buildSpecializedToPairsPipeline(manager);
  buildPairsToPairwisePipeline(manager);
  manager.addPass(createNameStepsPass());
}

void taylor::registerStepPipeline() {
  PassPipelineRegistration<StepOptions>(
      "taylor-to-steps", "from a specialised specification to its functions, and those that decode",
      buildStepPipeline);
}

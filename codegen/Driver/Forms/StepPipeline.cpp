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

void taylor::planCalls(OpPassManager &manager, std::optional<PlanStatesPassOptions> states,
                       std::optional<PlanStepsPassOptions> steps) {
  if (states)
    manager.addPass(createPlanStatesPass(*states));
  if (steps)
    manager.addPass(createPlanStepsPass(*steps));
}

void taylor::buildStepPipeline(OpPassManager &manager, const StepOptions &options) {
  std::optional<PlanStatesPassOptions> states;
  if (options.states)
    states = {CarryMode::Pieces, options.block};
  PlanStepsPassOptions steps{options.decode, options.states, options.block, options.channels,
                             options.mostTokens};
  planCalls(manager, states, steps);
  buildSpecializedToPairsPipeline(manager);
  buildPairsToPairwisePipeline(manager);
  manager.addPass(createNameStepsPass());
}

void taylor::registerStepPipeline() {
  PassPipelineRegistration<StepOptions>(
      "taylor-to-steps", "from a specialised specification to its functions, and those that decode",
      buildStepPipeline);
}

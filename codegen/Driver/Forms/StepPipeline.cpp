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

void taylor::planCalls(OpPassManager &manager, std::optional<CarryMode> carries,
                       const std::optional<PlanStepsPassOptions> &steps, int64_t block) {
  if (carries)
    manager.addPass(createPlanStatesPass({*carries, block}));
  if (steps) {
    PlanStepsPassOptions options = *steps;
    options.block = block;
    manager.addPass(createPlanStepsPass(options));
  }
}

void taylor::buildStepPipeline(OpPassManager &manager, const StepOptions &options) {
  PlanStepsPassOptions steps;
  steps.decode = options.decode;
  steps.requiresStates = options.states;
  steps.channels = options.channels;
  steps.mostTokens = options.mostTokens;
  planCalls(manager, options.states ? std::optional(CarryMode::Pieces) : std::nullopt, steps, options.block);
  buildSpecializedToPairsPipeline(manager);
  buildPairsToPairwisePipeline(manager);
  manager.addPass(createNameStepsPass());
}

void taylor::registerStepPipeline() {
  PassPipelineRegistration<StepOptions>(
      "taylor-to-steps", "from a specialised specification to its functions, and those that decode",
      buildStepPipeline);
}

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

void taylor::planCalls(OpPassManager &manager, const CallPlan &plan) {
  if (plan.carry)
    manager.addPass(createPlanStatesPass({*plan.carry, plan.block}));
  if (plan.decode)
    manager.addPass(
        createPlanStepsPass({*plan.decode, plan.requiresStates, plan.block, plan.channels, plan.mostTokens}));
}

void taylor::buildStepPipeline(OpPassManager &manager, const StepOptions &options) {
  CallPlan plan;
  if (options.states)
    plan.carry = CarryMode::Pieces;
  plan.decode = options.decode;
  plan.requiresStates = options.states;
  plan.block = options.block;
  plan.channels = options.channels;
  plan.mostTokens = options.mostTokens;
  planCalls(manager, plan);
  buildSpecializedToPairsPipeline(manager);
  buildPairsToPairwisePipeline(manager);
  manager.addPass(createNameStepsPass());
}

void taylor::registerStepPipeline() {
  PassPipelineRegistration<StepOptions>(
      "taylor-to-steps", "from a specialised specification to its functions, and those that decode",
      buildStepPipeline);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a specification to tile programs: which passes run, and in which order. What is asked for is in
// Request.cpp, what comes after tile programs in Compile.cpp and Levels.cpp; which forms functions have is
// decided in Forms/.
#include "codegen/Driver/Driver.h"

#include "codegen/Driver/Forms/Passes.h"

#include "passes/LowerToTile/Passes.h"
#include "passes/Passes.h"
#include "passes/Specification/Rewrites.h"

using namespace mlir;
using namespace taylor;

LogicalResult Driver::runPasses(ModuleOp module, function_ref<void(OpPassManager &)> build) {
  PassManager manager(&context, ModuleOp::getOperationName());
  build(manager);
  return manager.run(module);
}

/// Shows the module to who watches; the next phase begins.
void Driver::observe(StringRef stage, ModuleOp module) {
  if (onStage)
    onStage(stage, module);
  phases.begin();
}

/// A stage is a phase.
LogicalResult Driver::runStage(ModuleOp module, StringRef stage, function_ref<void(OpPassManager &)> build) {
  if (failed(runPasses(module, build)))
    return failure();
  observe(stage, module);
  return success();
}

/// What callers must know of the specification, where they will be told.
void Driver::declareInterface(OpPassManager &manager) {
  if (!describes)
    return;
  DeclareInterfacePassOptions declare;
  if (options.documents)
    declare.ascending = kDocumentsInput.str();
  manager.addPass(createDeclareInterfacePass(declare));
}

TargetProblem Driver::getProblem() const {
  return {options.getHeadDim(),
          options.getValueDim(),
          widestKey,
          widestValue,
          options.dtype,
          options.f32Products,
          options.bf16Products,
          options.rowSums,
          options.chunk,
          module && carriesStates(*module),
          options.formCosts};
}

/// What calls hand on, and the functions that decode, where they are asked for.
CallPlan Driver::chooseCalls() {
  CallPlan plan;
  if (options.form == FormChoice::Recurrent)
    plan.carry = CarryMode::Recurrent;
  else if (options.states)
    plan.carry = CarryMode::Pieces;
  plan.decode = options.decode;
  plan.requiresStates = options.states;
  plan.block = chooseStateBlock(targets, getProblem());
  plan.channels = options.getHeadDim() + options.getValueDim();
  return plan;
}

/// Functions on arrays.
LogicalResult Driver::lowerToPairwise() {
  SpecializePassOptions specialize{options.getHeadDim(), options.getValueDim(), options.dtype};
  if (failed(runStage(*module, "specialized", [&](OpPassManager &manager) {
        manager.addPass(createSpecializePass(specialize));
        declareInterface(manager);
      })))
    return failure();
  std::tie(widestKey, widestValue) = findWidest(*module);
  auto build = [&](OpPassManager &manager) {
    planCalls(manager, chooseCalls());
    buildSpecializedToPairsPipeline(manager);
    declareInterface(manager);
    buildPairsToPairwisePipeline(manager, /*forwardOnly=*/!options.hasBackward());
    manager.addPass(createNameStepsPass());
  };
  if (failed(runStage(*module, "pairwise", build)))
    return failure();
  return runPasses(*module, [](OpPassManager &manager) { manager.addPass(createCheckLimitsPass()); });
}

/// What the observer calls a stage: with several targets, each has its own.
std::string Driver::stageOf(StringRef stage, const Target &target) const {
  return targets.size() == 1 ? stage.str() : (stage + "-" + target.getName()).str();
}

/// Tile programs of a target: of all functions, in the form that was asked for, or where none was and there
/// will be a manifest, also in another that may cost less.
FailureOr<OwningOpRef<ModuleOp>> Driver::lowerToTile(const Target &target,
                                                     function_ref<void(ModuleOp)> onKernels) {
  OwningOpRef<ModuleOp> programs = module->clone();
  bool saysWhy = describes || explains;
  PlanFormsPassOptions plan{target.getName(), options.form, saysWhy && options.form == FormChoice::Auto};
  auto planKernels = [&](OpPassManager &manager) {
    manager.addPass(createPlanFormsPass(plan));
    buildFormPipeline(manager);
    if (saysWhy)
      manager.addPass(createChooseFormsPass({target.getName(), /*firstAlone=*/explains}));
    buildKernelPipeline(manager);
    manager.addPass(createFitTilesPass({target.getName()}));
  };
  (*programs)->setAttr(kProblem, describeProblem(getProblem(), &context));
  if (failed(runPasses(*programs, planKernels)))
    return failure();
  (*programs)->removeAttr(kProblem);
  if (onKernels)
    onKernels(*programs);
  auto emit = [&](OpPassManager &manager) {
    buildEmissionPipeline(manager);
    manager.addPass(createMatchFormsPass());
    manager.addPass(createNameCachePass());
    if (describes)
      manager.addPass(createDescribeProgramsPass());
  };
  if (describes)
    (*programs)->setAttr(tile::kTarget, target.describe(&context));
  if (failed(runPasses(*programs, emit)))
    return failure();
  observe(stageOf("tile", target), *programs);
  return programs;
}

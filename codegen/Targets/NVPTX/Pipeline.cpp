// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Machines.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::simt;

/// The part before buffers are placed.
static void buildSharedMemoryPipeline(OpPassManager &manager, const Machine &target,
                                      taylor::F32Products f32Products) {
  AssignLayoutsOptions layouts;
  layouts.f32Products = f32Products;
  layouts.startsProducts = target.startsProducts;
  manager.addPass(createAssignLayouts(layouts));
  manager.addPass(createCSEPass());
  if (target.assignsRoles) {
    manager.addPass(createAssignRoles({/*slots=*/2, target.sharedPerBlock}));
    if (target.persistsBlocks)
      manager.addPass(createPersistBlocks());
    manager.addPass(createCSEPass());
    if (target.overlapsUses)
      manager.addPass(createOverlapUses());
  }
  if (target.startsProducts)
    manager.addPass(
        createOverlapIterations({/*registers=*/210, target.sharedPerSM / 2, target.sharedPerBlock}));
  manager.addPass(createSinkOperands({target.sharedPerBlock}));
  manager.addPass(
      createScheduleCopies({/*stages=*/2, target.sharedPerBlock, /*early=*/target.startsProducts}));
}

void simt::buildSimtPipeline(OpPassManager &manager, const Machine &target, taylor::F32Products f32Products) {
  buildSharedMemoryPipeline(manager, target, f32Products);
  manager.addPass(createAllocateShared({target.sharedPerBlock}));
  manager.addPass(createStripMine());
  manager.addPass(taylor::createCanonicalizePass());
  manager.addPass(createCSEPass());
  if (target.startsProducts) {
    manager.addPass(createStartProducts());
    manager.addPass(createFenceProxies());
  }
  if (target.startsEarly)
    manager.addPass(createStartEarly());
}

namespace {
struct SimtPipelineOptions : PassPipelineOptions<SimtPipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc("GPU to compile for, as in taylorc --target"),
                             llvm::cl::init("sm_80")};
  Option<taylor::F32Products> f32Products{*this, "f32-products", llvm::cl::desc("how to multiply f32"),
                                          llvm::cl::init(taylor::F32Products::FMA),
                                          taylor::wordsOf<taylor::F32Products>()};
};
} // namespace

void simt::registerSimtPipeline() {
  PassRegistryFunction build = [](OpPassManager &manager, StringRef text,
                                  function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
    SimtPipelineOptions options;
    if (failed(options.parseFromString(text)))
      return failure();
    const Machine *target = findTarget(options.target);
    if (!target)
      return error(describeUnknownTarget(options.target));
    buildSimtPipeline(manager, *target, options.f32Products);
    return success();
  };
  registerPassPipeline(
      "taylor-simt-pipeline",
      "tile programs to tiles over threads, with copies scheduled and buffers placed: "
      "taylor-simt-assign-layouts, taylor-simt-sink-operands, taylor-simt-schedule-copies, "
      "taylor-simt-allocate-shared and taylor-simt-strip-mine; for sm_90a also "
      "taylor-simt-overlap-iterations before the copies, and "
      "taylor-simt-start-products and taylor-simt-fence-proxies at the end; with +roles "
      "taylor-simt-assign-roles after the layouts, with +persistent and +overlap "
      "taylor-simt-persist-blocks and taylor-simt-overlap-uses after it; with +early taylor-simt-start-early "
      "at the end; and between them canonicalize and cse",
      build,
      [](function_ref<void(const mlir::detail::PassOptions &)> visit) { visit(SimtPipelineOptions()); });
}

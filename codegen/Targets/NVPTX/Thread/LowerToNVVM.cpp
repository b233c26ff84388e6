// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// taylor-simt-lower-to-nvvm: kernels become functions of one thread. Passes.td has the description.
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/PlaceBarriers.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "codegen/Targets/NVPTX/Thread/ThreadEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-simt-lower-to-nvvm"

namespace mlir::simt {
#define GEN_PASS_DEF_LOWERTONVVM
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;
using namespace mlir::simt;

namespace {

/// Pointers to shared memory have 32 bits.
constexpr StringLiteral kDataLayout =
    "e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64";

struct LowerToNVVM : simt::impl::LowerToNVVMBase<LowerToNVVM> {
  using LowerToNVVMBase::LowerToNVVMBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<tile::ProgramOp> programs(module.getOps<tile::ProgramOp>());
    if (failed(requirePrograms(module)))
      return signalPassFailure();
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    module->setAttr(LLVM::LLVMDialect::getTargetTripleAttrName(),
                    builder.getStringAttr("nvptx64-nvidia-cuda"));
    module->setAttr(LLVM::LLVMDialect::getDataLayoutAttrName(), builder.getStringAttr(kDataLayout));
    // The block's dynamic shared memory: its size is the launch's.
    auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 0);
    auto shared = LLVM::GlobalOp::create(builder, module.getLoc(), bytes, /*isConstant=*/false,
                                         LLVM::Linkage::External, "taylor_shared", Attribute(),
                                         /*alignment=*/1024, unsigned(AddressSpace::shared));
    for (tile::ProgramOp program : programs) {
      for (tile::KernelOp kernel : program.getBlock()->getOps<tile::KernelOp>()) {
        if (failed(requireBarriers(kernel)) ||
            failed(ThreadEmitter(kernel, builder, shared, cache).emit(module)))
          return signalPassFailure();
        LDBG() << "@" << kernel.getSymName() << ": the code of one of " << 32 * getNumWarps(kernel)
               << " threads";
        ++numKernels;
      }
      program.erase();
    }
  }
};

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/Passes.h"
#include "codegen/Targets/LLVMConversion.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-cpu-lower-to-llvm"

namespace mlir::tile::cpu {
#define GEN_PASS_DEF_CPULOWERTOLLVM
#include "codegen/Targets/CPU/Passes.h.inc"
} // namespace mlir::tile::cpu

using namespace mlir;
using namespace mlir::tile;

namespace {

struct CPULowerToLLVM : cpu::impl::CPULowerToLLVMBase<CPULowerToLLVM> {
  using CPULowerToLLVMBase::CPULowerToLLVMBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    if (failed(taylor::lowerStructuredControlFlow(getOperation())))
      return signalPassFailure();
    LLVMTypeConverter converter(context);
    RewritePatternSet patterns(context);
    taylor::populateScalarToLLVMPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    target.addLegalDialect<func::FuncDialect>();
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    LDBG() << getOperation()->getLoc() << ": "
           << std::distance(getOperation()->getRegion(0).begin(), getOperation()->getRegion(0).end())
           << " blocks";
    ++numFunctions;
  }
};

} // namespace

void cpu::buildVectorPipeline(OpPassManager &pm, StringRef target) {
  pm.addPass(createLowerTileToVector({target.str()}));
  OpPassManager &functions = pm.nest<func::FuncOp>();
  functions.addPass(createCPUExpandMath({target.str()}));
  // Addresses are emitted where they are used, so most of them are said more than once.
  functions.addPass(createCSEPass());
  functions.addPass(createLoopInvariantCodeMotionPass());
  functions.addPass(createCSEPass());
}

void cpu::buildLLVMPipeline(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(createCPULowerToLLVM());
  pm.addPass(createConvertFuncToLLVMPass());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// taylor-nvptx-lower-to-llvm: upstream's conversions of what is left next to llvm and nvvm.
#include "codegen/Targets/LLVMConversion.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Transforms/DialectConversion.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-nvptx-lower-to-llvm"

namespace mlir::simt {
#define GEN_PASS_DEF_NVPTXLOWERTOLLVM
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;

namespace {
struct NVPTXLowerToLLVM : simt::impl::NVPTXLowerToLLVMBase<NVPTXLowerToLLVM> {
  using NVPTXLowerToLLVMBase::NVPTXLowerToLLVMBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    if (failed(simt::requireThreadCode(getOperation())))
      return signalPassFailure();
    if (failed(taylor::lowerStructuredControlFlow(getOperation())))
      return signalPassFailure();
    LLVMTypeConverter converter(context);
    RewritePatternSet patterns(context);
    taylor::populateScalarToLLVMPatterns(converter, patterns);
    LLVMConversionTarget target(*context);
    target.addLegalOp<ModuleOp>();
    target.addLegalDialect<NVVM::NVVMDialect>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      LDBG() << "@" << function.getSymName() << ": " << function.getBody().getBlocks().size() << " blocks";
      ++numFunctions;
    }
  }
};
} // namespace

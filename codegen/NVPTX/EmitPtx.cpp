// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// taylor-nvptx-emit: PTX text in the module. Passes.td has the description.
#include "codegen/NVPTX/Passes.h"
#include "codegen/NVPTX/Ptx.h"
#include "codegen/NVPTX/Simt/SimtDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::simt {
#define GEN_PASS_DEF_EMITPTX
#include "codegen/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;

namespace {
struct EmitPtx : simt::impl::EmitPtxBase<EmitPtx> {
  using EmitPtxBase::EmitPtxBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const simt::Target *found = simt::findTarget(target);
    if (!found) {
      module.emitError() << "expected target=" << llvm::join(simt::targetNames(), ", ") << ", but got '"
                         << target.getValue() << "'";
      return signalPassFailure();
    }
    FailureOr<std::string> ptx = simt::printPtx(module, *found);
    if (failed(ptx))
      return signalPassFailure();
    for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
      if (isa<LLVM::LLVMDialect>(op.getDialect()))
        op.erase();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    simt::ImageOp::create(builder, module.getLoc(), found->name, *ptx);
  }
};
} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// taylor-nvptx-expand-math. Passes.td has the list of instructions.
#include "codegen/Targets/Math/ExpandFunctions.h"
#include "codegen/Targets/NVPTX/Passes.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Debug.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "taylor-nvptx-expand-math"

namespace mlir::simt {
#define GEN_PASS_DEF_NVPTXEXPANDMATH
#include "codegen/Targets/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;

namespace {

/// f32 by one or two instructions; null for another op.
Value expandApproximate(OpBuilder &b, Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isF32())
    return {};
  auto intrinsic = [&](StringRef name) -> Value {
    return LLVM::CallIntrinsicOp::create(b, op->getLoc(), op->getResult(0).getType(), b.getStringAttr(name),
                                         op->getOperands())
        .getResult(0);
  };
  bool isNearest = !tile::isRelaxed(op);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<math::SqrtOp>(
          [&](auto) { return intrinsic(isNearest ? "llvm.nvvm.sqrt.rn.f" : "llvm.nvvm.sqrt.approx.f"); })
      .Case<math::RsqrtOp>([&](auto) { return intrinsic("llvm.nvvm.rsqrt.approx.ftz.f"); })
      .Case<arith::DivFOp>(
          [&](auto) { return intrinsic(isNearest ? "llvm.nvvm.div.rn.f" : "llvm.nvvm.div.full"); })
      .Default([](Operation *) { return Value(); });
}

/// Functions of 16-bit numbers are computed in f32.
Operation *widen(Operation *op) {
  Type type = op->getNumResults() == 1 ? op->getResult(0).getType() : Type();
  bool isHalf = isa_and_nonnull<FloatType>(type) && type.getIntOrFloatBitWidth() == 16;
  if (!isHalf || !(isa<math::MathDialect>(op->getDialect()) || isa<arith::DivFOp>(op)))
    return op;
  OpBuilder b(op);
  Type f32 = b.getF32Type();
  IRMapping mapping;
  for (Value operand : op->getOperands())
    if (operand.getType() == type)
      mapping.map(operand, b.createOrFold<arith::ExtFOp>(op->getLoc(), f32, operand));
  Operation *wide = b.clone(*op, mapping);
  wide->getResult(0).setType(f32);
  op->getResult(0).replaceAllUsesWith(arith::TruncFOp::create(b, op->getLoc(), type, wide->getResult(0)));
  op->erase();
  return wide;
}

struct NVPTXExpandMath : simt::impl::NVPTXExpandMathBase<NVPTXExpandMath> {
  using NVPTXExpandMathBase::NVPTXExpandMathBase;

  void runOnOperation() override {
    if (failed(simt::requireThreadCode(getOperation())))
      return signalPassFailure();
    SmallVector<Operation *> ops = llvm::map_to_vector(tile::findFunctions(getOperation()), widen);
    for (Operation *op : ops)
      LDBG() << op->getLoc() << ": " << op->getName() << (tile::isRelaxed(op) ? ", approximate" : "");
    numFunctions += ops.size();
    if (failed(tile::expandFunctions(
            ops, {"a GPU", "floats", {.hasExp2 = true, .hasDivide = true}, expandApproximate})))
      signalPassFailure();
  }
};

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Passes.h"
#include "codegen/CPU/Targets.h"
#include "codegen/CPU/VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tile::cpu {
#define GEN_PASS_DEF_EXPANDMATH
#include "codegen/CPU/Passes.h.inc"
} // namespace mlir::tile::cpu

using namespace mlir;
using namespace mlir::tile;

namespace {

/// A maximum or minimum as a compare and a select, which are one instruction. A NaN in the first operand
/// stays: min(s, 5) of a NaN is a NaN. Null for another op.
Value expandExtremum(OpBuilder &b, Operation *op) {
  auto pick = [&](arith::CmpFPredicate predicate) -> Value {
    Value first = op->getOperand(0), second = op->getOperand(1);
    Value wins = arith::CmpFOp::create(b, op->getLoc(), predicate, second, first);
    return arith::SelectOp::create(b, op->getLoc(), wins, second, first);
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case<arith::MaximumFOp, arith::MaxNumFOp>([&](auto) { return pick(arith::CmpFPredicate::OGT); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>([&](auto) { return pick(arith::CmpFPredicate::OLT); })
      .Default([](Operation *) { return Value(); });
}

/// Calls the function of libm for each element.
Value callLibm(ModuleOp module, ImplicitLocOpBuilder &b, StringRef name, Value operand) {
  Type type = operand.getType(), element = getElementTypeOrSelf(type);
  std::string symbol = name.str() + (element.isF32() ? "f" : "");
  auto function = module.lookupSymbol<func::FuncOp>(symbol);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    function = func::FuncOp::create(b, symbol, b.getFunctionType(element, element));
    function.setPrivate();
  }
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return func::CallOp::create(b, function, operand).getResult(0);
  Value result = arith::ConstantOp::create(b, type, cast<TypedAttr>(b.getZeroAttr(type)));
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    Value x = vector::ExtractOp::create(b, operand, i);
    result = vector::InsertOp::create(b, func::CallOp::create(b, function, x).getResult(0), result, i);
  }
  return result;
}

struct ExpandMathPass : cpu::impl::ExpandMathBase<ExpandMathPass> {
  using ExpandMathBase::ExpandMathBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::string error;
    std::optional<cpu::Target> target = cpu::findTarget(targetName, error);
    if (!target) {
      module.emitError(error);
      return signalPassFailure();
    }
    SmallVector<Operation *> ops;
    module.walk([&](Operation *op) {
      if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      Value value = expandExtremum(b, op);
      if (!value)
        value = cpu::expandElementary(b, op, target->hasScale);
      if (isa<math::Log10Op, math::ErfOp>(op))
        value = callLibm(module, b, isa<math::ErfOp>(op) ? "erf" : "log10", op->getOperand(0));
      if (!value)
        continue;
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }
};

} // namespace

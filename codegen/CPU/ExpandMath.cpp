// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Passes.h"
#include "codegen/CPU/Targets.h"
#include "codegen/Math/VectorMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Whether the code generator has instructions for `op`: all others would become calls of libm.
bool isInstruction(Operation *op) {
  if (isa<math::MathDialect>(op->getDialect()))
    return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp,
               math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
  return !isa<arith::RemFOp>(op);
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
      OpBuilder b(op);
      Value value = expandExtremum(b, op);
      if (!value)
        value = expandElementary(b, op, {.hasScale = target->hasScale});
      if (value) {
        op->getResult(0).replaceAllUsesWith(value);
        op->erase();
      } else if (!isInstruction(op)) {
        op->emitError() << "unsupported op on a CPU: '" << op->getName() << "' of " << op->getResultTypes()
                        << "; expected arithmetic, or exp, exp2, expm1, log, log1p, log2, log10, tanh, erf, "
                           "sin, cos, powf, fpowi, sqrt or rsqrt of f32 or f64";
        return signalPassFailure();
      }
    }
  }
};

} // namespace

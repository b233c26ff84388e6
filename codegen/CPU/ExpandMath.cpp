// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Passes.h"
#include "codegen/CPU/Targets.h"
#include "codegen/Math/ExpandFunctions.h"
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
    FunctionExpansion expansion{"a CPU", "f32 or f64", {.hasScale = target->hasScale}, expandExtremum};
    if (failed(expandFunctions(findFunctions(module), expansion)))
      signalPassFailure();
  }
};

} // namespace

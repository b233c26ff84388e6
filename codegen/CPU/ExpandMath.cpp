// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/CPU/Passes.h"
#include "codegen/CPU/Targets.h"
#include "codegen/Math/ExpandFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::tile::cpu {
#define GEN_PASS_DEF_EXPANDMATH
#include "codegen/CPU/Passes.h.inc"
} // namespace mlir::tile::cpu

using namespace mlir;
using namespace mlir::tile;

namespace {

bool isNumber(Value x) {
  FloatAttr number;
  DenseElementsAttr elements;
  if (matchPattern(x, m_Constant(&elements)) && elements.isSplat())
    return !elements.getSplatValue<APFloat>().isNaN();
  return isa_and_nonnull<arith::SIToFPOp>(x.getDefiningOp()) ||
         (matchPattern(x, m_Constant(&number)) && !number.getValue().isNaN());
}

/// A maximum or minimum as a compare and a select, which are one instruction: a NaN in the first operand
/// stays. Where both may be one, two more see to the second. Null for another op.
Value expandExtremum(OpBuilder &b, Operation *op) {
  auto pick = [&](arith::CmpFPredicate predicate) -> Value {
    Location loc = op->getLoc();
    Value first = op->getOperand(0), second = op->getOperand(1);
    if (isNumber(first))
      std::swap(first, second);
    Value wins = arith::CmpFOp::create(b, loc, predicate, second, first);
    Value chosen = arith::SelectOp::create(b, loc, wins, second, first);
    if (isNumber(second))
      return chosen;
    Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, second, second);
    return arith::SelectOp::create(b, loc, isNaN, second, chosen);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/Passes.h"
#include "codegen/Targets/CPU/Processors.h"
#include "codegen/Targets/Math/ExpandFunctions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "passes/Debug.h"
#include "llvm/ADT/TypeSwitch.h"

#define DEBUG_TYPE "taylor-cpu-expand-math"

namespace mlir::tile::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATH
#include "codegen/Targets/CPU/Passes.h.inc"
} // namespace mlir::tile::cpu

using namespace mlir;
using namespace mlir::tile;

namespace {

/// What a vector has in all lanes, where an operation says so.
Value laneOf(Value x) {
  auto broadcast = x.getDefiningOp<vector::BroadcastOp>();
  return broadcast ? broadcast.getSource() : x;
}

/// Whether a scalar or vector is known to hold no NaN.
bool isNumber(Value x) {
  x = laneOf(x);
  APFloat number(0.0);
  return isa_and_nonnull<arith::SIToFPOp>(x.getDefiningOp()) ||
         (matchPattern(x, m_ConstantFloat(&number)) && !number.isNaN());
}

bool isZero(Value x) { return matchPattern(laneOf(x), m_AnyZeroFloat()); }

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

/// relu, select(x <= 0, 0, x), as select(0 > x, 0, x), which is one instruction: the sign of a zero aside it
/// is the same, of a NaN too. Null for another op.
Value expandRelu(OpBuilder &b, arith::SelectOp op) {
  auto compare = op.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OLE ||
      compare.getLhs() != op.getFalseValue() || !isZero(compare.getRhs()) || !isZero(op.getTrueValue()))
    return {};
  Value isOff =
      arith::CmpFOp::create(b, op.getLoc(), arith::CmpFPredicate::OGT, op.getTrueValue(), op.getFalseValue());
  return arith::SelectOp::create(b, op.getLoc(), isOff, op.getTrueValue(), op.getFalseValue());
}

Value expandOnCPU(OpBuilder &b, Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return expandRelu(b, select);
  return expandExtremum(b, op);
}

struct CPUExpandMath : cpu::impl::CPUExpandMathBase<CPUExpandMath> {
  using CPUExpandMathBase::CPUExpandMathBase;

  void runOnOperation() override {
    Operation *root = getOperation();
    std::string error;
    std::optional<cpu::Processor> target = cpu::findTarget(targetName, error);
    if (!target) {
      root->emitError(error);
      return signalPassFailure();
    }
    FunctionExpansion expansion{"a CPU", "f32 or f64", {.hasScale = target->hasScale}, expandOnCPU};
    SmallVector<Operation *> functions = findFunctions(root);
    for (Operation *op : functions)
      LDBG() << op->getLoc() << ": " << op->getName() << (isRelaxed(op) ? ", approximate" : "");
    numFunctions += functions.size();
    if (failed(expandFunctions(functions, expansion)))
      signalPassFailure();
  }
};

} // namespace

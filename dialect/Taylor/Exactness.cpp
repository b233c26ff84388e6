// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/Exactness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

static bool decides(Operation *op) {
  if (isa<math::FloorOp, math::CeilOp, math::RoundEvenOp, math::TruncOp, arith::FPToSIOp>(op))
    return true;
  return isa<arith::CmpFOp>(op) && llvm::none_of(op->getOperands(), [](Value operand) {
           return matchPattern(operand, m_AnyZeroFloat());
         });
}

bool taylor::mustBeExact(Value scalar) {
  llvm::SmallDenseSet<Value> seen;
  SmallVector<Value> open{scalar};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (Operation *user : value.getUsers()) {
      if (decides(user))
        return true;
      if (isa<arith::ArithDialect, math::MathDialect>(user->getDialect()))
        llvm::append_range(open, user->getResults());
    }
  }
  return false;
}

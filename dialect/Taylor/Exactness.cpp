// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/Exactness.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

static bool comparesWithZero(Operation *op) {
  return isa<arith::CmpFOp>(op) && llvm::any_of(op->getOperands(), [](Value operand) {
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
      // No rounding changes the sign of the scalar itself.
      if (isa<math::FloorOp>(user) ||
          (isa<arith::CmpFOp>(user) && !(value == scalar && comparesWithZero(user))))
        return true;
      if (isa<arith::ArithDialect, math::MathDialect>(user->getDialect()))
        llvm::append_range(open, user->getResults());
    }
  }
  return false;
}

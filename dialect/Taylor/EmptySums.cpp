// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/EmptySums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace taylor;

bool taylor::runsOnEmptySums(Operation *scalar, function_ref<bool(Value)> dependsOnSum) {
  if (auto quotient = dyn_cast<arith::DivFOp>(scalar))
    return !dependsOnSum(quotient.getRhs());
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::CmpIOp, arith::SelectOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::ConstantOp,
             math::AbsFOp, math::FmaOp, StopGradientOp>(scalar);
}

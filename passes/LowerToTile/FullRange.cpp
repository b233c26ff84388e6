// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/FullRange.h"

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace taylor;

/// Whether it is one number less another, where a condition holds: what is between two places, by which sums
/// decay, or is below a largest number.
static bool isDifference(Value scalar) {
  if (auto select = scalar.getDefiningOp<arith::SelectOp>())
    scalar = select.getTrueValue();
  auto difference = scalar.getDefiningOp<arith::SubFOp>();
  return difference && llvm::none_of(difference->getOperands(),
                                     [](Value operand) { return matchPattern(operand, m_Constant()); });
}

void taylor::markFullRange(FunctionOp function) {
  function.walk([](Operation *op) {
    if (isa<math::ExpOp, math::Exp2Op, SoftplusOp>(op) && !isa<PairwiseOp>(op->getParentOp()) &&
        !isDifference(op->getOperand(0)))
      op->setDiscardableAttr(tile::kFullRange, UnitAttr::get(op->getContext()));
  });
}

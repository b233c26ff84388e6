// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/ScalarFacts.h"
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace mlir::simt;

static scf::ForOp loopOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  return loop && argument == loop.getInductionVar() ? loop : scf::ForOp();
}

bool mlir::simt::isNonNegative(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return !constant.isNegative();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (isa<tile::KernelOp, RolesOp>(argument.getOwner()->getParentOp()))
      return true;
    scf::ForOp loop = loopOf(value);
    return loop && isNonNegative(loop.getLowerBound());
  }
  Operation *op = value.getDefiningOp();
  if (isa<OwnTilesOp, PlaceOp>(op))
    return true;
  if (auto size = dyn_cast<tile::SizeOp>(op))
    return size.getRole() != tile::kOffset;
  if (isa<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::CeilDivSIOp,
          arith::CeilDivUIOp, arith::FloorDivSIOp, arith::RemSIOp, arith::RemUIOp, arith::MinSIOp,
          arith::MinUIOp, arith::MaxUIOp>(op))
    return llvm::all_of(op->getOperands(), isNonNegative);
  if (isa<arith::MaxSIOp>(op))
    return llvm::any_of(op->getOperands(), isNonNegative);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isNonNegative(select.getTrueValue()) && isNonNegative(select.getFalseValue());
  return false;
}

int64_t mlir::simt::divisorOf(Value value) {
  APInt constant;
  if (!value)
    return 0;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return std::abs(constant.getSExtValue());
  if (scf::ForOp loop = loopOf(value))
    return std::gcd(divisorOf(loop.getLowerBound()), divisorOf(loop.getStep()));
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::MulIOp>(op))
    return divisorOf(op->getOperand(0)) * divisorOf(op->getOperand(1));
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
                      arith::MaxUIOp>(op))
    return std::gcd(divisorOf(op->getOperand(0)), divisorOf(op->getOperand(1)));
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return std::gcd(divisorOf(select.getTrueValue()), divisorOf(select.getFalseValue()));
  return 1;
}

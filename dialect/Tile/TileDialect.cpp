// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile;

#include "dialect/Tile/TileDialect.cpp.inc"
#include "dialect/Tile/TileEnums.cpp.inc"

namespace {
/// Folded constants go to the top of their kernel: a program holds no arithmetic.
struct TileFolds : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;
  bool shouldMaterializeInto(Region *region) const override { return isa<KernelOp>(region->getParentOp()); }
};
} // namespace

bool mlir::tile::hasFastMath(Operation *op, arith::FastMathFlags any) {
  auto arithmetic = dyn_cast<arith::ArithFastMathInterface>(op);
  arith::FastMathFlagsAttr flags =
      arithmetic ? arithmetic.getFastMathFlagsAttr() : arith::FastMathFlagsAttr();
  return flags && (flags.getValue() & any) != arith::FastMathFlags::none;
}

bool mlir::tile::isRelaxed(Operation *op) { return hasFastMath(op, kRelaxed | kRelaxedQuotient); }

void mlir::tile::relax(Operation *op) {
  auto flags =
      arith::FastMathFlagsAttr::get(op->getContext(), isa<arith::DivFOp>(op) ? kRelaxedQuotient : kRelaxed);
  TypeSwitch<Operation *>(op).Case<math::ExpOp, math::Exp2Op, math::SqrtOp, arith::DivFOp>(
      [&](auto one) { one.setFastmathAttr(flags); });
}

void TileDialect::initialize() {
  addInterfaces<TileFolds>();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialect/Tile/TileOps.cpp.inc"
      >();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/Math/ExpandFunctions.h"
#include "dialect/Refusal.h"
#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::tile;

/// Whether code generators have instructions for `op`: all others would become calls of a library.
static bool isInstruction(Operation *op) {
  if (isa<math::MathDialect>(op->getDialect()))
    return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp, math::FmaOp,
               math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
  return !isa<arith::RemFOp>(op);
}

SmallVector<Operation *> tile::findFunctions(Operation *root) {
  SmallVector<Operation *> ops;
  root->walk([&](Operation *op) {
    if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      ops.push_back(op);
  });
  return ops;
}

LogicalResult tile::expandFunctions(ArrayRef<Operation *> ops, const FunctionExpansion &expansion) {
  for (Operation *op : ops) {
    OpBuilder builder(op);
    Value value = expansion.own(builder, op);
    if (!value)
      value = expandElementary(builder, op, expansion.has);
    if (value) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    } else if (!isInstruction(op)) {
      return taylor::refuse(op->emitError())
             << "unsupported op on " << expansion.machine << ": '" << op->getName() << "' of "
             << op->getResultTypes()
             << "; expected arithmetic, or exp, exp2, expm1, log, log1p, log2, log10, tanh, erf, "
                "sin, cos, powf, fpowi, sqrt or rsqrt of "
             << expansion.types;
    } else if (isRelaxed(op)) {
      op->setAttr(cast<arith::ArithFastMathInterface>(op).getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(op->getContext(), arith::FastMathFlags::none));
    }
  }
  return success();
}

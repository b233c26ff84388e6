// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/Frame/Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

bool tile::isScalarOp(Operation *op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) && !op->getNumRegions() &&
         op->getNumResults() == 1;
}

Type tile::scalarType(Type type, Type indexType) { return type.isIndex() ? indexType : type; }

bool tile::isIntegerCast(Operation *op) {
  return isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op);
}

Value tile::castInteger(OpBuilder &builder, Operation *op, Value value, Type to) {
  unsigned from = getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth(),
           bits = getElementTypeOrSelf(to).getIntOrFloatBitWidth();
  if (from == bits)
    return value;
  Location loc = op->getLoc();
  if (from > bits)
    return arith::TruncIOp::create(builder, loc, to, value);
  if (isa<arith::IndexCastUIOp, arith::ExtUIOp>(op))
    return arith::ExtUIOp::create(builder, loc, to, value);
  return arith::ExtSIOp::create(builder, loc, to, value);
}

Value tile::cloneScalar(OpBuilder &builder, Operation *op, ValueRange operands, Type indexType) {
  Type type = scalarType(op->getResult(0).getType(), indexType);
  if (auto constant = dyn_cast<arith::ConstantIndexOp>(op))
    return arith::ConstantOp::create(builder, op->getLoc(), builder.getIntegerAttr(type, constant.value()));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return castInteger(builder, op, operands.front(), type);
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  Operation *clone = builder.clone(*op, mapping);
  clone->getResult(0).setType(type);
  return clone->getResult(0);
}

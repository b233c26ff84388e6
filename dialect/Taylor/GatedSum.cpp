// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// taylor.gated_sum: verifier, derivative, and how it goes on in another call.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/LocalSyntax.h"
#include "dialect/Taylor/RegionDerivative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace taylor;

LogicalResult GatedSumOp::verify() {
  ArrayType array = getArray().getType();
  if (!array.has(AxisRole::Query) && !array.has(AxisRole::Key))
    return emitOpError("requires a token axis t or u, but got ") << array;
  for (StringAttr axis : getGates().getType().getAxes())
    if (!array.has(axis))
      return emitOpError("expected gates over axes of the array, but got axis '") << axis.getValue() << "'";
  for (Value operand : {getArray(), getGates()})
    if (isa<IntegerType>(arrayTypeOf(operand).getElementType()))
      return emitOpError("expected an array and gates of real numbers, but got ")
             << operand.getType() << "; convert them with taylor.map";
  if (failed(verifyResult(*this, array.clone(array.getScalarType()))))
    return failure();
  return getWithin() ? verifyNumbers(*this, "documents", getWithin().getType(), getToken(), array)
                     : success();
}

LogicalResult GatedSumOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                     SmallVectorImpl<Value> &cotangents) {
  // The adjoint s of y[t] = a[t] y[t-1] + x[t] is the sum from the other end, s[t] = y'[t] + a[t+1] s[t+1].
  // Then x'[t] = s[t] and a'[t] = s[t] y[t-1]; from the end y[t] = a[t+1] y[t+1] + x[t], and a'[t] = s[t-1]
  // y[t].
  ArrayType arrayType = arrayTypeOf(getArray()), gatesType = arrayTypeOf(getGates());
  Type real = arrayType.getScalarType();
  Value adjoint = GatedSumOp::create(builder, getLoc(), arrayType.clone(real), results[0], getGates(),
                                     getWithin(), getReverse() ? UnitAttr() : builder.getUnitAttr());
  cotangents.push_back(adjoint);

  Value later = getReverse() ? getResult() : adjoint, earlier = getReverse() ? adjoint : getResult();
  auto before =
      ScanOp::create(builder, getLoc(), arrayType.clone(real), earlier, getWithin(),
                     ScanKindAttr::get(getContext(), ScanKind::Shift), builder.getStringAttr(getToken()),
                     UnitAttr(), UnitAttr(), builder.getI64IntegerAttr(1));
  Block *block = addBlock(before.getBody(), scalarTypesOf(earlier), getLoc());
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  YieldOp::create(inner, getLoc(), block->getArgument(0), ArrayAttr());
  SmallVector<Value> arrays{later, before.getResult()};
  bool isReverse = getReverse();
  auto product = [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
    return buildAsked(b, loc, x[isReverse ? 1 : 0], arith::MulFOp::create(b, loc, x[0], x[1]));
  };
  SmallVector<AxisRef> axes = axesToSum(arrayType, gatesType);
  cotangents.push_back(axes.empty()
                           ? buildMap(builder, getLoc(), arrays, {}, product, gatesType.clone(real))
                           : buildReduce(builder, getLoc(), Reduction::Sum, axes, arrays, {}, product));
  if (getWithin())
    cotangents.push_back(Value());
  return success();
}

void GatedSumOp::continueFrom(OpBuilder &builder, Value before) {
  // The first term gets what the gate lets through.
  Value sum =
      buildMap(builder, getLoc(), {getArray(), getGates(), before}, {},
               [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                 return arith::AddFOp::create(b, loc, x[0], arith::MulFOp::create(b, loc, x[1], x[2]));
               });
  getArrayMutable().set(sum);
  getResult().setType(cast<ArrayType>(sum.getType()));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/Frame/Arithmetic.h"

using namespace mlir;
using namespace mlir::tile;

Value Arithmetic::constant(Type type, int64_t value) const {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

Value Arithmetic::zero(Type type) const {
  return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
}

Value Arithmetic::add(Value a, Value b) const {
  return builder.createOrFold<arith::AddIOp>(loc, a, b, overflow);
}
Value Arithmetic::sub(Value a, Value b) const {
  return builder.createOrFold<arith::SubIOp>(loc, a, b, overflow);
}
Value Arithmetic::mul(Value a, Value b) const {
  return builder.createOrFold<arith::MulIOp>(loc, a, b, overflow);
}
Value Arithmetic::divide(Value a, Value b) const { return builder.createOrFold<arith::DivUIOp>(loc, a, b); }
Value Arithmetic::rest(Value a, Value b) const { return builder.createOrFold<arith::RemUIOp>(loc, a, b); }
Value Arithmetic::ceilDivide(Value a, Value b) const { return divide(add(a, sub(b, 1)), b); }
Value Arithmetic::atLeastOne(Value a) const {
  return builder.createOrFold<arith::MaxSIOp>(loc, a, constant(a.getType(), 1));
}
Value Arithmetic::bitAnd(Value a, Value b) const { return builder.createOrFold<arith::AndIOp>(loc, a, b); }
Value Arithmetic::bitXor(Value a, Value b) const { return builder.createOrFold<arith::XOrIOp>(loc, a, b); }
Value Arithmetic::shiftLeft(Value a, int64_t count) const {
  return builder.createOrFold<arith::ShLIOp>(loc, a, constant(a.getType(), count), overflow);
}
Value Arithmetic::shiftRight(Value a, int64_t count) const {
  return builder.createOrFold<arith::ShRUIOp>(loc, a, constant(a.getType(), count));
}
Value Arithmetic::less(Value a, Value b) const {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, a, b);
}
Value Arithmetic::lessUnsigned(Value a, Value b) const {
  return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::ult, a, b);
}
Value Arithmetic::both(Value a, Value b) const { return !a ? b : !b ? a : bitAnd(a, b); }
Value Arithmetic::select(Value condition, Value a, Value b) const {
  return builder.createOrFold<arith::SelectOp>(loc, condition, a, b);
}
Value Arithmetic::narrow(Value a) const {
  return a.getType().isInteger(32) ? a : builder.createOrFold<arith::TruncIOp>(loc, builder.getI32Type(), a);
}
Value Arithmetic::widen(Value a) const {
  return a.getType().isInteger(64) ? a : builder.createOrFold<arith::ExtSIOp>(loc, builder.getI64Type(), a);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short names for integer operations. What is known is folded, so that no operation is made of it.
#ifndef TAYLOR_CODEGEN_TARGETS_FRAME_ARITHMETIC_H
#define TAYLOR_CODEGEN_TARGETS_FRAME_ARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::tile {

/// Makes operations at the builder's place. Operands of one operation have one type. Sums, differences and
/// products have the flags `overflow`.
class Arithmetic {
public:
  using Number = Value; ///< as dialect/Tile/Extents.h asks

  Arithmetic(OpBuilder &builder, Location loc,
             arith::IntegerOverflowFlags overflow = arith::IntegerOverflowFlags::nsw)
      : builder(builder), loc(loc), overflow(overflow) {}

  Value constant(Type type, int64_t value) const;
  Value constant(int64_t value) const { return i64(value); }
  Value i32(int64_t value) const { return constant(builder.getI32Type(), value); }
  Value i64(int64_t value) const { return constant(builder.getI64Type(), value); }
  Value yes() const { return constant(builder.getI1Type(), 1); }
  /// 0 of a number's type.
  Value zero(Type type) const;

  Value add(Value a, Value b) const;
  Value sub(Value a, Value b) const;
  Value mul(Value a, Value b) const;
  Value add(Value a, int64_t b) const { return add(a, constant(a.getType(), b)); }
  Value sub(Value a, int64_t b) const { return sub(a, constant(a.getType(), b)); }
  Value mul(Value a, int64_t b) const { return mul(a, constant(a.getType(), b)); }
  Value divide(Value a, Value b) const; ///< neither is negative
  Value rest(Value a, Value b) const;
  Value ceilDivide(Value a, Value b) const;
  Value atLeastOne(Value a) const; ///< signed
  Value bitAnd(Value a, Value b) const;
  Value bitXor(Value a, Value b) const;
  Value shiftLeft(Value a, int64_t count) const;
  Value shiftRight(Value a, int64_t count) const;
  Value less(Value a, Value b) const; ///< signed
  Value lessUnsigned(Value a, Value b) const;
  Value both(Value a, Value b) const; ///< of i1; a null one is true
  Value select(Value condition, Value a, Value b) const;
  /// To 32 or 64 bits, with sign or without.
  Value narrow(Value a) const;
  Value widen(Value a) const;

  OpBuilder &builder;
  Location loc;

private:
  arith::IntegerOverflowFlags overflow;
};

} // namespace mlir::tile
#endif

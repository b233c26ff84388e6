// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic inside of tile maps, and kinds of reductions.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_TILEMATH_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_TILEMATH_H

#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace taylor {

/// Float arithmetic inside a map.
struct FloatMath {
  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Value number(mlir::Type type, double x) const {
    return mlir::arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, x));
  }
  mlir::Value add(mlir::Value a, mlir::Value b) const {
    return mlir::arith::AddFOp::create(builder, loc, a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) const {
    return mlir::arith::SubFOp::create(builder, loc, a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b) const {
    return mlir::arith::MulFOp::create(builder, loc, a, b);
  }
  mlir::Value fma(mlir::Value a, mlir::Value b, mlir::Value c) const {
    return mlir::math::FmaOp::create(builder, loc, a, b, c);
  }
};

/// A mean is a sum, divided later.
inline mlir::tile::ReductionKind tileKind(Reduction kind) {
  return kind == Reduction::Max ? mlir::tile::ReductionKind::max : mlir::tile::ReductionKind::sum;
}

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products and quotients in scalar regions, as factors; the factor of a map that its rows have.
#ifndef TAYLOR_PASSES_ALGEBRA_FACTORS_H
#define TAYLOR_PASSES_ALGEBRA_FACTORS_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// constant * product of numerator / product of denominator. A factor may occur several times.
struct Product {
  double constant = 1.0;
  llvm::SmallVector<mlir::Value> numerator, denominator;

  /// Reads a scalar through multiplications, divisions, negations and numbers.
  static Product read(mlir::Value scalar);
  /// Removes factors that are multiplied and divided; true if there was one.
  bool cancel();
  /// The product as operations. `type` is for a product without factors. Divides by one factor after the
  /// other: their product may leave the range of f32 where the quotient does not (the square of a mass).
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type) const;
};

/// The scalar divided by the constant of its product. Its other factors are multiplied as they were, so that
/// scalars which differ in their constants become one. Null where there is no other factor.
mlir::Value buildWithoutConstant(mlir::OpBuilder &builder, mlir::Value scalar);

/// Cancels factors in all products of a region's block; true if anything changed. Erases nothing, so that it
/// may be used in patterns.
bool cancelProducts(mlir::Block &block);

/// Erases scalars without a use, last ones first.
void eraseUnusedScalars(mlir::Block &block);

/// x, an argument of the function with the axes of `map`, if the map is x times something without channels;
/// else null.
mlir::Value findRowFactored(MapOp map);

/// The factor a, as a map of its own: the same formula with x = 1, over the axes without channels, and 0
/// where the map is guarded.
mlir::Value buildRowFactor(mlir::OpBuilder &builder, MapOp map, mlir::Value x);

} // namespace taylor

#endif

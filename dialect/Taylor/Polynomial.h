// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Polynomials in scalar regions: truncated series, as Horner's rule writes them.
#ifndef TAYLOR_DIALECT_TAYLOR_POLYNOMIAL_H
#define TAYLOR_DIALECT_TAYLOR_POLYNOMIAL_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// sum over n of coefficients[n] x^n.
struct Polynomial {
  mlir::Value x;
  llvm::SmallVector<double> coefficients;

  /// The coefficients of a formula that is a polynomial in `x`, of any degree up to 255, quotients by numbers
  /// and whole powers included; none where it is no such polynomial.
  static std::optional<llvm::SmallVector<double>> coefficientsIn(mlir::Value scalar, mlir::Value x);
  /// Reads a sum or product as a polynomial of degree 2 or more, in the scalar that its last factor is.
  static std::optional<Polynomial> read(mlir::Value scalar);
  Polynomial derivative() const;
  /// True if this is c exp(x) cut off after its highest power n: then p = p' + coefficients[n] x^n.
  bool isTruncatedExponential() const;
  /// By Horner's rule.
  mlir::Value build(mlir::OpBuilder &builder, mlir::Location loc) const;
};

/// x^n by repeated squaring, n >= 1.
mlir::Value buildPower(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, uint64_t n);

} // namespace taylor

#endif

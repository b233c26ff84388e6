// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asymptotic forms of formulas of one number: for x -> -infinity softplus(x) tends to e^x, and sigmoid(x)^2
// to e^(2x).
#ifndef TAYLOR_PASSES_ALGEBRA_TAILS_H
#define TAYLOR_PASSES_ALGEBRA_TAILS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>
#include <optional>

namespace taylor {

/// For x far below 0 the formula is c e^(p x) (1 + r), with |r| <= k e^(q x) to first order.
struct Tail {
  double c = 0, p = 0, k = 0, q = std::numeric_limits<double>::infinity();
};

/// A scalar of the form a x + b.
struct Line {
  double a = 0, b = 0;
};

/// Asymptotic forms of the scalars of a region as functions of one of them, x, or of -x (`sign` is -1).
class Tails {
public:
  Tails(mlir::Value x, double sign) : x(x), sign(sign) {}
  /// Nothing if the formula reads other scalars, has no such form, or loses its digits by cancellation.
  std::optional<Tail> of(mlir::Value scalar);
  /// If `scalar` is 1 + v, where v tends to 0: v, so that log(scalar) can be computed as log1p(v). Else null.
  mlir::Value findVanishingAddend(mlir::Value scalar);

private:
  std::optional<Tail> compute(mlir::Value scalar);
  /// `scalar` as a function of x, or of -x if `sign` is -1.
  std::optional<Line> lineOf(mlir::Value scalar);

  mlir::Value x;
  double sign;
  llvm::DenseMap<mlir::Value, std::optional<Tail>> known;
};

/// The scalar x for which `scalar` is a x + b with constants a and b, as far down as there is one; at least
/// `scalar` itself.
mlir::Value findVariable(mlir::Value scalar);

} // namespace taylor

#endif

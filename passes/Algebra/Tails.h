// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What formulas of one number tend to far out: softplus(x) to e^x, and sigmoid(x)^2 to e^2x, for x below all.
#ifndef TAYLOR_PASSES_ALGEBRA_TAILS_H
#define TAYLOR_PASSES_ALGEBRA_TAILS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include <limits>
#include <optional>

namespace taylor {

/// A formula of x is c e^(p x) (1 + r) with |r| at most k e^(q x), to first order, for x far below 0.
struct Tail {
  double c = 0, p = 0, k = 0, q = std::numeric_limits<double>::infinity();
};

/// A scalar as a x + b.
struct Line {
  double a = 0, b = 0;
};

/// The formulas of a region as functions of one of its scalars, or of its negative: of -x where `sign` is -1.
class Tails {
public:
  Tails(mlir::Value x, double sign) : x(x), sign(sign) {}
  /// None where the formula has other scalars, does not tend to such a power, or cancels on the way there.
  std::optional<Tail> of(mlir::Value scalar);
  /// Whether log(`scalar`) is log1p of what this returns, whose tail falls; null otherwise.
  mlir::Value findVanishingAddend(mlir::Value scalar);

private:
  std::optional<Tail> compute(mlir::Value scalar);
  /// Of the scalar or its negative, as `sign` says.
  std::optional<Line> lineOf(mlir::Value scalar);

  mlir::Value x;
  double sign;
  llvm::DenseMap<mlir::Value, std::optional<Tail>> known;
};

/// The scalar x of which another is a x + b with numbers a and b: itself, at the least.
mlir::Value findVariable(mlir::Value scalar);

} // namespace taylor

#endif

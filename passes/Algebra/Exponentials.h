// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exponentials that share a maximum, and those that choose whether they take part.
#ifndef TAYLOR_PASSES_ALGEBRA_EXPONENTIALS_H
#define TAYLOR_PASSES_ALGEBRA_EXPONENTIALS_H
#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace taylor {

/// Divides the sums over keys of a block, so that those of one operation may share a maximum: what contains
/// no exponential, such as a count, leaves those that do, and so do sums that have none in common.
void groupExponents(mlir::Block &block);

/// Whether an exponential is 1 where its own condition does not hold, and below 1 where it does, as
/// exp(select(x < -16.0, x, 0.0)) is. If no other exponent has a part in its maximum m, a visible pair for
/// which it is 1 has m = 0, and it is exp(0 - m) = 1 there still.
bool isChosenExponential(mlir::math::ExpOp exp);

/// Of such an exponential that has been shifted: computes what it is multiplied by for each side of the
/// condition, exp(select(c, x, 0) - m) * select(c, a, b) as select(c, exp(..) * a, b). Of b, what is a
/// sigmoid or softplus of the score takes the same exponential, with an exponent of its own where the
/// condition does not hold.
void simplifyChosen(mlir::math::ExpOp exp);

} // namespace taylor
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How exponentials are arranged so that a running maximum can be subtracted from them.
#ifndef TAYLOR_PASSES_ALGEBRA_EXPONENTIALS_H
#define TAYLOR_PASSES_ALGEBRA_EXPONENTIALS_H
#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace taylor {

/// Splits the taylor.pairwise operations of a block so that all sums of one can share a maximum: sums without
/// an exponential, such as counts, get an operation of their own, and so do sums that share no exponential.
void groupExponents(mlir::Block &block);

/// Whether an exponential has the form exp(select(x < C, p x, 0.0)) with C <= 0 and p > 0, or exp(select(C <
/// x, p x, 0.0)) with C >= 0 and p < 0: 1 where its condition does not hold, at most 1 where it does. If its
/// maximum m is over such exponents alone, m = 0 in every row that has a pair where it is 1, so exp(0 - m) is
/// still 1 there.
bool isChosenExponential(mlir::math::ExpOp exp);

/// Simplifies products with such an exponential from which m has been subtracted, by cases of its condition:
/// exp(select(c, x, 0) - m) * select(c, a, b) becomes select(c, exp(..) * a, b). A sigmoid or softplus of the
/// score in b is then computed from the same exponential, whose exponent becomes that of b where c does not
/// hold.
void simplifyChosen(mlir::math::ExpOp exp);

} // namespace taylor
#endif

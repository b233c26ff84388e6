// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a formula does with sums over no keys.
#ifndef TAYLOR_DIALECT_TAYLOR_EMPTYSUMS_H
#define TAYLOR_DIALECT_TAYLOR_EMPTYSUMS_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Whether a scalar operation runs where all sums that it depends on are empty, and takes them as 0: sums,
/// differences, products, extrema, comparisons and choices. Anything else is 0 there and does not run, and
/// has no derivative. `dependsOnSum` says of an operand whether it depends on a sum: a quotient runs if its
/// divisor does not.
bool runsOnEmptySums(mlir::Operation *scalar, llvm::function_ref<bool(mlir::Value)> dependsOnSum);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What numbers arrays and weights may hold, by intervals over scalar regions.
#ifndef TAYLOR_PASSES_ALGEBRA_SCALARRANGES_H
#define TAYLOR_PASSES_ALGEBRA_SCALARRANGES_H

#include "dialect/Taylor/TaylorDialect.h"
#include <cmath>
#include <limits>

namespace taylor {

/// The largest number of f16.
inline constexpr double kLargestHalf = 65504;

/// All values that a scalar may have. Not-a-number is none of them: rounding does not make one.
struct Range {
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();

  double largest() const { return std::max(std::fabs(low), std::fabs(high)); }
};

/// Of the elements of an array: by its storage type, by the formula of what makes it, and, for an array that
/// a backward gets from its forward, by what makes it there.
Range rangeOfArray(mlir::Value array);

/// Of scalar number `yielded` of the weight region. exp(x - m) with the running maximum m of x is at most 1.
Range rangeOfWeight(PairwiseOp op, int64_t yielded);
/// Of any scalar of the weight region.
Range rangeOfScalar(PairwiseOp op, mlir::Value scalar);

/// Whether the formula of a map or reduction, and its derivative, are finite numbers wherever its arrays hold
/// such that are not huge: nothing is divided by what may be 0, or has a root, power or logarithm that may be
/// none.
bool staysFinite(mlir::Operation *mapOrReduction);

/// Whether an array is of finite numbers where arrays that `isZero` names are 0, and others hold finite ones.
bool isFiniteOfZeros(mlir::Value array, llvm::function_ref<bool(mlir::Value)> isZero);

} // namespace taylor

#endif

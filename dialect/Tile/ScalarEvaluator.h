// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One op of arith or math on scalars, each result rounded to its type.
#ifndef TAYLOR_DIALECT_TILE_SCALAREVALUATOR_H
#define TAYLOR_DIALECT_TILE_SCALAREVALUATOR_H
#include "mlir/IR/Operation.h"

namespace mlir::tile {

/// Floats in `real`; i1, i32, i64 and index in `integer`.
struct Scalar {
  double real = 0;
  int64_t integer = 0;
};

/// `value` rounded to the nearest number of a float type (ties to even).
double roundTo(Type type, double value);

/// Result of a one-result op of arith or math, computed in fp64 and rounded to the result's type; fails with
/// a diagnostic where unsupported.
FailureOr<Scalar> evaluateScalar(Operation *op, llvm::ArrayRef<Scalar> operands);

} // namespace mlir::tile
#endif

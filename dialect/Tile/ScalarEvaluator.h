// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One op of arith or math on scalars, in fp64 and int64.
#ifndef TAYLOR_DIALECT_TILE_SCALAREVALUATOR_H
#define TAYLOR_DIALECT_TILE_SCALAREVALUATOR_H
#include "mlir/IR/Operation.h"

namespace mlir::tile {

/// Floats in `real`; i1, i32, i64 and index in `integer`.
struct Scalar {
  double real = 0;
  int64_t integer = 0;
};

/// Result of a one-result op of arith or math; fails with a diagnostic where unsupported.
FailureOr<Scalar> evaluateScalar(Operation *op, llvm::ArrayRef<Scalar> operands);

} // namespace mlir::tile
#endif

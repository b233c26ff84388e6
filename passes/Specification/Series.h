// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The finite series that a `taylor.recurrences` stands for.
#ifndef TAYLOR_PASSES_SPECIFICATION_SERIES_H
#define TAYLOR_PASSES_SPECIFICATION_SERIES_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// sum over n of coefficients[n] x^(first + n).
struct Series {
  int64_t first;
  llvm::SmallVector<double> coefficients;
};

/// Sets orders that a parameter names to its number. Fails, with a message, where orders or the number of
/// coefficients are none that a series has.
mlir::LogicalResult resolveOrders(SpecOp spec, RecurrencesOp op);

/// Orders and coefficients of an operation with `orders(a to b)`. Fails, with a message, where an order is a
/// free parameter.
mlir::FailureOr<Series> readSeries(RecurrencesOp op);

} // namespace taylor

#endif

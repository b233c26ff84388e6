// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two halves of a specification around its series, for a program that sums up orders by itself.
#ifndef TAYLOR_CODEGEN_DRIVER_SERIESTEXT_H
#define TAYLOR_CODEGEN_DRIVER_SERIESTEXT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace taylor {

/// JSON from a module that taylor-split-series made of one specification:
///
///     {"first": 0, "coefficients": null, "mask": "causal", "decay": false,
///      "sums": {"numerator": "numerator", "mass": "mass"}, "operands": "taylor.spec ..", "rest":
///      "taylor.spec .."}
///
/// `coefficients` are those of the orders from `first` on, or null for 1/n! of every order; `sums` gives the
/// argument of `rest` that stands for a sum.
std::string printSeries(mlir::ModuleOp split);

} // namespace taylor

#endif

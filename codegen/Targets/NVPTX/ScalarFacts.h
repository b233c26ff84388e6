// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of a scalar of the tile program.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_SCALARFACTS_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_SCALARFACTS_H

#include "mlir/IR/Value.h"

namespace mlir::simt {

/// Whether it is never negative.
bool isNonNegative(Value value);
/// A number that divides it; 0: it is 0.
int64_t divisorOf(Value value);

} // namespace mlir::simt
#endif

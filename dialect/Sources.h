// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What values are computed from. MLIR's getBackwardSlice gives operations alone, and recurses: one frame of
// the stack an operation. IR that a user writes may be deep, so this is a worklist.
#ifndef TAYLOR_DIALECT_SOURCES_H
#define TAYLOR_DIALECT_SOURCES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace taylor {

/// Visits the values and what they are computed from, each once, a reader before what it reads. The operands
/// of an operation are visited only where `visit` returns true for its result.
inline void walkSources(mlir::ValueRange values, llvm::function_ref<bool(mlir::Value)> visit) {
  llvm::SmallDenseSet<mlir::Value> seen;
  auto reversed = llvm::reverse(values);
  llvm::SmallVector<mlir::Value> open(reversed.begin(), reversed.end());
  while (!open.empty()) {
    mlir::Value value = open.pop_back_val();
    if (!seen.insert(value).second || !visit(value))
      continue;
    if (mlir::Operation *op = value.getDefiningOp())
      llvm::append_range(open, llvm::reverse(op->getOperands()));
  }
}

/// Whether the values, or what they are computed from, have one that `isSought` holds for.
inline bool anySource(mlir::ValueRange values, llvm::function_ref<bool(mlir::Value)> isSought) {
  bool isFound = false;
  walkSources(values, [&](mlir::Value value) {
    isFound = isFound || isSought(value);
    return !isFound;
  });
  return isFound;
}

} // namespace taylor

#endif

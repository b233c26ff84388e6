// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What values are computed from. MLIR's getBackwardSlice gives operations alone, and recurses: one frame of
// the stack an operation. IR that a user writes may be deep, so this is a worklist.
#ifndef TAYLOR_DIALECT_SOURCES_H
#define TAYLOR_DIALECT_SOURCES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"

namespace taylor {

/// What an operation reads: its operands.
inline llvm::SmallVector<mlir::Value> operandsOf(mlir::Operation *op) {
  return llvm::SmallVector<mlir::Value>(op->getOperands());
}

/// What an operation reads, with what those in its regions read: a loop's or a branch's results are computed
/// inside.
inline llvm::SmallVector<mlir::Value> operandsWithin(mlir::Operation *op) {
  llvm::SmallVector<mlir::Value> operands;
  op->walk([&](mlir::Operation *inner) { llvm::append_range(operands, inner->getOperands()); });
  return operands;
}

/// Visits the values and what they are computed from, each once, a reader before what it reads. What an
/// operation reads, by `reads`, is visited only where `visit` returns true for its result.
inline void
walkSources(mlir::ValueRange values, llvm::function_ref<bool(mlir::Value)> visit,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Operation *)> reads = operandsOf) {
  llvm::SmallDenseSet<mlir::Value> seen;
  auto reversed = llvm::reverse(values);
  llvm::SmallVector<mlir::Value> open(reversed.begin(), reversed.end());
  while (!open.empty()) {
    mlir::Value value = open.pop_back_val();
    if (!seen.insert(value).second || !visit(value))
      continue;
    if (mlir::Operation *op = value.getDefiningOp())
      llvm::append_range(open, llvm::reverse(reads(op)));
  }
}

/// Whether the values, or what they are computed from, have one that `isSought` holds for.
inline bool
anySource(mlir::ValueRange values, llvm::function_ref<bool(mlir::Value)> isSought,
          llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Operation *)> reads = operandsOf) {
  bool isFound = false;
  walkSources(
      values,
      [&](mlir::Value value) {
        isFound = isFound || isSought(value);
        return !isFound;
      },
      reads);
  return isFound;
}

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the values of a joint function depend on.
#ifndef TAYLOR_PASSES_DERIVE_FUNCTIONGRAPH_H
#define TAYLOR_PASSES_DERIVE_FUNCTIONGRAPH_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

class FunctionGraph {
public:
  explicit FunctionGraph(FunctionOp function);

  /// True for what only the backward computes.
  bool dependsOnCotangents(mlir::Value value) const { return cotangents.contains(value); }
  bool dependsOnCotangents(mlir::Operation *op) const;
  /// True for what follows from a sum over keys and not from inputs alone.
  bool dependsOnSums(mlir::Value value) const { return sums.contains(value); }

private:
  llvm::SmallDenseSet<mlir::Value> cotangents, sums;
};

} // namespace taylor

#endif

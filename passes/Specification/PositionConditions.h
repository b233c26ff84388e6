// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions that compare the positions of a query and a key.
#ifndef TAYLOR_PASSES_SPECIFICATION_POSITIONCONDITIONS_H
#define TAYLOR_PASSES_SPECIFICATION_POSITIONCONDITIONS_H

#include "dialect/Taylor/TaylorDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace taylor {

/// query * p + key * u <= bound, for a query at position p and a key at position u.
struct PositionCondition {
  int64_t query = 0, key = 0, bound = 0;
};

/// What a comparison of sums of positions and numbers says: conditions that all hold (== is two). None where
/// it compares anything else.
std::optional<llvm::SmallVector<PositionCondition, 2>> readPositions(mlir::arith::CmpFOp compare);

/// Whether no query sees any key, however many there are and wherever queries begin: what these conditions on
/// positions, which all hold (`causal`: u <= t too), exclude. False where it is not known.
bool hideEveryPair(mlir::ValueRange conditions, bool causal);

} // namespace taylor

#endif

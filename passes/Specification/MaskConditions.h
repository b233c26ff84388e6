// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the conditions of a mask say of positions, and masks that hide every pair.
#ifndef TAYLOR_PASSES_SPECIFICATION_MASKCONDITIONS_H
#define TAYLOR_PASSES_SPECIFICATION_MASKCONDITIONS_H

#include "dialect/Taylor/TaylorDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace taylor {

/// query * p + key * u <= bound, for a query at position p and a key at position u.
struct PositionCondition {
  int64_t query = 0, key = 0, bound = 0;
};

/// What a comparison of sums of positions and numbers says: conditions that all hold (== is two, and so is a
/// bound of an absolute value, |t - u| < 4). None where it compares anything else.
std::optional<llvm::SmallVector<PositionCondition, 2>> readPositions(mlir::arith::CmpFOp compare);

/// Whether a condition is `left predicate right` of the places of two tokens, and of nothing else.
bool comparesPlaces(mlir::Value condition, mlir::arith::CmpFPredicate predicate, AxisRef left, AxisRef right);

/// Replaces by true each condition of a mask by which kernels leave no tile out. Those on positions and on
/// the documents of taylor-add-documents stay, and `and` and `or` of them. Parameters and sizes must be
/// numbers (`replaceNumbers`). Returns whether anything was replaced.
bool keepRanges(SpecOp spec);

/// Whether no query sees any key, however many there are and wherever queries begin: what these conditions on
/// positions, which all hold (`causal`: u <= t too), exclude. False where it is not known.
bool hideEveryPair(mlir::ValueRange conditions, bool causal);

/// Sizes of d and e; 0: not known.
struct ChannelSizes {
  int64_t d = 0, e = 0;
};

/// In the formulas inside `root`, replaces parameters and sizes of channels by their numbers.
void replaceNumbers(mlir::Operation *root, mlir::DictionaryAttr parameters, ChannelSizes sizes);

/// Fails, with an error at the sum, where its mask hides every pair whatever the numbers of tokens, with the
/// specification's parameters as they are set.
mlir::LogicalResult checkMasks(SpecOp spec, ChannelSizes sizes);

} // namespace taylor

#endif

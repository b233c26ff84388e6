// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What taylor.recurrences and taylor.recurrence share: scale, powers, decay at query positions and the causal
// mask.
#ifndef TAYLOR_DIALECT_REFERENCE_SERIESWEIGHT_H
#define TAYLOR_DIALECT_REFERENCE_SERIESWEIGHT_H

#include "dialect/Reference/Operations.h"
#include "dialect/Reference/PairSums.h"

namespace taylor::reference {

/// The register of `u <= t`, in positions.
int addCausalCondition(RegionProgram &program);

/// Multiplies the register `score` with the scale's formula, if there is one.
mlir::LogicalResult addScale(RegionProgram &program, mlir::Region &scale, int &score);

/// The register of x^order, order >= 1.
int addPower(RegionProgram &program, int x, int64_t order);

/// A running log-decay [.., u] at query positions, [.., t]: L[offset + t].
mlir::FailureOr<Array> alignDecay(mlir::Operation *op, const Array &decay, const Environment &environment);
/// Its adjoint: adds a cotangent [.., t] to one [.., u].
void addAlignedGradient(Array &decay, const Array &rows, const Environment &environment);

/// `EvaluatedOperand::sees` of sums, given the number of keys of each row.
Array seeingRows(const Array &counts);

/// Outputs numerator, mass and count, of arrays q, k, v numbered 0, 1, 2 and a weight program that yields w
/// and 1.
void addRecurrenceOutputs(PairSums &sums, mlir::ArrayAttr names, mlir::ValueRange results,
                          const Environment &environment);

} // namespace taylor::reference

#endif

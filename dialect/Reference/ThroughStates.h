// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over pairs as forms with states add them up.
#ifndef TAYLOR_DIALECT_REFERENCE_THROUGHSTATES_H
#define TAYLOR_DIALECT_REFERENCE_THROUGHSTATES_H

#include "dialect/Reference/Operations.h"

namespace taylor::reference {

/// Sums over pairs: what they are, how many keys each row sees, and their derivative.
struct PairsEvaluated {
  std::vector<Array> results;
  Array counts;
  Pullback pullback;
};
/// As an operation's results: a row's sums see keys where it counts any.
Evaluated asEvaluated(PairsEvaluated sums);

/// Evaluates sums over the pairs that an environment visits, in its arithmetic.
using EvaluatePairs = llvm::function_ref<mlir::FailureOr<PairsEvaluated>(const Environment &)>;

/// The sums named by `sums`, in the forms of the environment. Eager code with states has two parts:
///
///   near = sum over the pairs of a chunk, every result rounded to the type
///   far  = what is read from the state, which is kept in f32, rounded to the type once
///   sum  = near + far, rounded
///
/// and so have its gradients. The features are in f32 here, too: what they are rounded to depends on how they
/// are multiplied out. So the far part is at least as exact as that of eager code with features, and the
/// contract as strict.
mlir::FailureOr<PairsEvaluated> evaluateThroughStates(mlir::ArrayAttr sums, const Environment &environment,
                                                      EvaluatePairs evaluate);

/// Whether sums can go through states: weights that are polynomials of the score, with factors that the query
/// or the key know alone, over pairs that the mask and documents choose.
bool canHaveStates(RecurrencesOp op);

} // namespace taylor::reference

#endif

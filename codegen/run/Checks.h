// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What taylor-run runs, and holds against the reference.
#ifndef TAYLOR_CODEGEN_RUN_CHECKS_H
#define TAYLOR_CODEGEN_RUN_CHECKS_H
#include "codegen/run/Problem.h"
#include "codegen/run/Shared.h"

namespace taylor::run {

//===----------------------------------------------------------------------===//
// Compiled kernels, called through the runtime's C interface.
//===----------------------------------------------------------------------===//

/// Compiles the specification (or loads --kernel, or takes what another case compiled), runs forward and,
/// where asked for, backward on the problem's inputs. A gradient that the kernels do not give has no
/// elements.
mlir::FailureOr<Outcome> runKernel(const Problem &problem, const RunOptions &options, bool withGradients,
                                   Shared &shared);

//===----------------------------------------------------------------------===//
// A problem in pieces of its tokens, which calls take one after the other.
//===----------------------------------------------------------------------===//

/// The pieces that begin at token 0 and at each of `cuts`, with their tokens of every array; the problem
/// itself without cuts. Fails, with a message, where queries and keys are not the same tokens, or a cut is
/// none.
mlir::FailureOr<std::vector<Problem>> cutProblem(const Problem &problem, llvm::ArrayRef<int64_t> cuts);

/// What all pieces gave: outputs and gradients one after the other, gradients of what all tokens share added
/// up.
Outcome joinPieces(const Problem &problem, llvm::ArrayRef<int64_t> cuts, llvm::ArrayRef<Outcome> pieces);

//===----------------------------------------------------------------------===//
// A specification lowered to tile programs, which the evaluator of the tile dialect runs: a check of
// everything above the targets, without a target.
//===----------------------------------------------------------------------===//

/// Lowers the specification for the problem's sizes and types, and evaluates @forward and, where asked for,
/// @backward on its inputs. A gradient that the programs do not give has no elements.
mlir::FailureOr<Outcome> runTilePrograms(const Problem &problem, const RunOptions &options,
                                         bool withGradients);

//===----------------------------------------------------------------------===//
// Derived functions against the specification they come from: what passes on the pairwise level are tested
// with.
//===----------------------------------------------------------------------===//

/// Evaluates @NAME.forward and @NAME.backward of `functions` by the reference, compares outputs and gradients
/// with those of the specification, and prints a table. Fails where one is past the tolerance.
mlir::LogicalResult checkFunctions(mlir::ModuleOp functions, Problem &problem, const RunOptions &options);

//===----------------------------------------------------------------------===//
// What tokens hold reaches those that depend on them, and no others: NaN and infinities show it.
//===----------------------------------------------------------------------===//

/// Runs the kernels again, by `runKernels`, with NaN or infinities in all that some tokens have
/// (`RunOptions`), and compares with what they gave before, `clean`:
///
///   the reference gives the same number as before   the kernels give the same bits as before
///   the reference gives NaN or an infinity          the kernels give one of them (where NaN is put in)
///
/// Where NaN may spread within tiles of N tokens, all rows of a tile count as spoiled that has a row which
/// sees a spoiled token, or would but for a condition by which no tile is left out (`keepRanges`; of two that
/// hold for no query together this knows nothing, nor of more ranges than VisibleRanges.h keeps apart), and
/// all tokens of a tile whose results have one that is spoiled. The gradient of a spoiled token that nothing
/// sees is 0 in the reference; in pieces and steps, and of a query with a gate, it may be NaN, for 0 times
/// the token is computed. Prints a line per result.
mlir::LogicalResult checkSpoiled(const Problem &problem, const Outcome &clean, const RunOptions &options,
                                 bool withGradients,
                                 llvm::function_ref<mlir::FailureOr<Outcome>(Problem &)> runKernels);

} // namespace taylor::run
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A problem in pieces of its tokens, which calls take one after the other.
#ifndef TAYLOR_CODEGEN_RUN_PIECES_H
#define TAYLOR_CODEGEN_RUN_PIECES_H

#include "codegen/run/Problem.h"

namespace taylor::run {

/// The pieces that begin at token 0 and at each of `cuts`, with their tokens of every array; the problem
/// itself without cuts. Fails, with a message, where queries and keys are not the same tokens, or a cut is
/// none.
mlir::FailureOr<std::vector<Problem>> cutProblem(const Problem &problem, llvm::ArrayRef<int64_t> cuts);

/// What all pieces gave: outputs and gradients one behind the other, gradients of what all tokens share added
/// up.
Evaluated joinPieces(const Problem &problem, llvm::ArrayRef<int64_t> cuts, llvm::ArrayRef<Evaluated> pieces);

} // namespace taylor::run

#endif

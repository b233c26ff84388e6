// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tokens hold reaches those that depend on them, and no others: NaN and infinities show it.
#ifndef TAYLOR_CODEGEN_RUN_SPOILED_H
#define TAYLOR_CODEGEN_RUN_SPOILED_H

#include "codegen/run/Problem.h"

namespace taylor::run {

/// Runs the kernels again, by `runKernels`, with NaN or infinities in all that some tokens have (`Options`),
/// and compares with what they gave before, `clean`:
///
///   the reference gives the same number as before   the kernels give the same bits as before
///   the reference gives NaN or an infinity          the kernels give one of them (where NaN is put in)
///
/// Where NaN may spread within tiles of N tokens, all rows of a tile count as spoiled that has a row which
/// sees a spoiled token, and all tokens of a tile whose results have one that is spoiled. Prints a line per
/// result.
mlir::LogicalResult checkSpoiled(const Problem &problem, const Evaluated &clean, const Options &options,
                                 bool withGradients,
                                 llvm::function_ref<mlir::FailureOr<Evaluated>(Problem &)> runKernels);

} // namespace taylor::run

#endif

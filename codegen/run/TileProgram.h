// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A specification lowered to tile programs, which the evaluator of the tile dialect runs: a check of
// everything above the targets, without a target.
#ifndef TAYLOR_CODEGEN_RUN_TILEPROGRAM_H
#define TAYLOR_CODEGEN_RUN_TILEPROGRAM_H

#include "codegen/run/Problem.h"

namespace taylor::run {

/// Lowers the specification for the problem's sizes and types, and evaluates @forward and, where asked for,
/// @backward on its inputs. A gradient that the programs do not give has no elements.
mlir::FailureOr<Evaluated> runTilePrograms(const Problem &problem, const Options &options,
                                           bool withGradients);

} // namespace taylor::run

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derived functions against the specification they come from: what passes on the pairwise level are tested
// with.
#ifndef TAYLOR_CODEGEN_RUN_FUNCTIONSCHECK_H
#define TAYLOR_CODEGEN_RUN_FUNCTIONSCHECK_H

#include "codegen/run/Problem.h"

namespace taylor::run {

/// Evaluates @NAME.forward and @NAME.backward of `functions` by the reference, compares outputs and gradients
/// with those of the specification, and prints a table. Fails where one is past the tolerance.
mlir::LogicalResult checkFunctions(mlir::ModuleOp functions, Problem &problem, const Options &options);

} // namespace taylor::run

#endif

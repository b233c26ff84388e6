// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled kernels, called through the runtime's C interface.
#ifndef TAYLOR_CODEGEN_RUN_KERNEL_H
#define TAYLOR_CODEGEN_RUN_KERNEL_H

#include "codegen/run/Problem.h"

namespace taylor::run {

/// Compiles the specification (or loads --kernel), runs forward and, where asked for, backward on the
/// problem's inputs. A gradient that the kernels do not give has no elements.
mlir::FailureOr<Evaluated> runKernel(const Problem &problem, const Options &options, bool withGradients);

} // namespace taylor::run

#endif

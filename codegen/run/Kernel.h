// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled kernels, called through the runtime's C interface.
#ifndef TAYLOR_CODEGEN_RUN_KERNEL_H
#define TAYLOR_CODEGEN_RUN_KERNEL_H

#include "codegen/run/Shared.h"

namespace taylor::run {

/// Compiles the specification (or loads --kernel, or takes what another case compiled), runs forward and,
/// where asked for, backward on the problem's inputs. A gradient that the kernels do not give has no
/// elements.
mlir::FailureOr<Evaluated> runKernel(const Problem &problem, const Options &options, bool withGradients,
                                     Shared &shared);

} // namespace taylor::run

#endif

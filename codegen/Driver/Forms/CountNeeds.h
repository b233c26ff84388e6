// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_DRIVER_FORMS_COUNTNEEDS_H
#define TAYLOR_CODEGEN_DRIVER_FORMS_COUNTNEEDS_H

#include "codegen/Targets/KernelNeeds.h"
#include "passes/LowerToTile/Fusion/FusionDialect.h"

namespace taylor {

/// Of each loop over pairs in the function's planned kernels (`fusion.kernel`), in the order of the text.
llvm::SmallVector<PairLoopNeeds> findKernelNeeds(FunctionOp function);

} // namespace taylor

#endif

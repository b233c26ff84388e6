// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The fusion dialect: the kernels of a function as operations, before there are tiles. FusionOps.td has the
// operations, README.md the rules.
#ifndef TAYLOR_PASSES_LOWERTOTILE_FUSION_FUSIONDIALECT_H
#define TAYLOR_PASSES_LOWERTOTILE_FUSION_FUSIONDIALECT_H

#include "dialect/Taylor/Annotation.h"
#include "dialect/Taylor/TaylorDialect.h"

#include "passes/LowerToTile/Fusion/FusionDialect.h.inc"
#include "passes/LowerToTile/Fusion/FusionEnums.h.inc"

#define GET_OP_CLASSES
#include "passes/LowerToTile/Fusion/FusionOps.h.inc"

namespace taylor::fusion {

/// In the order of the text.
llvm::SmallVector<KeepOp> getKept(FunctionOp function);
llvm::SmallVector<KernelOp> getKernels(FunctionOp function);

/// Whether an operation is one of a plan: it names values, and computes nothing from them.
bool isOfPlan(mlir::Operation *op);

/// Whether blocks of both are at the same places.
bool haveSameGrid(KernelOp a, KernelOp b);

/// Erases a function's kernels; what it keeps stays.
void eraseKernels(FunctionOp function);
/// Erases those that are local to tokens and store nothing any more.
void eraseEmptyKernels(FunctionOp function);

} // namespace taylor::fusion

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which order a kernel computes its roots, so that few tiles live at once.
#ifndef TAYLOR_PASSES_LOWERTOTILE_ROOTORDER_H
#define TAYLOR_PASSES_LOWERTOTILE_ROOTORDER_H

#include "passes/LowerToTile/Partition.h"

namespace taylor {

/// Orders a kernel's roots. What others are computed from comes first: once stored, its tile may be dropped.
/// A sum over pairs lives from the loop until the last root that is computed from it, so the roots of one sum
/// are neighbours, and the sum from which least is computed comes first. Values in `stored` are loaded where
/// they are read.
void orderRoots(std::vector<Root> &roots, const llvm::SetVector<mlir::Value> &stored);

/// The sums over pairs that `value` is computed from in its kernel.
llvm::SmallSetVector<mlir::Value, 4> findSums(mlir::Value value, const llvm::SetVector<mlir::Value> &stored);

} // namespace taylor

#endif

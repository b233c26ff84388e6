// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_TARGETS_MATH_EXPANDFUNCTIONS_H
#define TAYLOR_CODEGEN_TARGETS_MATH_EXPANDFUNCTIONS_H

#include "codegen/Targets/Math/VectorMath.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::tile {

/// How a target computes what it has no instruction for.
struct FunctionExpansion {
  /// For messages: "a CPU", and the types it computes with, "f32 or f64".
  llvm::StringRef machine, types;
  MathInstructions has;
  /// A value equal to the op's result by instructions of the target; null for ops that it does not know.
  llvm::function_ref<Value(OpBuilder &, Operation *)> own;
};

/// Replaces the arith and math operations at `ops` that are no instruction, by `own` or else by
/// `expandElementary`; the others lose what `tile::relax` gave them, which LLVM would take for more than it
/// is. Fails, with a diagnostic at the op, where neither knows it: nothing becomes a call of a library.
LogicalResult expandFunctions(llvm::ArrayRef<Operation *> ops, const FunctionExpansion &expansion);

/// All operations of arith and math below `root`.
llvm::SmallVector<Operation *> findFunctions(Operation *root);

} // namespace mlir::tile
#endif

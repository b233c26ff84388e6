// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much a kernel holds of each token to compute a value.
#ifndef TAYLOR_PASSES_LOWERTOTILE_TOKENBYTES_H
#define TAYLOR_PASSES_LOWERTOTILE_TOKENBYTES_H

#include "dialect/Taylor/TaylorDialect.h"

#include "llvm/ADT/SetVector.h"

namespace taylor {

/// Bytes per token of what `value` is computed from where it is read: arrays in memory (those `stored`,
/// and arguments), tables of a rotation, and sums over pairs. `value` itself counts as computed.
int64_t countTokenBytes(mlir::Value value, const llvm::SetVector<mlir::Value> &stored);

/// The largest bytes that the operands of one product take, an array of `tokens` tokens and a table, where
/// `value` is computed from products as taylor-form-products makes them; 0 where there is none.
int64_t countProductBytes(mlir::Value value, const llvm::SetVector<mlir::Value> &stored, int64_t tokens);

/// Bytes per token of an array as `elementType`; 0 if it has no tokens.
int64_t countTokenBytes(ArrayType type, mlir::Type elementType);

} // namespace taylor

#endif

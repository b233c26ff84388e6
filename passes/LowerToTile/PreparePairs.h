// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Array-level rewriting that makes pairwise operations fit one block: done on the function before it is
// planned.
#ifndef TAYLOR_PASSES_LOWERTOTILE_PREPAREPAIRS_H
#define TAYLOR_PASSES_LOWERTOTILE_PREPAREPAIRS_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Sums of pairs that go over batches, heads or a group's heads too become sums within one head (or group),
/// then a taylor.reduce: a block has one batch and one head or group.
void widenPairSums(FunctionOp function);

/// Gives operations whose pairs are of one document the operand that says where each document ends, if their
/// loops need it: those along queries, and those along keys that may be later than the query.
void addDocumentEnds(FunctionOp function);

/// A row operand x[t,c] * a[t] of an operation with sums into columns is read again for every block of keys.
/// Its factor a is made a row scalar of its own, so that x itself can be read and no scaled copy be kept.
/// Returns how many there are.
int64_t splitRowFactors(FunctionOp function);

/// Whether an operation is what `splitRowFactors` makes: a map x * a whose a has memory in place of itself.
bool isRowProduct(mlir::Operation *op);

/// An array type over these axes, in the order of the dialect's table; sizes from `like` types.
ArrayType makeArray(mlir::MLIRContext *context, llvm::ArrayRef<AxisRef> axes, llvm::ArrayRef<ArrayType> like,
                    mlir::Type elementType);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens to a function of arrays before it has kernels: its sums over pairs come to fit one block, and
// its scalars say how exact they are.
#ifndef TAYLOR_PASSES_LOWERTOTILE_FUSION_FUNCTIONREWRITES_H
#define TAYLOR_PASSES_LOWERTOTILE_FUSION_FUNCTIONREWRITES_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Sums of pairs that go over batches, heads or a group's heads too become sums within one head (or group),
/// then a taylor.reduce: a block has one batch and one head or group.
void widenPairSums(FunctionOp function);

/// A sum or mean over tokens and over batches or heads becomes one over tokens, then one over heads, then one
/// over batches, each by many blocks: a single block that adds all of them waits for memory once for each.
/// Returns how many there were.
int64_t splitTokenSums(FunctionOp function);

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

/// Relaxes (`tile::relax`) the scalars of which the fastest instructions give enough:
/// - exponentials of differences from running maxima or between running sums: they are factors of weights, of
///   which each row has one that is not small. Small ones of others count: of features, gates, and weights
///   from which no maximum was taken out (pow(sigmoid(s), 8)). Where a pair's weight has numbers next to
///   exponentials, whose largest may be far above them, all of its exponentials count.
/// - quotients and square roots, except those that reach a floor or a comparison (other than their own with
///   0) through arithmetic and maps: with a rounded reciprocal, or within two units of the last place,
///   floor(21 / 7) may be 2.
void relaxPrecision(FunctionOp function);

} // namespace taylor

#endif

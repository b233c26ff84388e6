// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rewriting taylor.pairwise operations: fewer outputs, another scalar, a running maximum.
#ifndef TAYLOR_PASSES_ALGEBRA_PAIRWISEREWRITE_H
#define TAYLOR_PASSES_ALGEBRA_PAIRWISEREWRITE_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// A new operation, before `op`, with the outputs chosen by `keep` (one entry per result) and without
/// operands, products and yielded scalars that only the others need. Results are in order; `op` stays.
PairwiseOp clonePairwise(mlir::OpBuilder &builder, PairwiseOp op, llvm::ArrayRef<bool> keep);

/// Replaces `op` by one operation for each group of its outputs: output i goes into that of group[i].
void dividePairwise(PairwiseOp op, llvm::ArrayRef<unsigned> group);

/// Erases, in place, what no output needs: yielded scalars, what they are computed from, products and scalar
/// operands.
void dropUnread(PairwiseOp op);

/// The argument of a region for a scalar operand, which is added if it is new; of the weight region, if none
/// is given.
mlir::Value addScalarOperand(PairwiseOp op, mlir::Value array, mlir::Region *region = nullptr);

/// Replaces `op` by one with a running maximum of `exponent`, a scalar of its weight region, as its last
/// result. `floor` may be -infinity (then not written). In the weight region the maximum is the last
/// argument.
PairwiseOp addMaximum(mlir::OpBuilder &builder, PairwiseOp op, mlir::Value exponent, double floor);

/// Replaces `op` by one that reads its running maximum from `maximum`, an array over rows, instead of
/// searching it; so do the users of the result that it was.
PairwiseOp replaceMaximum(mlir::OpBuilder &builder, PairwiseOp op, mlir::Value maximum);

/// Replaces `op` by one whose totals are sums into rows, which are added up behind it.
PairwiseOp replaceTotals(mlir::OpBuilder &builder, PairwiseOp op);

/// The array that an argument of a region of an operation on arrays is of; null for an inner product, a
/// running maximum and an input.
mlir::Value arrayOf(mlir::BlockArgument argument);

/// Whether a scalar of the weight region depends on an inner product.
bool readsProduct(PairwiseOp op, mlir::Value scalar);

/// The number that a scalar is, where it is a constant.
std::optional<double> numberOf(mlir::Value scalar);

/// The axes of a row of `op`: those of its operands without u and channels, g as h.
ArrayType rowType(PairwiseOp op);

} // namespace taylor

#endif

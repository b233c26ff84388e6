// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks that let a query see the keys of its own document: what they compare, and what is known of it.
//
//     number[u]           ascends, so that a document's tokens stand together
//     starts: number[u]   the document's first token, where taylor-add-documents has made the number
//     ends[u]             the first token after it
#ifndef TAYLOR_PASSES_SPECIFICATION_DOCUMENTMASK_H
#define TAYLOR_PASSES_SPECIFICATION_DOCUMENTMASK_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// A condition on pairs, number[t] == number[u].
struct DocumentCondition {
  /// Over keys, and over queries (the same, read at their positions).
  mlir::Value keys, queries;
};

/// What a condition of a mask compares, if the two are one running maximum. `arrayOf` gives the array whose
/// scalar an argument of the mask's region is, or null.
std::optional<DocumentCondition> readDocuments(mlir::Value condition,
                                               llvm::function_ref<mlir::Value(mlir::BlockArgument)> arrayOf);
std::optional<DocumentCondition> readDocuments(PairwiseOp op, mlir::Value condition);

/// Whether each number is the position of the first token that has it: a running maximum of positions, or 0
/// where a token goes on.
bool areStarts(mlir::Value numbers);

/// Whether all heads have the same documents.
bool areShared(mlir::Value numbers);

/// Whether numbers are starts, and shared: what is read in memory for a block of tokens is one place, for all
/// of its heads, and kernels leave out tiles by it.
bool boundRanges(mlir::Value numbers);

/// The array over keys that says where each document ends.
mlir::Value buildEnds(mlir::OpBuilder &builder, mlir::Value numbers);
/// That array among an operation's operands, or null.
mlir::Value findEnds(PairwiseOp op, mlir::Value numbers);

} // namespace taylor

#endif

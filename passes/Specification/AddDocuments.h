// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sequences of several documents, one behind the other.
#ifndef TAYLOR_PASSES_SPECIFICATION_ADDDOCUMENTS_H
#define TAYLOR_PASSES_SPECIFICATION_ADDDOCUMENTS_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// The input that numbers documents.
inline constexpr llvm::StringLiteral kDocumentsInput = "documents";

/// Marks the scan that counts each document's keys from its end: what size(u) becomes.
inline constexpr llvm::StringLiteral kLengthsAttr = "taylor.lengths";

/// Gives a specification an input `documents`, the number of each key's document, and makes of it the
/// attention of each document by itself (Passes.td, taylor-add-documents, has the rule). What has no such
/// meaning is an error where it stands.
mlir::LogicalResult addDocuments(SpecOp spec);

} // namespace taylor

#endif

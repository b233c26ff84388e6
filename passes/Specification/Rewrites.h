// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes of a whole specification that are no pass of their own, or are made in several places.
#ifndef TAYLOR_PASSES_SPECIFICATION_REWRITES_H
#define TAYLOR_PASSES_SPECIFICATION_REWRITES_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// The input that numbers documents.
inline constexpr llvm::StringLiteral kDocumentsInput = "documents";

/// Gives a specification an input `documents`, the number of each key's document, and makes of it the
/// attention of each document by itself (Passes.td, taylor-add-documents, has the rule). What has no such
/// meaning is an error where it stands.
mlir::LogicalResult addDocuments(SpecOp spec);

/// Removes operations without users and arguments that are then without users.
void dropUnused(SpecOp spec);

/// Where an argument has its axes in another order than the table in dialect/Taylor/README.md, it is read
/// through a map that has them in this one; what operations make of it follows, and results get their own
/// order back at the end. States, whose features come before the channels of values, and integers stay as
/// they are.
void orderAxes(SpecOp spec);

} // namespace taylor

#endif

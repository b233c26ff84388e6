// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing the attributes that have a syntax of their own.
#ifndef TAYLOR_DIALECT_TAYLOR_TAYLORATTRS_H
#define TAYLOR_DIALECT_TAYLOR_TAYLORATTRS_H

#include "dialect/Taylor/Formula.h"
#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// `projection`, `projection(bias)`, `parameter(INITIAL)` or `input`.
mlir::FailureOr<SourceAttr> parseSource(mlir::AsmParser &parser);
void printSource(mlir::AsmPrinter &printer, SourceAttr source);

} // namespace taylor

#endif

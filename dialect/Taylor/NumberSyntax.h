// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers as people write them. MLIR's lexer takes `1e-4` for an integer and a name, and its parser of floats
// refuses `1`.
#ifndef TAYLOR_DIALECT_TAYLOR_NUMBERSYNTAX_H
#define TAYLOR_DIALECT_TAYLOR_NUMBERSYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace taylor {

/// The text at a place up to the next blank, comma or closing parenthesis, at most 16 characters, for
/// messages.
llvm::StringRef textAt(llvm::SMLoc loc);

/// `8`, `0.5`, `1.0e-5`, each also with a minus. Fails, with what was expected, on anything else.
mlir::ParseResult parseNumber(mlir::AsmParser &parser, double &number);

/// `(number)`.
mlir::ParseResult parseNumberInParentheses(mlir::AsmParser &parser, double &number);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a parser says of words and values that it does not know.
#ifndef TAYLOR_DIALECT_TAYLOR_TEXTPARSING_H
#define TAYLOR_DIALECT_TAYLOR_TEXTPARSING_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// The text at a place up to the next blank, comma or closing parenthesis, at most 16 characters, for
/// messages.
llvm::StringRef textAt(llvm::SMLoc loc);

/// `8`, `0.5`, `1.0e-5`, each also with a minus. Fails, with what was expected, on anything else.
mlir::ParseResult parseNumber(mlir::AsmParser &parser, double &number);

/// `(number)`.
mlir::ParseResult parseNumberInParentheses(mlir::AsmParser &parser, double &number);

/// Fails, with what may stand there, where a word stands after the optional ones of an operation, which come
/// in the order of `known`.
mlir::ParseResult rejectUnknownWord(mlir::AsmParser &parser, llvm::ArrayRef<llvm::StringRef> known);

/// `: type, ..` after an operation's operands; without a colon it says how many types there are, and where
/// they are written.
mlir::ParseResult parseOperandTypes(mlir::AsmParser &parser, size_t operands,
                                    llvm::SmallVectorImpl<mlir::Type> &types);

/// The colon alone.
mlir::ParseResult parseTypesColon(mlir::AsmParser &parser);

/// Fails: at `loc` there is no colon with types.
mlir::ParseResult rejectMissingTypes(mlir::AsmParser &parser, llvm::SMLoc loc);

/// Fails, with a name that may have been meant, where an operation of `body` reads a value that nothing has
/// defined. MLIR reports it at the end of the file, without its name. `begin` is where the body begins.
mlir::ParseResult rejectUnknownValues(mlir::OpAsmParser &parser, llvm::SMLoc begin, mlir::Region &body,
                                      llvm::ArrayRef<mlir::OpAsmParser::Argument> arguments);

} // namespace taylor

#endif

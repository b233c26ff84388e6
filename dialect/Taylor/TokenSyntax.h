// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What operations over tokens share in their syntax and their verifiers: documents, positions, result types.
#ifndef TAYLOR_DIALECT_TAYLOR_TOKENSYNTAX_H
#define TAYLOR_DIALECT_TAYLOR_TOKENSYNTAX_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// within(%D : type), or nothing.
mlir::ParseResult parseWithin(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<mlir::Value> &within);
void printWithin(mlir::OpAsmPrinter &printer, mlir::Value within);

/// Checks numbers of tokens: real, over `token` and perhaps b, where the array that they are of has it.
mlir::LogicalResult verifyNumbers(mlir::Operation *op, llvm::StringRef what, ArrayType numbers, AxisRef token,
                                  ArrayType array);

/// Checks the type of the result, which the text does not say: it follows from the operands.
mlir::LogicalResult verifyResult(mlir::Operation *op, ArrayType expected);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the assembly formats of align, normalize, rope, convolve and gated_sum that MLIR has no
// directive for: `custom<NAME>(..)` is parseNAME and printNAME.
#ifndef TAYLOR_DIALECT_TAYLOR_LOCALSYNTAX_H
#define TAYLOR_DIALECT_TAYLOR_LOCALSYNTAX_H

#include "dialect/Taylor/TaylorDialect.h"

#include "mlir/IR/OpImplementation.h"

namespace taylor {

using OptionalOperand = std::optional<mlir::OpAsmParser::UnresolvedOperand>;

/// Reads an enumerator, or says that `choices` were expected.
template <typename Enum>
mlir::ParseResult parseEnum(mlir::OpAsmParser &parser, Enum &value,
                            std::optional<Enum> (*symbolize)(llvm::StringRef), llvm::StringRef choices) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::StringRef word;
  if (parser.parseKeyword(&word))
    return mlir::failure();
  std::optional<Enum> known = symbolize(word);
  if (!known)
    return parser.emitError(loc, "expected ") << choices << ", but got '" << word << "'";
  value = *known;
  return mlir::success();
}

/// An operand that must be there once its clause is. (MLIR's own directive takes `weight()`.)
mlir::ParseResult parseGiven(mlir::OpAsmParser &parser, OptionalOperand &operand);
void printGiven(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value operand);

/// A number as people write it (TextParsing.h).
mlir::ParseResult parseNumber(mlir::OpAsmParser &parser, mlir::FloatAttr &number);
void printNumber(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::FloatAttr number);

/// The name of an axis; that of a token axis.
mlir::ParseResult parseAxisName(mlir::OpAsmParser &parser, mlir::StringAttr &axis);
void printAxisName(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::StringAttr axis);
mlir::ParseResult parseTokenAxis(mlir::OpAsmParser &parser, mlir::StringAttr &axis);
void printTokenAxis(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::StringAttr axis);

mlir::ParseResult parseNorm(mlir::OpAsmParser &parser, NormAttr &kind);
void printNorm(mlir::OpAsmPrinter &printer, mlir::Operation *op, NormAttr kind);
mlir::ParseResult parseRopeLayout(mlir::OpAsmParser &parser, RopeLayoutAttr &layout);
void printRopeLayout(mlir::OpAsmPrinter &printer, mlir::Operation *op, RopeLayoutAttr layout);

/// `epsilon(NUMBER)`, the last clause of a norm.
mlir::ParseResult parseEpsilon(mlir::OpAsmParser &parser, mlir::FloatAttr &epsilon);
void printEpsilon(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::FloatAttr epsilon);

// The colon and the operands' types, after the last clause. The result's type follows from them.

mlir::ParseResult parseAlignTypes(mlir::OpAsmParser &parser, mlir::StringAttr axis, mlir::Type &array,
                                  mlir::Type &result);
void printAlignTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::StringAttr axis,
                     mlir::Type array, mlir::Type result);
mlir::ParseResult parseNormTypes(mlir::OpAsmParser &parser, OptionalOperand hasWeight,
                                 OptionalOperand hasBias, mlir::Type &array, mlir::Type &weight,
                                 mlir::Type &bias, mlir::Type &result);
void printNormTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value hasWeight,
                    mlir::Value hasBias, mlir::Type array, mlir::Type weight, mlir::Type bias,
                    mlir::Type result);
mlir::ParseResult parseRopeTypes(mlir::OpAsmParser &parser, OptionalOperand hasPositions, mlir::Type &array,
                                 mlir::Type &positions, mlir::Type &result);
void printRopeTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Value hasPositions,
                    mlir::Type array, mlir::Type positions, mlir::Type result);
mlir::ParseResult parseWeightedTypes(mlir::OpAsmParser &parser, mlir::Type &array, mlir::Type &weights,
                                     mlir::Type &result);
void printWeightedTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type array,
                        mlir::Type weights, mlir::Type result);

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

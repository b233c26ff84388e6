// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/TokenSyntax.h"

using namespace mlir;
using namespace taylor;

LogicalResult taylor::verifyResult(Operation *op, ArrayType expected) {
  Type result = op->getResult(0).getType();
  if (result != expected)
    return op->emitOpError("expected a result of type ") << expected << ", but got " << result;
  return success();
}

LogicalResult taylor::verifyNumbers(Operation *op, StringRef what, ArrayType numbers, AxisRef token,
                                    ArrayType array) {
  if (!numbers.has(token))
    return op->emitOpError("requires ")
           << what << " over axis '" << token << "', as the array has it, but got " << numbers;
  for (StringAttr axis : numbers.getAxes())
    if (axis != token && (axis != AxisRole::Batch || !array.has(AxisRole::Batch)))
      return op->emitOpError("expected ")
             << what << " over '" << token << (array.has(AxisRole::Batch) ? "' and perhaps 'b'" : "'")
             << ", but got axis '" << axis.getValue() << "'";
  if (isa<IntegerType>(numbers.getElementType()))
    return op->emitOpError("expected ")
           << what << " that are real numbers, but got " << numbers << "; convert them with taylor.map";
  return success();
}

ParseResult taylor::parseWithin(OpAsmParser &parser, SmallVectorImpl<Value> &within) {
  OpAsmParser::UnresolvedOperand operand;
  ArrayType type;
  if (failed(parser.parseOptionalKeyword("within")))
    return success();
  return failure(parser.parseLParen() || parser.parseOperand(operand) || parser.parseColonType(type) ||
                 parser.parseRParen() || parser.resolveOperand(operand, type, within));
}

void taylor::printWithin(OpAsmPrinter &printer, Value within) {
  if (within)
    printer << " within(" << within << " : " << within.getType() << ")";
}

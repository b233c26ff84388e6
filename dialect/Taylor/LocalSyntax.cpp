// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/LocalSyntax.h"

#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Formula.h"
#include "dialect/Taylor/TextParsing.h"

using namespace mlir;
using namespace taylor;

ParseResult taylor::parseGiven(OpAsmParser &parser, OptionalOperand &operand) {
  return parser.parseOperand(operand.emplace());
}

void taylor::printGiven(OpAsmPrinter &printer, Operation *, Value operand) { printer << operand; }

ParseResult taylor::parseNumber(OpAsmParser &parser, FloatAttr &number) {
  double value;
  if (parseNumber(parser, value))
    return failure();
  number = parser.getBuilder().getF64FloatAttr(value);
  return success();
}

void taylor::printNumber(OpAsmPrinter &printer, Operation *, FloatAttr number) {
  printer << formatNumber(number.getValueAsDouble());
}

ParseResult taylor::parseAxisName(OpAsmParser &parser, StringAttr &axis) {
  std::string name;
  if (failed(parser.parseOptionalKeywordOrString(&name)))
    return parser.emitError(parser.getCurrentLocation(), "expected the name of an axis");
  axis = parser.getBuilder().getStringAttr(name);
  return success();
}

void taylor::printAxisName(OpAsmPrinter &printer, Operation *, StringAttr axis) {
  printer << axis.getValue();
}

ParseResult taylor::parseTokenAxis(OpAsmParser &parser, StringAttr &axis) {
  if (parseAxisName(parser, axis))
    return failure();
  if (axis != AxisRole::Query && axis != AxisRole::Key)
    return parser.emitError(parser.getNameLoc(), "expected to align to t or u, but got '")
           << axis.getValue() << "'";
  return success();
}

void taylor::printTokenAxis(OpAsmPrinter &printer, Operation *op, StringAttr axis) {
  printAxisName(printer, op, axis);
}

ParseResult taylor::parseNorm(OpAsmParser &parser, NormAttr &kind) {
  Norm value;
  if (parseEnum<Norm>(parser, value, symbolizeNorm, "l2, rms or layer"))
    return failure();
  kind = NormAttr::get(parser.getContext(), value);
  return success();
}

void taylor::printNorm(OpAsmPrinter &printer, Operation *, NormAttr kind) {
  printer << stringifyNorm(kind.getValue());
}

ParseResult taylor::parseRopeLayout(OpAsmParser &parser, RopeLayoutAttr &layout) {
  RopeLayout value;
  if (parseEnum<RopeLayout>(parser, value, symbolizeRopeLayout, "half or interleaved"))
    return failure();
  layout = RopeLayoutAttr::get(parser.getContext(), value);
  return success();
}

void taylor::printRopeLayout(OpAsmPrinter &printer, Operation *, RopeLayoutAttr layout) {
  printer << stringifyRopeLayout(layout.getValue());
}

static ParseResult rejectUnknownClause(OpAsmParser &parser) {
  return rejectUnknownWord(parser, {"weight(..)", "bias(..)", "epsilon(..)"});
}

ParseResult taylor::parseEpsilon(OpAsmParser &parser, FloatAttr &epsilon) {
  if (succeeded(parser.parseOptionalKeyword("epsilon")))
    return failure(parser.parseLParen() || parseNumber(parser, epsilon) || parser.parseRParen());
  if (rejectUnknownClause(parser))
    return failure();
  return parser.emitError(parser.getCurrentLocation(), "requires epsilon(..), for example epsilon(1.0e-5)");
}

void taylor::printEpsilon(OpAsmPrinter &printer, Operation *op, FloatAttr epsilon) {
  printer << "epsilon(";
  printNumber(printer, op, epsilon);
  printer << ")";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// `: TYPE, TYPE`.
static ParseResult parseArrayTypes(OpAsmParser &parser, MutableArrayRef<Type *> types) {
  if (parseTypesColon(parser))
    return failure();
  for (auto [index, type] : llvm::enumerate(types)) {
    ArrayType array;
    if ((index && parser.parseComma()) || parser.parseType(array))
      return failure();
    *type = array;
  }
  return success();
}

ParseResult taylor::parseAlignTypes(OpAsmParser &parser, StringAttr axis, Type &array, Type &result) {
  Type *types[] = {&array};
  if (parseArrayTypes(parser, types))
    return failure();
  AxisRef from = axis == AxisRole::Query ? AxisRole::Key : AxisRole::Query;
  result = cast<ArrayType>(array).renamed(from, axis);
  return success();
}

void taylor::printAlignTypes(OpAsmPrinter &printer, Operation *, StringAttr, Type array, Type) {
  printer << ": " << array;
}

ParseResult taylor::parseNormTypes(OpAsmParser &parser, OptionalOperand hasWeight, OptionalOperand hasBias,
                                   Type &array, Type &weight, Type &bias, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  size_t count = 1 + hasWeight.has_value() + hasBias.has_value();
  if (rejectUnknownClause(parser) || parseOperandTypes(parser, count, types))
    return failure();
  if (types.size() != count)
    return parser.emitError(loc) << "expected " << count << " operand types, but got " << types.size();
  SmallVector<ArrayType> arrays;
  for (Type type : types) {
    auto array = dyn_cast<ArrayType>(type);
    if (!array)
      return parser.emitError(loc, "expected operands of type !taylor.array, but got ") << type;
    arrays.push_back(array);
  }
  FailureOr<ArrayType> joined =
      joinArrays([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), arrays, {},
                 realTypeOf(parser.getContext(), types));
  if (failed(joined))
    return failure();
  array = types.front();
  weight = hasWeight ? types[1] : Type();
  bias = hasBias ? types.back() : Type();
  result = *joined;
  return success();
}

void taylor::printNormTypes(OpAsmPrinter &printer, Operation *op, Value, Value, Type, Type, Type, Type) {
  printer << ": " << op->getOperandTypes();
}

ParseResult taylor::parseRopeTypes(OpAsmParser &parser, OptionalOperand hasPositions, Type &array,
                                   Type &positions, Type &result) {
  Type *types[] = {&array, &positions};
  if (rejectUnknownWord(parser, {"at", "theta(..)", "layout(..)", "offset(..)", "inverse"}) ||
      parseArrayTypes(parser, MutableArrayRef(types).take_front(hasPositions ? 2 : 1)))
    return failure();
  result = cast<ArrayType>(array).clone(cast<ArrayType>(array).getScalarType());
  return success();
}

void taylor::printRopeTypes(OpAsmPrinter &printer, Operation *op, Value, Type, Type, Type) {
  printer << ": " << op->getOperandTypes();
}

ParseResult taylor::parseWeightedTypes(OpAsmParser &parser, Type &array, Type &weights, Type &result) {
  Type *types[] = {&array, &weights};
  if (rejectUnknownWord(parser, {"within(..)", "reverse"}) || parseArrayTypes(parser, types))
    return failure();
  result = cast<ArrayType>(array).clone(cast<ArrayType>(array).getScalarType());
  return success();
}

void taylor::printWeightedTypes(OpAsmPrinter &printer, Operation *, Type array, Type weights, Type) {
  printer << ": " << array << ", " << weights;
}

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

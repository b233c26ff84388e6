// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/BodySyntax.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace taylor;

ParseResult BodySyntax::parseBody() {
  if (failed(parser.parseOptionalKeyword("region")))
    return formulas.parseBody(bindings);
  isRegion = true;
  return failure(parser.parseOperandList(formulas.operands, AsmParser::Delimiter::Paren) ||
                 parser.parseRegion(*region));
}

ParseResult BodySyntax::parseLive() {
  if (succeeded(parser.parseOptionalKeyword("live")) &&
      parser.parseOperandList(live, AsmParser::Delimiter::Paren))
    return failure();
  return parser.parseOptionalAttrDict(result.attributes);
}

ParseResult BodySyntax::parseTypes() {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types;
  if (succeeded(parser.parseOptionalColon()) && parser.parseTypeList(types))
    return failure();
  size_t expected = formulas.operands.size() + live.size();
  if (types.size() != expected)
    return parser.emitError(loc, "expected ")
           << expected << " operand type" << (expected == 1 ? "" : "s")
           << ", one per distinct value in order of appearance, but got " << types.size();
  for (Type type : types) {
    auto array = dyn_cast<ArrayType>(type);
    if (!array)
      return parser.emitError(loc, "expected operands of type !taylor.array, but got ") << type;
    arrays.push_back(array);
  }
  arrays.resize(formulas.operands.size());
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(explicitResult))
    return failure();
  SmallVector<OpAsmParser::UnresolvedOperand> operands(formulas.operands);
  llvm::append_range(operands, live);
  if (parser.resolveOperands(operands, types, loc, result.operands))
    return failure();

  // A formula without operands has the type of its result, if that is written.
  SmallVector<Type> results;
  if (explicitResult)
    results.push_back(explicitResult);
  Type realType = realTypeOf(parser.getContext(), ArrayRef(types).take_front(arrays.size()), results);
  if (!isRegion && buildRegion(realType))
    return failure();
  FailureOr<ArrayType> join = joinArrays([&] { return parser.emitError(parser.getNameLoc()); },
                                         parser.getContext(), arrays, indexedAxes(*region), realType);
  if (failed(join))
    return failure();
  joined = *join;
  return success();
}

ParseResult BodySyntax::buildRegion(Type realType) {
  SmallVector<Type> argumentTypes;
  SmallVector<int64_t> scalars;
  SmallVector<AxisRef> freeAxes;
  for (ArrayType array : arrays) {
    scalars.push_back(argumentTypes.size());
    argumentTypes.push_back(array.getScalarType());
    for (StringAttr axis : array.getAxes())
      freeAxes.push_back(axis.getValue());
  }
  return buildFormulaRegion(parser, *region, bindings, argumentTypes, scalars, {}, freeAxes, realType);
}

SmallVector<Value> taylor::printBody(OpAsmPrinter &printer, Region &region, OperandRange arrays) {
  Block &block = region.front();
  // A formula names an operand by using it; it cannot say that an unused one is there, nor the same value
  // twice.
  llvm::SmallDenseSet<Value> distinct(arrays.begin(), arrays.end());
  if (FormulaPrinter::isPrintable(block) && distinct.size() == arrays.size()) {
    llvm::DenseMap<Value, std::string> leaves;
    for (auto [argument, array] : llvm::zip(block.getArguments(), arrays))
      leaves[argument] = nameOfValue(printer, array);
    std::string text = FormulaPrinter(leaves).body(block);
    SmallVector<Value> order = orderOfAppearance(text, printer, arrays);
    if (order.size() == arrays.size()) {
      printer << " " << text;
      return order;
    }
  }
  printer << " region(" << arrays << ") ";
  printer.printRegion(region);
  return SmallVector<Value>(arrays.begin(), arrays.end());
}

void taylor::printLiveAndTypes(OpAsmPrinter &printer, Operation *op, ArrayRef<Value> arrays, ValueRange live,
                               ArrayType inferred) {
  if (!live.empty())
    printer << " live(" << live << ")";
  printer.printOptionalAttrDict(llvm::to_vector(op->getDiscardableAttrs()));
  SmallVector<Type> types(TypeRange{ValueRange(arrays)});
  llvm::append_range(types, live.getTypes());
  if (!types.empty())
    printer << " : " << TypeRange(types);
  if (op->getResult(0).getType() != inferred)
    printer << " -> " << op->getResult(0).getType();
}

FailureOr<ArrayType> taylor::joinBody(EmitError emitError, Region &region, ValueRange arrays) {
  SmallVector<ArrayType> types;
  for (Value array : arrays)
    types.push_back(cast<ArrayType>(array.getType()));
  MLIRContext *context = region.getContext();
  return joinArrays(emitError, context, types, indexedAxes(region), realTypeOf(context, TypeRange(arrays)));
}

LogicalResult taylor::verifyScalars(Operation *op, Region &region) {
  if (region.empty())
    return success();
  if (!region.hasOneBlock())
    return op->emitOpError("expected a formula of one block, but got ") << region.getBlocks().size();
  // Before MLIR's own check of blocks, which runs after this one.
  if (region.front().empty())
    return op->emitOpError("expected a formula that ends in taylor.yield, but got an empty one");
  for (Operation &scalar : region.front()) {
    bool isYield = isa<YieldOp>(scalar);
    if (!isYield &&
        (scalar.getNumResults() != 1 || scalar.getNumRegions() != 0 || !isMemoryEffectFree(&scalar)))
      return scalar.emitOpError(
          "unsupported in a formula: an operation there has one result, no region and no side effect");
    for (Value operand : scalar.getOperands())
      if (operand.getParentRegion() != &region)
        return scalar.emitOpError("unsupported value from outside of its formula: pass it as an operand");
  }
  return success();
}

LogicalResult taylor::verifyPairScalars(Operation *op, Region &region) {
  for (StringRef axis : indexedAxes(region)) {
    if (axis == AxisRole::Lag)
      return op->emitOpError("unsupported index 'lag' in a formula over pairs: write t - u");
    if (!isRuntimeAxis(axis))
      return op->emitOpError("unsupported index '")
             << axis << "' in a formula over pairs, which have no channels: write size(" << axis
             << ") for their number";
  }
  return verifyScalars(op, region);
}

LogicalResult taylor::verifyBody(Operation *op, Region &region, ValueRange arrays) {
  if (failed(verifyScalars(op, region)))
    return failure();
  if (region.getNumArguments() != arrays.size())
    return op->emitOpError("expected one region argument per array, but got ")
           << region.getNumArguments() << " for " << arrays.size() << " arrays";
  for (auto [index, pair] : llvm::enumerate(llvm::zip(region.getArguments(), arrays))) {
    auto [argument, array] = pair;
    Type expected = cast<ArrayType>(array.getType()).getScalarType();
    if (argument.getType() != expected)
      return op->emitOpError("expected region argument ")
             << index << " of type " << expected << ", but got " << argument.getType();
  }
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  if (yield && yield.getValues().size() == 1 && yield.getValues()[0].getType().isInteger(1))
    return op->emitOpError(
        "expected a formula of a number, but got a condition; write select(condition, 1.0, 0.0)");
  if (!yield || yield.getValues().size() != 1 || !isa<FloatType>(yield.getValues()[0].getType()))
    return op->emitOpError("expected a region that yields one number");
  return success();
}

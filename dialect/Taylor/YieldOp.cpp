// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// taylor.yield: of a specification, a function or a region.
#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Taylor/TextParsing.h"

using namespace mlir;
using namespace taylor;

ParseResult YieldOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Attribute> names;
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  bool spelled = false;
  auto parseValue = [&]() -> ParseResult {
    std::string name;
    if (succeeded(parser.parseOptionalString(&name)))
      spelled = true;
    if (parser.parseOperand(operands.emplace_back()))
      return failure();
    names.push_back(
        builder.getStringAttr(name.empty() ? operands.back().name.drop_front() : StringRef(name)));
    return success();
  };
  if (succeeded(parser.parseOptionalColon()))
    return parser.emitError(loc, "expected what to yield, as in `taylor.yield %o : !o`");
  if (parser.parseCommaSeparatedList(parseValue) || parser.parseOptionalAttrDict(result.attributes) ||
      parseOperandTypes(parser, operands.size(), types) ||
      parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  // Scalars in a region have no names.
  if (spelled || (!types.empty() && isa<ArrayType>(types.front())))
    result.getOrAddProperties<Properties>().names = builder.getArrayAttr(names);
  return success();
}

void YieldOp::print(OpAsmPrinter &printer) {
  printer << " ";
  for (auto [index, value] : llvm::enumerate(getValues())) {
    printer << (index ? ", " : "");
    if (getNames())
      printer << (*getNames())[index] << " ";
    printer << value;
  }
  printer.printOptionalAttrDict(llvm::to_vector((*this)->getDiscardableAttrs()));
  printer << " : " << getValues().getTypes();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Tile/TileSyntax.h"

using namespace mlir;
using namespace mlir::tile;

ParseResult mlir::tile::parseName(OpAsmParser &parser, StringAttr &name) {
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  name = parser.getBuilder().getStringAttr(keyword);
  return success();
}

void mlir::tile::printName(OpAsmPrinter &printer, Operation *, StringAttr name) {
  printer << name.getValue();
}

ParseResult mlir::tile::parseNames(OpAsmParser &parser, ArrayAttr &names) {
  SmallVector<Attribute> list;
  auto parseOne = [&]() -> ParseResult {
    StringAttr name;
    if (parseName(parser, name))
      return failure();
    list.push_back(name);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne))
    return failure();
  names = parser.getBuilder().getArrayAttr(list);
  return success();
}

void mlir::tile::printNames(OpAsmPrinter &printer, Operation *, ArrayAttr names) {
  printer << "(";
  llvm::interleaveComma(names.getAsRange<StringAttr>(), printer,
                        [&](StringAttr name) { printer << name.getValue(); });
  printer << ")";
}

ParseResult mlir::tile::parseWindow(OpAsmParser &parser, ArrayAttr &arrayAxes, ArrayAttr &tileAxes,
                                    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &offsets) {
  SmallVector<Attribute> inArray, inTile;
  auto parseOne = [&]() -> ParseResult {
    StringAttr axis, renamed;
    if (parseName(parser, axis))
      return failure();
    renamed = axis;
    if (succeeded(parser.parseOptionalKeyword("as"))) {
      StringAttr minus;
      if (parseName(parser, renamed))
        return failure();
      if (succeeded(parser.parseOptionalMinus())) {
        if (parseName(parser, minus))
          return failure();
        renamed = parser.getBuilder().getStringAttr(renamed.getValue() + " - " + minus.getValue());
      }
    }
    inArray.push_back(axis);
    inTile.push_back(renamed);
    return failure(parser.parseEqual() || parser.parseOperand(offsets.emplace_back()));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  arrayAxes = parser.getBuilder().getArrayAttr(inArray);
  tileAxes = parser.getBuilder().getArrayAttr(inTile);
  return success();
}

void mlir::tile::printWindow(OpAsmPrinter &printer, Operation *, ArrayAttr arrayAxes, ArrayAttr tileAxes,
                             OperandRange offsets) {
  printer << "[";
  llvm::interleaveComma(
      llvm::zip(arrayAxes.getAsRange<StringAttr>(), tileAxes.getAsRange<StringAttr>(), offsets), printer,
      [&](auto entry) {
        auto [axis, renamed, offset] = entry;
        printer << axis.getValue();
        if (axis != renamed)
          printer << " as " << renamed.getValue();
        printer << " = " << offset;
      });
  printer << "]";
}

ParseResult mlir::tile::parseIntoType(OpAsmParser &parser,
                                      const std::optional<OpAsmParser::UnresolvedOperand> &c, Type &cType,
                                      Type &resultType) {
  if (parser.parseArrow() || parser.parseType(resultType))
    return failure();
  cType = c ? resultType : Type();
  return success();
}

void mlir::tile::printIntoType(OpAsmPrinter &printer, Operation *, Value, Type, Type resultType) {
  printer << "-> " << resultType;
}

//===----------------------------------------------------------------------===//
// tile.kernel @k grid(%b in b, %i in ceildiv(t, 64)) longest(last, u * 256) { }
//===----------------------------------------------------------------------===//

static ParseResult parseLongest(OpAsmParser &parser, LongestAttr &longest) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef end, role;
  int64_t bytes = 0;
  if (parser.parseLParen() || parser.parseKeyword(&end))
    return failure();
  std::optional<End> which = symbolizeEnd(end);
  if (!which)
    return parser.emitError(loc) << "expected first or last, but got '" << end << "'";
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword(&role) || parser.parseStar() || parser.parseInteger(bytes)))
    return failure();
  longest = LongestAttr::getChecked([&] { return parser.emitError(loc); }, parser.getContext(), *which,
                                    parser.getBuilder().getStringAttr(role), bytes);
  return failure(!longest || parser.parseRParen());
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  Builder &builder = parser.getBuilder();
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      parser.parseKeyword("grid"))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> grid;
  auto parseOne = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    if (parser.parseArgument(argument) || parser.parseKeyword("in"))
      return failure();
    argument.type = builder.getIndexType();
    // An extent in attribute syntax is `#tile.extent<..>`; here the bare form reads better.
    ExtentAttr extent = parseExtent(parser);
    grid.push_back(extent);
    return success(bool(extent));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne))
    return failure();
  LongestAttr longest;
  if (succeeded(parser.parseOptionalKeyword("longest"))) {
    if (parseLongest(parser, longest))
      return failure();
    result.addAttribute(getLongestAttrName(result.name), longest);
  }
  Attribute launch;
  if (succeeded(parser.parseOptionalKeyword("launch")) &&
      parser.parseAttribute(launch, getLaunchAttrName(result.name), result.attributes))
    return failure();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  result.addAttribute(getGridAttrName(result.name), builder.getArrayAttr(grid));
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << " grid(";
  llvm::interleaveComma(llvm::zip(getBlock()->getArguments(), getGrid()), printer, [&](auto entry) {
    auto [argument, attribute] = entry;
    printer << argument << " in ";
    printExtent(printer.getStream(), cast<ExtentAttr>(attribute));
  });
  printer << ")";
  if (LongestAttr longest = getLongestAttr()) {
    printer << " longest(" << stringifyEnd(longest.getEnd());
    if (longest.hasBytes())
      printer << ", " << longest.getRole().getValue() << " * " << longest.getBytes();
    printer << ")";
  }
  if (getLaunchAttr())
    printer << " launch " << getLaunchAttr();
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getSymNameAttrName(), getGridAttrName(),
                                                                 getLongestAttrName(), getLaunchAttrName()});
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// tile.map (%x = %a, %y = %b) : (types) -> types { }
//===----------------------------------------------------------------------===//

ParseResult MapOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> inputs;
  auto parseOne = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(inputs.emplace_back()));
  };
  FunctionType type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseOne) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(inputs, type.getInputs(), loc, result.operands))
    return failure();
  for (auto [argument, input] : llvm::zip(arguments, type.getInputs())) {
    auto tile = dyn_cast<TileType>(input);
    if (!tile)
      return parser.emitError(loc) << "expected tiles as operands, but got " << input;
    argument.type = tile.getElementType();
  }
  result.addTypes(type.getResults());
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  MapOp::ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void MapOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(llvm::zip(getBlock()->getArguments(), getInputs()), printer,
                        [&](auto entry) { printer << std::get<0>(entry) << " = " << std::get<1>(entry); });
  printer << ")";
  printer.printOptionalAttrDict((*this)->getAttrs());
  printer << " : ";
  printer.printFunctionalType(*this);
  printer << " ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

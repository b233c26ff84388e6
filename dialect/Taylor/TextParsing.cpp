// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/TextParsing.h"
#include "dialect/Taylor/NearestName.h"

#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace taylor;

StringRef taylor::textAt(SMLoc loc) {
  constexpr size_t most = 16;
  const char *begin = loc.getPointer();
  size_t size = 0;
  // A source ends in a zero byte.
  while (size < most && begin[size] && !llvm::isSpace(begin[size]) &&
         !(size && llvm::StringRef(",)").contains(begin[size])))
    ++size;
  return {begin, size};
}

static bool isExponentWithoutPoint(SMLoc loc) {
  const char *rest = loc.getPointer();
  while (llvm::isDigit(*rest))
    ++rest;
  if (*rest != 'e' && *rest != 'E')
    return false;
  ++rest;
  return llvm::isDigit(*rest == '-' || *rest == '+' ? rest[1] : *rest);
}

ParseResult taylor::parseNumber(AsmParser &parser, double &number) {
  bool negative = succeeded(parser.parseOptionalMinus());
  SMLoc loc = parser.getCurrentLocation();
  if (!llvm::isDigit(*loc.getPointer()))
    return parser.emitError(loc, "expected a number, but got '") << textAt(loc) << "'";
  if (isExponentWithoutPoint(loc))
    return parser.emitError(loc, "expected a point in a number with an exponent, but got '")
           << textAt(loc) << "'; write for example 1.0e-4";
  int64_t integer = 0;
  OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
  if (isInteger.has_value()) {
    if (failed(*isInteger))
      return failure();
    number = static_cast<double>(integer);
  } else if (parser.parseFloat(number)) {
    return failure();
  } else if (!std::isfinite(number)) {
    return parser.emitError(loc, "expected a finite number, but got '") << textAt(loc) << "'";
  }
  if (negative)
    number = -number;
  return success();
}

ParseResult taylor::parseNumberInParentheses(AsmParser &parser, double &number) {
  return failure(parser.parseLParen() || parseNumber(parser, number) || parser.parseRParen());
}

ParseResult taylor::rejectMissingTypes(AsmParser &parser, SMLoc loc) {
  return parser.emitError(loc, "expected ':' and the types of the operands, as in ': !q, !k, !v'");
}

ParseResult taylor::rejectUnknownWord(AsmParser &parser, ArrayRef<StringRef> known) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word)))
    return success();
  if (word.contains('.')) // the next operation
    return rejectMissingTypes(parser, loc);
  NearestName nearest(word);
  for (StringRef one : known)
    nearest.consider(one.split('(').first);
  InFlightDiagnostic diagnostic = parser.emitError(loc, "expected ");
  if (known.size() == 1)
    diagnostic << known.front();
  else
    diagnostic << llvm::join(known.drop_back(), ", ") << " or " << known.back() << ", in this order";
  diagnostic << ", but got '" << word << "'";
  if (!nearest.get().empty() && nearest.get() != word) // in another place
    diagnostic << "; did you mean '" << nearest.get() << "'?";
  return failure();
}

ParseResult taylor::parseTypesColon(AsmParser &parser) {
  if (succeeded(parser.parseOptionalColon()))
    return success();
  return rejectMissingTypes(parser, parser.getCurrentLocation());
}

ParseResult taylor::parseOperandTypes(AsmParser &parser, size_t operands, SmallVectorImpl<Type> &types) {
  if (succeeded(parser.parseOptionalColon()))
    return parser.parseTypeList(types);
  return parser.emitError(parser.getCurrentLocation(), "expected ':' and ")
         << operands << " operand type" << (operands == 1 ? "" : "s")
         << ", as in ': " << (operands == 1 ? "!o" : "!q, !k, !v") << "'";
}

//===----------------------------------------------------------------------===//
// Unknown values
//===----------------------------------------------------------------------===//

static bool isInName(char c) { return llvm::isAlnum(c) || StringRef("_$.-%#").contains(c); }

/// `%name` at the beginning of a text, without a result's number.
static StringRef nameAt(StringRef text) { return text.take_while(isInName).split('#').first; }

/// The text from `begin` up to a place of the same file; empty if it is none.
static StringRef textUntil(OpAsmParser &parser, SMLoc begin, Location place) {
  auto from = dyn_cast<FileLineColLoc>(parser.getEncodedSourceLoc(begin));
  auto to = dyn_cast<FileLineColLoc>(place);
  if (!from || !to || to.getFilename() != from.getFilename() || to.getLine() < from.getLine())
    return {};
  const char *pointer = begin.getPointer();
  unsigned column = from.getColumn();
  for (unsigned line = from.getLine(); line < to.getLine() && *pointer; column = 1)
    line += *pointer++ == '\n';
  for (; column < to.getColumn() && *pointer; ++column)
    ++pointer;
  return {begin.getPointer(), size_t(pointer - begin.getPointer())};
}

/// Names at the beginnings of lines, up to an equals sign: `%n, %z = ..`.
static void appendResults(StringRef text, SmallVectorImpl<StringRef> &names) {
  for (StringRef line : llvm::split(text, '\n')) {
    line = line.ltrim();
    if (!line.starts_with("%") || !line.contains('='))
      continue;
    for (StringRef part : llvm::split(line.take_until([](char c) { return c == '='; }), ','))
      if (StringRef name = nameAt(part.ltrim().split(':').first); name.starts_with("%"))
        names.push_back(name);
  }
}

ParseResult taylor::rejectUnknownValues(OpAsmParser &parser, SMLoc begin, Region &body,
                                        ArrayRef<OpAsmParser::Argument> arguments) {
  // In place of what is not defined yet the parser has operations outside of all blocks.
  Operation *unknown = nullptr;
  body.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *from = operand.getDefiningOp(); from && !from->getBlock()) {
        unknown = from;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  if (!unknown)
    return success();
  StringRef before = textUntil(parser, begin, unknown->getLoc());
  if (before.empty()) // who reads no text
    return success();
  StringRef wanted = nameAt(before.end());
  if (wanted.empty()) // a file in the generic form may define no name here
    return success();
  SmallVector<StringRef> names = llvm::map_to_vector(
      arguments, [](const OpAsmParser::Argument &argument) { return argument.ssaName.name; });
  appendResults(before, names);
  NearestName nearest(wanted.drop_front());
  for (StringRef name : names)
    nearest.consider(name.drop_front());
  InFlightDiagnostic diagnostic =
      emitError(unknown->getLoc(), "expected an argument, or a result from above, but got '")
      << wanted << "'; ";
  if (nearest.get().empty())
    return diagnostic << "there are " << llvm::join(names, ", ");
  return diagnostic << "did you mean '%" << nearest.get() << "'?";
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/NumberSyntax.h"

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

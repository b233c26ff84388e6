// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the taylor dialect; the syntax of sources is that of a specification's arguments.
#include "dialect/Taylor/TaylorAttrs.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Taylor/TextParsing.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor;

#define GET_ATTRDEF_CLASSES
#include "dialect/Taylor/TaylorAttrs.cpp.inc"

void TaylorDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Taylor/TaylorAttrs.cpp.inc"
      >();
}

namespace {

/// `(a)` or `(a, b)`.
ParseResult parseNumbers(AsmParser &parser, int count, double *values) {
  if (parser.parseLParen())
    return failure();
  for (int i = 0; i < count; ++i)
    if ((i && parser.parseComma()) || parseNumber(parser, values[i]))
      return failure();
  return parser.parseRParen();
}

int numberOfArguments(Initial initial) {
  switch (initial) {
  case Initial::Zeros:
  case Initial::Ones:
    return 0;
  case Initial::Constant:
    return 1;
  case Initial::Uniform:
  case Initial::Normal:
    return 2;
  }
  llvm_unreachable("all initial distributions are covered");
}

} // namespace

FailureOr<SourceAttr> taylor::parseSource(AsmParser &parser) {
  Builder builder(parser.getContext());
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (parser.parseKeyword(&word))
    return failure();
  std::optional<SourceKind> kind = symbolizeSourceKind(word);
  if (!kind) {
    parser.emitError(loc, "expected projection, parameter(..) or input, but got '") << word << "'";
    return failure();
  }
  bool bias = false;
  Initial initial = Initial::Zeros;
  double values[2] = {0, 0};
  if (*kind == SourceKind::Projection && succeeded(parser.parseOptionalLParen())) {
    loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    if (word != "bias") {
      parser.emitError(loc, "expected projection or projection(bias), but got 'projection(") << word << ")'";
      return failure();
    }
    if (parser.parseRParen())
      return failure();
    bias = true;
  }
  if (*kind == SourceKind::Parameter) {
    if (parser.parseLParen())
      return failure();
    loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Initial> known = symbolizeInitial(word);
    if (!known) {
      parser.emitError(
          loc, "expected zeros, ones, constant(c), uniform(low, high) or normal(mean, deviation), but got '")
          << word << "'";
      return failure();
    }
    initial = *known;
    if (int count = numberOfArguments(initial))
      if (parseNumbers(parser, count, values))
        return failure();
    if (parser.parseRParen())
      return failure();
    if (initial == Initial::Uniform && !(values[0] <= values[1])) {
      parser.emitError(loc, "expected uniform(low, high) with low <= high, but got ")
          << formatNumber(values[0]) << " and " << formatNumber(values[1]);
      return failure();
    }
    if (initial == Initial::Normal && !(values[1] >= 0)) {
      parser.emitError(loc, "expected normal(mean, deviation) with deviation >= 0, but got ")
          << formatNumber(values[1]);
      return failure();
    }
  }
  return SourceAttr::get(parser.getContext(), *kind, bias, initial, builder.getF64FloatAttr(values[0]),
                         builder.getF64FloatAttr(values[1]));
}

void taylor::printSource(AsmPrinter &printer, SourceAttr source) {
  printer << stringifySourceKind(source.getKind());
  if (source.getBias())
    printer << "(bias)";
  if (source.getKind() != SourceKind::Parameter)
    return;
  printer << "(" << stringifyInitial(source.getInitial());
  int count = numberOfArguments(source.getInitial());
  if (count)
    printer << "(" << formatNumber(source.getFirst().getValueAsDouble());
  if (count == 2)
    printer << ", " << formatNumber(source.getSecond().getValueAsDouble());
  printer << (count ? "))" : ")");
}

Attribute SourceAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  FailureOr<SourceAttr> source = parseSource(parser);
  if (failed(source) || parser.parseGreater())
    return {};
  return *source;
}

void SourceAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printSource(printer, *this);
  printer << ">";
}

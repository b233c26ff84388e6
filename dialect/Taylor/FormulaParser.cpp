// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas from text to trees.
#include "dialect/Taylor/Formula.h"
#include "dialect/Taylor/TextParsing.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace taylor;

namespace {

FormulaPtr makeFormula(Formula::Kind kind, SMLoc loc, StringRef name = "") {
  auto formula = std::make_unique<Formula>();
  formula->kind = kind;
  formula->loc = loc;
  formula->name = name.str();
  return formula;
}

/// Operators of other languages, which would end the formula and leave a message about what follows.
ParseResult rejectForeignOperator(OpAsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text = textAt(loc);
  if (text.starts_with("^"))
    return parser.emitError(loc, "unsupported operator '^' in a formula; write pow(x, y)");
  if (text.starts_with("**"))
    return parser.emitError(loc, "unsupported operator '**' in a formula; write pow(x, y)");
  if (text.starts_with(">"))
    return parser.emitError(loc, "unsupported operator '>' in a formula; write b < a for a > b");
  for (StringRef word : {"and", "or"})
    if (text == word)
      return parser.emitError(loc, "unsupported operator '")
             << word << "' in a formula; write " << word << "(x, y)";
  return success();
}

/// Operators that the lexer does not know, and `%` before what is no name, which it takes for the
/// beginning of a value: they must be found in the text after the number or name at `loc`, before that is
/// read.
/// `2s`, which the lexer takes apart.
ParseResult rejectForeignNumber(OpAsmParser &parser, SMLoc loc) {
  StringRef text = loc.getPointer(); // a source ends in a zero byte
  StringRef digits = text.take_while(llvm::isDigit), rest = text.drop_front(digits.size());
  if (digits.empty() || (digits == "0" && rest.starts_with("x"))) // hexadecimal
    return success();
  if (rest.starts_with("."))
    rest = rest.drop_front().drop_while(llvm::isDigit);
  if (StringRef exponent = rest; exponent.consume_front("e") || exponent.consume_front("E")) {
    if (!exponent.consume_front("+"))
      exponent.consume_front("-");
    if (llvm::isDigit(exponent.empty() ? ' ' : exponent.front()))
      rest = exponent.drop_while(llvm::isDigit);
  }
  StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (word.empty() && !rest.starts_with("%"))
    return success();
  StringRef number(text.data(), rest.data() - text.data());
  if (rest.starts_with("%")) // a value's name; or a remainder, which is refused elsewhere
    word = rest.take_while([](char c) { return c == '%' || llvm::isAlnum(c) || c == '_'; });
  if (word == "%" || llvm::isDigit(word.drop_front(word.starts_with("%")).front()))
    return success();
  return parser.emitError(loc, "expected an operator between ")
         << number << " and " << word << "; write " << number << " * " << word;
}

ParseResult rejectForeignToken(OpAsmParser &parser, SMLoc loc) {
  // A source ends in a zero byte.
  const char *next = loc.getPointer();
  next += *next == '%';
  while (llvm::isAlnum(*next) || *next == '_' || *next == '.' || *next == '$' || *next == '#')
    ++next;
  while (llvm::isSpace(*next) || *next == ')')
    ++next;
  SMLoc at = SMLoc::getFromPointer(next);
  StringRef text = textAt(at);
  if (text.starts_with("!="))
    return parser.emitError(at, "unsupported operator '!=' in a formula; write not(x == y)");
  if (text.starts_with("&"))
    return parser.emitError(at, "unsupported operator '&' in a formula; write and(x, y)");
  if (text.starts_with("|"))
    return parser.emitError(at, "unsupported operator '|' in a formula; write or(x, y)");
  // A number after it, except for the names that printed operations have.
  if (text == "%" || (text.consume_front("%") && text.consume_front(text.take_while(llvm::isDigit)) &&
                      text.starts_with(".")))
    return parser.emitError(at, "unsupported operator '%' in a formula; write x - y * floor(x / y)");
  return success();
}

/// Far beyond what anyone writes, far below what a stack holds.
constexpr int kMaximalDepth = 1000;
/// Of all bindings of a body together, since each may stand in the next.
constexpr int64_t kMaximalBodyDepth = 10000;

} // namespace

ParseResult FormulaParser::checkDepth(SMLoc loc, int depth) {
  if (depth <= kMaximalDepth)
    return success();
  return parser.emitError(loc)
         << "unsupported formula of more than " << kMaximalDepth
         << " levels of parentheses and operators; give parts of it names: { a = .., b = .. }";
}

FailureOr<FormulaPtr> FormulaParser::join(FormulaPtr formula, FormulaPtr first, FormulaPtr second) {
  for (FormulaPtr *argument : {&first, &second}) {
    if (!*argument)
      continue;
    formula->depth = std::max(formula->depth, (*argument)->depth + 1);
    formula->arguments.push_back(std::move(*argument));
  }
  if (checkDepth(formula->loc, formula->depth))
    return failure();
  return formula;
}

unsigned FormulaParser::addOperand(const OpAsmParser::UnresolvedOperand &operand) {
  for (auto [index, known] : llvm::enumerate(operands))
    if (known.name == operand.name && known.number == operand.number)
      return index;
  operands.push_back(operand);
  return operands.size() - 1;
}

FailureOr<FormulaPtr> FormulaParser::parseFormula() {
  llvm::SaveAndRestore deeper(open, open + 1);
  if (checkDepth(parser.getCurrentLocation(), open))
    return failure();
  FailureOr<FormulaPtr> left = parseSum();
  if (failed(left))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  StringRef op;
  if (succeeded(parser.parseOptionalLess())) {
    op = succeeded(parser.parseOptionalEqual()) ? "<=" : "<";
  } else if (succeeded(parser.parseOptionalEqual())) {
    if (failed(parser.parseOptionalEqual()))
      return parser.emitError(loc, "expected '==' for a condition, but got '='");
    op = "==";
  } else {
    return left;
  }
  FailureOr<FormulaPtr> right = parseSum();
  if (failed(right))
    return failure();
  if (StringRef next = textAt(parser.getCurrentLocation()); next.starts_with("<") || next.starts_with("=="))
    return parser.emitError(parser.getCurrentLocation(),
                            "unsupported chain of comparisons; write and(a < b, b < c)");
  return join(makeFormula(Formula::Kind::Binary, loc, op), std::move(*left), std::move(*right));
}

FailureOr<FormulaPtr> FormulaParser::parseSum() {
  FailureOr<FormulaPtr> left = parseTerm();
  while (succeeded(left)) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef op;
    if (succeeded(parser.parseOptionalPlus()))
      op = "+";
    else if (succeeded(parser.parseOptionalMinus()))
      op = "-";
    else
      break;
    FailureOr<FormulaPtr> right = parseTerm();
    if (failed(right))
      return failure();
    left = join(makeFormula(Formula::Kind::Binary, loc, op), std::move(*left), std::move(*right));
  }
  return left;
}

FailureOr<FormulaPtr> FormulaParser::parseTerm() {
  FailureOr<FormulaPtr> left = parseUnary();
  while (succeeded(left)) {
    SMLoc loc = parser.getCurrentLocation();
    StringRef op;
    if (rejectForeignOperator(parser))
      return failure();
    if (succeeded(parser.parseOptionalStar()))
      op = "*";
    else if (succeeded(parser.parseOptionalSlash()))
      op = "/";
    else
      break;
    FailureOr<FormulaPtr> right = parseUnary();
    if (failed(right))
      return failure();
    left = join(makeFormula(Formula::Kind::Binary, loc, op), std::move(*left), std::move(*right));
  }
  return left;
}

FailureOr<FormulaPtr> FormulaParser::parseUnary() {
  SMLoc loc = parser.getCurrentLocation();
  if (pending || failed(parser.parseOptionalMinus()))
    return parsePrimary();
  llvm::SaveAndRestore deeper(open, open + 1);
  if (checkDepth(loc, open))
    return failure();
  FailureOr<FormulaPtr> argument = parseUnary();
  if (failed(argument))
    return failure();
  // -2.0 is a number, so that printing a constant and reading it back gives the constant.
  if ((*argument)->kind == Formula::Kind::Number) {
    (*argument)->number = -(*argument)->number;
    return argument;
  }
  return join(makeFormula(Formula::Kind::Negate, loc), std::move(*argument));
}

FailureOr<FormulaPtr> FormulaParser::parseNameOrCall(std::string name, SMLoc loc) {
  if (failed(parser.parseOptionalLParen()))
    return makeFormula(Formula::Kind::Name, loc, name);
  FormulaPtr call = makeFormula(Formula::Kind::Call, loc, name);
  if (succeeded(parser.parseOptionalRParen()))
    return call;
  do {
    FailureOr<FormulaPtr> argument = parseFormula();
    if (failed(argument))
      return failure();
    FailureOr<FormulaPtr> longer = join(std::move(call), std::move(*argument));
    if (failed(longer))
      return failure();
    call = std::move(*longer);
  } while (succeeded(parser.parseOptionalComma()));
  if (parser.parseRParen())
    return failure();
  return call;
}

FailureOr<FormulaPtr> FormulaParser::parsePrimary() {
  if (pending) {
    auto [word, wordLoc] = *std::exchange(pending, std::nullopt);
    return parseNameOrCall(word, wordLoc);
  }
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLParen())) {
    FailureOr<FormulaPtr> inner = parseFormula();
    if (failed(inner) || parser.parseRParen())
      return failure();
    return inner;
  }
  if (rejectForeignNumber(parser, loc) || rejectForeignToken(parser, loc))
    return failure();

  OpAsmParser::UnresolvedOperand operand;
  OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
  if (isOperand.has_value()) {
    if (failed(*isOperand))
      return failure();
    // MLIR allows '-' in value names, so `%a-%b` reads as a value named `%a-`.
    if (operand.name.ends_with("-")) {
      parser.emitError(loc, "expected a space before '-', but got the value name '") << operand.name << "'";
      return failure();
    }
    FormulaPtr formula = makeFormula(Formula::Kind::Operand, loc);
    formula->operand = addOperand(operand);
    return formula;
  }

  StringRef name;
  if (succeeded(parser.parseOptionalKeyword(&name)))
    return parseNameOrCall(name.str(), loc);

  if (!llvm::isDigit(*loc.getPointer())) {
    parser.emitError(loc, "expected a value, a number, a name or '(' in a formula, but got '")
        << textAt(loc) << "'";
    return failure();
  }
  FormulaPtr formula = makeFormula(Formula::Kind::Number, loc);
  if (parseNumber(parser, formula->number))
    return failure();
  return formula;
}

ParseResult FormulaParser::parseBindings(std::vector<Binding> &bindings) {
  int64_t depth = 0;
  while (failed(parser.parseOptionalRBrace())) {
    Binding binding;
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalKeyword(&word))) {
      if (succeeded(parser.parseOptionalEqual()))
        binding.name = word.str();
      else
        pending.emplace(word.str(), loc);
    }
    FailureOr<FormulaPtr> formula = parseFormula();
    if (failed(formula))
      return failure();
    binding.formula = std::move(*formula);
    depth += binding.formula->depth + 1;
    if (depth > kMaximalBodyDepth)
      return parser.emitError(loc) << "unsupported body of more than " << kMaximalBodyDepth
                                   << " bindings and levels of their formulas; use several operations";
    bindings.push_back(std::move(binding));
    // Optional, but needed where the next formula begins with a minus or a parenthesis.
    (void)parser.parseOptionalComma();
  }
  return success();
}

FailureOr<FormulaPtr> FormulaParser::parseConditions() {
  FailureOr<FormulaPtr> all = parseFormula();
  while (succeeded(all) && succeeded(parser.parseOptionalComma())) {
    FailureOr<FormulaPtr> condition = parseFormula();
    if (failed(condition))
      return failure();
    SMLoc loc = (*condition)->loc;
    all = join(makeFormula(Formula::Kind::Call, loc, "and"), std::move(*all), std::move(*condition));
  }
  return all;
}

ParseResult FormulaParser::parseConditions(std::vector<Binding> &bindings) {
  if (succeeded(parser.parseOptionalLBrace()))
    return parseBindings(bindings);
  FailureOr<FormulaPtr> conditions = parseConditions();
  if (failed(conditions))
    return failure();
  bindings.emplace_back().formula = std::move(*conditions);
  return success();
}

ParseResult FormulaParser::parseBody(std::vector<Binding> &bindings) {
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLBrace())) {
    if (parseBindings(bindings))
      return failure();
    return bindings.empty() ? parser.emitError(loc, "expected a formula, but got an empty body") : success();
  }
  FailureOr<FormulaPtr> formula = parseFormula();
  if (failed(formula))
    return failure();
  Binding binding;
  binding.formula = std::move(*formula);
  bindings.push_back(std::move(binding));
  return success();
}

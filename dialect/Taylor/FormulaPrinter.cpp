// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions back to formulas. Values with several uses get a name, so that a derived region prints in the size
// it has.
#include "dialect/Taylor/Formula.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace taylor;

namespace {

enum Precedence { kComparison = 0, kSum = 1, kTerm = 2, kUnary = 3, kPrimary = 4 };

struct Operator {
  StringRef text;
  Precedence precedence;
};

std::optional<Operator> getOperator(Operation *op) {
  if (isa<arith::AddFOp>(op))
    return Operator{"+", kSum};
  if (isa<arith::SubFOp>(op))
    return Operator{"-", kSum};
  if (isa<arith::MulFOp>(op))
    return Operator{"*", kTerm};
  if (isa<arith::DivFOp>(op))
    return Operator{"/", kTerm};
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    if (compare.getPredicate() == arith::CmpFPredicate::OLT)
      return Operator{"<", kComparison};
    if (compare.getPredicate() == arith::CmpFPredicate::OLE)
      return Operator{"<=", kComparison};
    if (compare.getPredicate() == arith::CmpFPredicate::OEQ)
      return Operator{"==", kComparison};
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    if (compare.getPredicate() == arith::CmpIPredicate::eq)
      return Operator{"==", kComparison};
  return std::nullopt;
}

bool isTrue(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto integer = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return integer && integer.getType().isInteger(1) && !integer.getValue().isZero();
}

/// `not` has no operation of its own: it is an exclusive or with true.
bool isNot(Operation *op) { return isa<arith::XOrIOp>(op) && isTrue(op->getOperand(1)); }

bool isLeaf(Operation *op) {
  return isa<arith::ConstantOp, IndexOp, SizeOp, ParameterOp, arith::SIToFPOp>(op);
}

} // namespace

StringRef FormulaPrinter::functionOf(Operation *op) {
  if (isNot(op))
    return "not";
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<math::ExpOp>([](auto) { return "exp"; })
      .Case<math::ExpM1Op>([](auto) { return "expm1"; })
      .Case<math::LogOp>([](auto) { return "log"; })
      .Case<math::Log2Op>([](auto) { return "log2"; })
      .Case<math::Log1pOp>([](auto) { return "log1p"; })
      .Case<math::SqrtOp>([](auto) { return "sqrt"; })
      .Case<math::RsqrtOp>([](auto) { return "rsqrt"; })
      .Case<math::TanhOp>([](auto) { return "tanh"; })
      .Case<math::AbsFOp>([](auto) { return "abs"; })
      .Case<math::FloorOp>([](auto) { return "floor"; })
      .Case<math::SinOp>([](auto) { return "sin"; })
      .Case<math::CosOp>([](auto) { return "cos"; })
      .Case<math::ErfOp>([](auto) { return "erf"; })
      .Case<math::PowFOp>([](auto) { return "pow"; })
      .Case<arith::MinimumFOp>([](auto) { return "min"; })
      .Case<arith::MaximumFOp>([](auto) { return "max"; })
      .Case<arith::SelectOp>([](auto) { return "select"; })
      .Case<arith::AndIOp>([](auto) { return "and"; })
      .Case<arith::OrIOp>([](auto) { return "or"; })
      .Case<SigmoidOp>([](auto) { return "sigmoid"; })
      .Case<SoftplusOp>([](auto) { return "softplus"; })
      .Case<StopGradientOp>([](auto) { return "stop"; })
      .Default([](Operation *) { return ""; });
}

std::string taylor::formatNumber(double value) {
  if (std::isinf(value))
    return value < 0 ? "-infinity()" : "infinity()";
  char buffer[40];
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(buffer, sizeof(buffer), "%.*e", digits - 1, value);
    if (strtod(buffer, nullptr) == value)
      break;
  }
  // Plain notation where it is short, else the lexer's form: digits, a point, digits, an exponent.
  std::string exponent = buffer;
  if ((std::abs(value) >= 1e-4 && std::abs(value) < 1e7) || value == 0) {
    for (int digits = 1; digits <= 20; ++digits) {
      snprintf(buffer, sizeof(buffer), "%.*f", digits, value);
      if (strtod(buffer, nullptr) == value)
        return buffer;
    }
  }
  size_t e = exponent.find('e');
  std::string mantissa = exponent.substr(0, e);
  if (mantissa.find('.') == std::string::npos)
    mantissa += ".0";
  return mantissa + "e" + std::to_string(std::stoi(exponent.substr(e + 1)));
}

bool FormulaPrinter::isPrintable(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (op.getNumRegions() || !op.getDiscardableAttrs().empty())
      return false;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()); number && number.getValue().isNaN())
        return false;
      if (constant.getType().isInteger(1)) {
        if (!isTrue(constant) || !llvm::all_of(constant->getUsers(), isNot))
          return false;
      } else if (!isa<FloatType>(constant.getType())) {
        return false;
      }
    } else if (!isLeaf(&op) && !getOperator(&op) && !isa<arith::NegFOp>(op) &&
               FormulaPrinter::functionOf(&op).empty()) {
      return false;
    }
    for (NamedAttribute attribute : op.getAttrs())
      if (auto flags = dyn_cast<arith::FastMathFlagsAttr>(attribute.getValue());
          flags && flags.getValue() != arith::FastMathFlags::none)
        return false;
  }
  return true;
}

void FormulaPrinter::reserve(Block &block) {
  for (Operation &op : block)
    if (auto index = dyn_cast<IndexOp>(op))
      reserved.insert(index.getAxis());
    else if (auto parameter = dyn_cast<ParameterOp>(op))
      reserved.insert(parameter.getName());
}

std::string FormulaPrinter::freeName(std::string hint) const {
  while (reserved.contains(hint))
    hint += "_";
  return hint;
}

std::vector<std::string> FormulaPrinter::bindings(Block &block) {
  reserve(block);
  std::vector<std::string> lines;
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() != 1)
      continue;
    Value result = op.getResult(0);
    bool shared = !isLeaf(&op) && ((!result.hasOneUse() && !result.use_empty()) || uses.lookup(result) > 1);
    if (!shared)
      continue;
    std::string line = formula(result);
    std::string name = freeName("x" + std::to_string(counter++));
    lines.push_back(name + " = " + line);
    text[result] = name;
  }
  return lines;
}

std::string FormulaPrinter::formula(Value value, int precedence) {
  if (auto it = text.find(value); it != text.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  if (!op)
    return "?";
  auto wrap = [&](std::string inner, int own) { return own < precedence ? "(" + inner + ")" : inner; };

  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    double number = cast<FloatAttr>(constant.getValue()).getValueAsDouble();
    return wrap(formatNumber(number), std::signbit(number) ? kUnary : kPrimary);
  }
  if (auto index = dyn_cast<IndexOp>(op))
    return index.getAxis().str();
  if (auto size = dyn_cast<SizeOp>(op))
    return "size(" + size.getAxis().str() + ")";
  if (auto parameter = dyn_cast<ParameterOp>(op))
    return parameter.getName().str();
  if (isa<arith::SIToFPOp>(op))
    return formula(op->getOperand(0), precedence);
  if (isa<arith::NegFOp>(op)) {
    // A minus before a number would read back as the negative number.
    Value operand = op->getOperand(0);
    std::string inner = formula(operand, kUnary);
    if (operand.getDefiningOp<arith::ConstantOp>())
      return wrap("0.0 - " + inner, kSum);
    return wrap("-" + inner, kUnary);
  }
  if (std::optional<Operator> binary = getOperator(op)) {
    int leftAt = binary->precedence == kComparison ? kSum : binary->precedence;
    std::string left = formula(op->getOperand(0), leftAt);
    std::string right = formula(op->getOperand(1), binary->precedence + 1);
    return wrap(left + " " + binary->text.str() + " " + right, binary->precedence);
  }
  std::string call = FormulaPrinter::functionOf(op).str() + "(";
  unsigned count = isNot(op) ? 1 : op->getNumOperands();
  for (unsigned i = 0; i < count; ++i)
    call += (i ? ", " : "") + formula(op->getOperand(i));
  return call + ")";
}

std::string FormulaPrinter::body(Block &block) {
  std::vector<std::string> lines = bindings(block);
  std::string value = formula(block.getTerminator()->getOperand(0));
  if (lines.empty())
    return value;
  return "{ " + llvm::join(lines, ", ") + ", " + value + " }";
}

std::string taylor::nameOfValue(OpAsmPrinter &printer, Value value) {
  std::string name;
  llvm::raw_string_ostream stream(name);
  printer.printOperand(value, stream);
  return name;
}

namespace {

bool continuesName(char c) { return isalnum(static_cast<unsigned char>(c)) || strchr("_$.-#", c); }

/// Where a value's name first stands in a text as a whole word, or npos.
size_t findName(const std::string &text, const std::string &name) {
  size_t at = text.find(name);
  while (at != std::string::npos && at + name.size() < text.size() && continuesName(text[at + name.size()]))
    at = text.find(name, at + 1);
  return at;
}

} // namespace

SmallVector<Value> taylor::orderOfAppearance(const std::string &text, OpAsmPrinter &printer,
                                             ValueRange values) {
  SmallVector<std::pair<size_t, Value>> places;
  for (Value value : values)
    if (size_t at = findName(text, nameOfValue(printer, value)); at != std::string::npos)
      places.push_back({at, value});
  llvm::sort(places, [](auto &a, auto &b) { return a.first < b.first; });
  return llvm::map_to_vector(places, [](auto &place) { return place.second; });
}

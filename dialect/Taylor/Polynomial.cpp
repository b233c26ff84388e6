// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/Polynomial.h"

#include "dialect/Taylor/ArrayBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace taylor;

namespace {

using Coefficients = SmallVector<double>;
constexpr size_t kMaximumTerms = 256;

Coefficients add(Coefficients a, const Coefficients &b, double sign) {
  a.resize(std::max(a.size(), b.size()), 0.0);
  for (size_t n = 0; n < b.size(); ++n)
    a[n] += sign * b[n];
  return a;
}

std::optional<Coefficients> multiply(const Coefficients &a, const Coefficients &b) {
  if (a.size() + b.size() > kMaximumTerms)
    return std::nullopt;
  Coefficients product(a.size() + b.size() - 1, 0.0);
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j)
      product[i + j] += a[i] * b[j];
  return product;
}

/// Reads scalars as polynomials in x, each once: a scalar may be shared by many others.
class PolynomialReader {
public:
  /// `ofFormula`: quotients by numbers and whole powers too, as formulas are written.
  explicit PolynomialReader(Value x, bool ofFormula = false) : x(x), ofFormula(ofFormula) {}

  std::optional<Coefficients> read(Value scalar) {
    if (auto it = known.find(scalar); it != known.end())
      return it->second;
    std::optional<Coefficients> result = compute(scalar);
    known[scalar] = result;
    return result;
  }

private:
  std::optional<Coefficients> compute(Value scalar) {
    if (scalar == x)
      return Coefficients{0.0, 1.0};
    FloatAttr number;
    if (matchPattern(scalar, m_Constant(&number)))
      return Coefficients{number.getValueAsDouble()};
    Operation *op = scalar.getDefiningOp();
    if (ofFormula && isa_and_nonnull<arith::DivFOp, math::PowFOp>(op) &&
        matchPattern(op->getOperand(1), m_Constant(&number)))
      return computeByNumber(op, number.getValueAsDouble());
    if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op))
      return std::nullopt;
    std::optional<Coefficients> a = read(op->getOperand(0));
    if (!a)
      return std::nullopt;
    if (isa<arith::NegFOp>(op))
      return add({}, *a, -1.0);
    std::optional<Coefficients> b = read(op->getOperand(1));
    if (!b)
      return std::nullopt;
    if (isa<arith::MulFOp>(op))
      return multiply(*a, *b);
    return add(*a, *b, isa<arith::AddFOp>(op) ? 1.0 : -1.0);
  }

  /// A quotient or power of a scalar and a number.
  std::optional<Coefficients> computeByNumber(Operation *op, double number) {
    std::optional<Coefficients> base = read(op->getOperand(0));
    if (!base)
      return std::nullopt;
    if (isa<arith::DivFOp>(op)) {
      if (number == 0.0)
        return std::nullopt;
      for (double &coefficient : *base)
        coefficient /= number;
      return base;
    }
    if (!(number >= 0.0 && number < double(kMaximumTerms)) || number != std::floor(number))
      return std::nullopt;
    std::optional<Coefficients> power = Coefficients{1.0};
    for (int n = 0; power && n < int(number); ++n)
      power = multiply(*power, *base);
    return power;
  }

  Value x;
  bool ofFormula;
  DenseMap<Value, std::optional<Coefficients>> known;
};

} // namespace

std::optional<SmallVector<double>> Polynomial::coefficientsIn(Value scalar, Value x) {
  return PolynomialReader(x, /*ofFormula=*/true).read(scalar);
}

std::optional<Polynomial> Polynomial::read(Value scalar) {
  Operation *product = scalar.getDefiningOp();
  if (isa_and_nonnull<arith::AddFOp>(product))
    product = product->getOperand(0).getDefiningOp();
  if (!isa_and_nonnull<arith::MulFOp>(product))
    return std::nullopt;
  // Canonicalisation may have put either factor last.
  for (Value x : {product->getOperand(1), product->getOperand(0)}) {
    if (matchPattern(x, m_Constant()))
      continue;
    std::optional<Coefficients> coefficients = PolynomialReader(x).read(scalar);
    if (coefficients && coefficients->size() > 2)
      return Polynomial{x, *coefficients};
  }
  return std::nullopt;
}

Polynomial Polynomial::derivative() const {
  Polynomial result{x, {}};
  for (size_t n = 1; n < coefficients.size(); ++n)
    result.coefficients.push_back(n * coefficients[n]);
  return result;
}

bool Polynomial::isTruncatedExponential() const {
  // Coefficients come from f32 numbers at worst.
  constexpr double kRounding = 1e-6;
  Polynomial lower = derivative();
  for (auto [mine, other] : llvm::zip(coefficients, lower.coefficients))
    if (mine == 0.0 || std::abs(mine - other) > kRounding * std::abs(mine))
      return false;
  return coefficients.back() != 0.0;
}

Value Polynomial::build(OpBuilder &builder, Location loc) const {
  Type type = x.getType();
  Value sum = buildNumber(builder, loc, type, coefficients.back());
  for (double coefficient : llvm::reverse(ArrayRef(coefficients).drop_back())) {
    sum = arith::MulFOp::create(builder, loc, sum, x);
    if (coefficient != 0.0)
      sum = arith::AddFOp::create(builder, loc, sum, buildNumber(builder, loc, type, coefficient));
  }
  return sum;
}

Value taylor::buildPower(OpBuilder &builder, Location loc, Value x, uint64_t n) {
  Value power;
  for (;; x = arith::MulFOp::create(builder, loc, x, x)) {
    if (n & 1)
      power = power ? arith::MulFOp::create(builder, loc, power, x).getResult() : x;
    n >>= 1;
    if (!n)
      return power;
  }
}

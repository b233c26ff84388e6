// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Algebra/Tails.h"
#include "passes/Algebra/PairwiseRewrite.h"

#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace taylor;

/// The operand of a sum, difference, product or quotient with a number that is not the number; for a
/// quotient, the first one only.
static Value besideNumber(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  if (isa_and_nonnull<arith::NegFOp>(op))
    return op->getOperand(0);
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(op))
    return {};
  if (numberOf(op->getOperand(1)))
    return op->getOperand(0);
  return numberOf(op->getOperand(0)) && !isa<arith::DivFOp>(op) ? op->getOperand(1) : Value();
}

Value taylor::findVariable(Value scalar) {
  while (Value inner = besideNumber(scalar))
    scalar = inner;
  return scalar;
}

std::optional<Line> Tails::lineOf(Value scalar) {
  if (scalar == x)
    return Line{sign, 0.0};
  Value inner = besideNumber(scalar);
  std::optional<Line> line = inner ? lineOf(inner) : std::nullopt;
  if (!line)
    return std::nullopt;
  Operation *op = scalar.getDefiningOp();
  if (isa<arith::NegFOp>(op))
    return Line{-line->a, -line->b};
  bool isFirst = inner == op->getOperand(0);
  double number = *numberOf(op->getOperand(isFirst ? 1 : 0));
  return llvm::TypeSwitch<Operation *, Line>(op)
      .Case([&](arith::AddFOp) { return Line{line->a, line->b + number}; })
      .Case([&](arith::SubFOp) {
        return isFirst ? Line{line->a, line->b - number} : Line{-line->a, number - line->b};
      })
      .Case([&](arith::MulFOp) { return Line{line->a * number, line->b * number}; })
      .Default([&](Operation *) { return Line{line->a / number, line->b / number}; });
}

static std::optional<Tail> add(const Tail &a, const Tail &b) {
  if (a.p != b.p) {
    const Tail &large = a.p < b.p ? a : b, &small = a.p < b.p ? b : a;
    return Tail{large.c, large.p, large.k + std::fabs(small.c / large.c),
                std::min(large.q, small.p - large.p)};
  }
  constexpr double least = 1e-3; // of what is left of numbers that cancel
  double c = a.c + b.c;
  if (!(std::fabs(c) >= least * std::fabs(a.c)))
    return std::nullopt;
  return Tail{c, a.p, (std::fabs(a.c) * a.k + std::fabs(b.c) * b.k) / std::fabs(c), std::min(a.q, b.q)};
}

static Tail multiply(const Tail &a, const Tail &b) {
  return {a.c * b.c, a.p + b.p, a.k + b.k, std::min(a.q, b.q)};
}

static std::optional<Tail> power(const Tail &a, double exponent) {
  if (!(a.c > 0.0))
    return std::nullopt;
  return Tail{std::pow(a.c, exponent), a.p * exponent, a.k * std::fabs(exponent), a.q};
}

/// f(v) = v (1 + r), |r| at most |v| / 2, of what vanishes, as log(1 + v) is.
static std::optional<Tail> nearIdentity(const std::optional<Tail> &v) {
  if (!v || !(v->p > 0.0))
    return std::nullopt;
  return Tail{v->c, v->p, v->k + std::fabs(v->c) / 2, std::min(v->q, v->p)};
}

Value Tails::findVanishingAddend(Value scalar) {
  auto sum = scalar.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return {};
  for (auto [one, other] : {std::pair(sum.getLhs(), sum.getRhs()), std::pair(sum.getRhs(), sum.getLhs())})
    if (std::optional<Tail> tail = of(other); numberOf(one) == 1.0 && tail && tail->p > 0.0)
      return other;
  return {};
}

std::optional<Tail> Tails::of(Value scalar) {
  if (auto it = known.find(scalar); it != known.end())
    return it->second;
  std::optional<Tail> tail = compute(scalar);
  if (tail && !(std::isfinite(tail->c) && std::isfinite(tail->p) && std::isfinite(tail->k) && tail->c != 0.0))
    tail = std::nullopt;
  return known[scalar] = tail;
}

std::optional<Tail> Tails::compute(Value scalar) {
  if (std::optional<double> number = numberOf(scalar))
    return Tail{*number};
  Operation *op = scalar.getDefiningOp();
  if (!op || scalar == x)
    return std::nullopt;
  auto tail = [&](unsigned i) { return of(op->getOperand(i)); };
  auto line = [&] { return lineOf(op->getOperand(0)); };
  using Result = std::optional<Tail>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](math::ExpOp) -> Result {
        auto of = line();
        return of ? Result(Tail{std::exp(of->b), of->a}) : std::nullopt;
      })
      .Case([&](math::ExpM1Op) -> Result {
        auto of = line();
        if (of && of->a > 0.0)
          return Tail{-1.0, 0.0, std::exp(of->b), of->a};
        return nearIdentity(tail(0));
      })
      .Case([&](SigmoidOp) -> Result {
        auto of = line();
        if (!of || of->a == 0.0)
          return std::nullopt;
        double e = std::exp(of->a > 0.0 ? of->b : -of->b);
        return of->a > 0.0 ? Tail{e, of->a, e, of->a} : Tail{1.0, 0.0, e, -of->a};
      })
      .Case([&](SoftplusOp) -> Result {
        auto of = line();
        if (!of || !(of->a > 0.0))
          return std::nullopt;
        return nearIdentity(Tail{std::exp(of->b), of->a});
      })
      .Case([&](math::Log1pOp) { return nearIdentity(tail(0)); })
      .Case([&](math::LogOp) -> Result {
        Value addend = findVanishingAddend(op->getOperand(0));
        return addend ? nearIdentity(of(addend)) : std::nullopt;
      })
      .Case<arith::AddFOp, arith::SubFOp>([&](Operation *) -> Result {
        Result a = tail(0), b = tail(1);
        if (!a || !b)
          return std::nullopt;
        if (isa<arith::SubFOp>(op))
          b->c = -b->c;
        return add(*a, *b);
      })
      .Case([&](arith::NegFOp) -> Result {
        Result a = tail(0);
        return a ? Result(Tail{-a->c, a->p, a->k, a->q}) : std::nullopt;
      })
      .Case([&](arith::MulFOp) -> Result {
        Result a = tail(0), b = tail(1);
        return a && b ? Result(multiply(*a, *b)) : std::nullopt;
      })
      .Case([&](arith::DivFOp) -> Result {
        Result a = tail(0), b = tail(1);
        return a && b ? Result(multiply(*a, {1.0 / b->c, -b->p, b->k, b->q})) : std::nullopt;
      })
      .Case<math::SqrtOp, math::RsqrtOp>([&](Operation *) -> Result {
        Result a = tail(0);
        return a ? power(*a, isa<math::SqrtOp>(op) ? 0.5 : -0.5) : std::nullopt;
      })
      .Case([&](math::PowFOp) -> Result {
        Result a = tail(0);
        std::optional<double> exponent = numberOf(op->getOperand(1));
        return a && exponent ? power(*a, *exponent) : std::nullopt;
      })
      .Default([](Operation *) -> Result { return std::nullopt; });
}

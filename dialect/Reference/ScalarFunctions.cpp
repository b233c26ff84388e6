// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Reference/ScalarFunctions.h"
#include <cmath>
#include <limits>
#include <numbers>

using namespace taylor::reference;
using Op = ScalarOpcode;

static constexpr Real kPi = std::numbers::pi_v<Real>;
static constexpr Real kLn2 = std::numbers::ln2_v<Real>;
static constexpr Real kLn10 = std::numbers::ln10_v<Real>;

int taylor::reference::arityOf(ScalarOpcode opcode) {
  switch (opcode) {
  case Op::Select:
  case Op::MultiplyAdd:
    return 3;
  case Op::Add:
  case Op::Subtract:
  case Op::Multiply:
  case Op::Divide:
  case Op::Remainder:
  case Op::Maximum:
  case Op::Minimum:
  case Op::Power:
  case Op::Atan2:
  case Op::CopySign:
  case Op::Less:
  case Op::LessEqual:
  case Op::Greater:
  case Op::GreaterEqual:
  case Op::Equal:
  case Op::NotEqual:
  case Op::And:
  case Op::Or:
  case Op::Xor:
    return 2;
  default:
    return 1;
  }
}

static Real sigmoid(Real x) { return 1 / (1 + std::exp(-x)); }

/// IEEE 754-2019 maximum: a NaN on either side is the result.
static Real maximum(Real x, Real y) { return std::isnan(x) || x > y ? x : y; }

/// The functions of one number.
static Real evaluateOfOne(ScalarOpcode opcode, Real x) {
  switch (opcode) {
  case Op::Copy:
  case Op::Stop:
    return x;
  case Op::Negate:
    return -x;
  case Op::Exp:
    return std::exp(x);
  case Op::Exp2:
    return std::exp2(x);
  case Op::ExpM1:
    return std::expm1(x);
  case Op::Log:
    return std::log(x);
  case Op::Log2:
    return std::log2(x);
  case Op::Log10:
    return std::log10(x);
  case Op::Log1p:
    return std::log1p(x);
  case Op::Sqrt:
    return std::sqrt(x);
  case Op::Rsqrt:
    return 1 / std::sqrt(x);
  case Op::Cbrt:
    return std::cbrt(x);
  case Op::Abs:
    return std::fabs(x);
  case Op::Sigmoid:
    return sigmoid(x);
  case Op::Softplus:
    return maximum(x, 0) + std::log1p(std::exp(-std::fabs(x)));
  case Op::Tanh:
    return std::tanh(x);
  case Op::Sinh:
    return std::sinh(x);
  case Op::Cosh:
    return std::cosh(x);
  case Op::Sin:
    return std::sin(x);
  case Op::Cos:
    return std::cos(x);
  case Op::Tan:
    return std::tan(x);
  case Op::Asin:
    return std::asin(x);
  case Op::Acos:
    return std::acos(x);
  case Op::Atan:
    return std::atan(x);
  case Op::Erf:
    return std::erf(x);
  case Op::Erfc:
    return std::erfc(x);
  case Op::Floor:
    return std::floor(x);
  case Op::Ceil:
    return std::ceil(x);
  case Op::Round:
    return std::round(x);
  case Op::RoundEven:
    return std::nearbyint(x);
  case Op::Truncate:
    return std::trunc(x);
  default:
    return std::numeric_limits<Real>::quiet_NaN();
  }
}

Real taylor::reference::evaluateScalar(ScalarOpcode opcode, const Real *x) {
  switch (opcode) {
  case Op::Add:
    return x[0] + x[1];
  case Op::Subtract:
    return x[0] - x[1];
  case Op::Multiply:
    return x[0] * x[1];
  case Op::Divide:
    return x[0] / x[1];
  case Op::Remainder:
    return std::fmod(x[0], x[1]);
  case Op::MultiplyAdd:
    return x[0] * x[1] + x[2];
  case Op::Maximum:
    return maximum(x[0], x[1]);
  case Op::Minimum:
    return -maximum(-x[0], -x[1]);
  case Op::Select:
    return x[0] != 0 ? x[1] : x[2];
  case Op::Power:
    return std::pow(x[0], x[1]);
  case Op::Atan2:
    return std::atan2(x[0], x[1]);
  case Op::CopySign:
    return std::copysign(x[0], x[1]);
  case Op::Less:
    return x[0] < x[1];
  case Op::LessEqual:
    return x[0] <= x[1];
  case Op::Greater:
    return x[0] > x[1];
  case Op::GreaterEqual:
    return x[0] >= x[1];
  case Op::Equal:
    return x[0] == x[1];
  case Op::NotEqual:
    return x[0] != x[1];
  case Op::And:
    return x[0] != 0 && x[1] != 0;
  case Op::Or:
    return x[0] != 0 || x[1] != 0;
  case Op::Xor:
    return (x[0] != 0) != (x[1] != 0);
  default:
    return evaluateOfOne(opcode, x[0]);
  }
}

static void differentiateExtremum(TieRule tie, const Real *x, bool firstWins, bool secondWins,
                                  Real *partials) {
  // A clamp of a NaN passes nothing on, as in torch; the extremum of two numbers does, to both.
  bool clampsNaN = tie != TieRule::Half && (std::isnan(x[0]) || std::isnan(x[1]));
  if (firstWins || secondWins || clampsNaN) {
    partials[0] = firstWins;
    partials[1] = secondWins;
    return;
  }
  partials[0] = tie == TieRule::Half ? Real(0.5) : tie == TieRule::First;
  partials[1] = 1 - partials[0];
}

/// The derivative of a function of one number at x, where its value is y; 0 of what has none. As in torch, it
/// is a formula of y where it can be, and has y's rounding. An exact y gives all digits, also where 1 - y
/// cancels.
static Real differentiateOfOne(ScalarOpcode opcode, Real x, Real y) {
  switch (opcode) {
  case Op::Copy:
    return 1;
  case Op::Negate:
    return -1;
  case Op::Exp:
    return y;
  case Op::Exp2:
    return y * kLn2;
  case Op::ExpM1:
    return std::isinf(y) ? y : std::exp(x) + (y - std::expm1(x)); // 1 + y
  case Op::Log:
    return 1 / x;
  case Op::Log2:
    return 1 / (x * kLn2);
  case Op::Log10:
    return 1 / (x * kLn10);
  case Op::Log1p:
    return 1 / (1 + x);
  case Op::Sqrt:
    return 1 / (2 * y);
  case Op::Rsqrt:
    return -y / (2 * x);
  case Op::Cbrt:
    return 1 / (3 * y * y);
  case Op::Abs: // a NaN passes it on
    return std::isnan(x) ? 1 : Real(x > 0) - Real(x < 0);
  case Op::Sigmoid: { // y (1 - y)
    Real exact = sigmoid(x);
    return exact * sigmoid(-x) + (y - exact) * (1 - exact - y);
  }
  case Op::Softplus:
    return sigmoid(x);
  case Op::Tanh: { // 1 - y^2
    Real exact = std::tanh(x);
    return 1 / (std::cosh(x) * std::cosh(x)) + (exact - y) * (exact + y);
  }
  case Op::Sinh:
    return std::cosh(x);
  case Op::Cosh:
    return std::sinh(x);
  case Op::Sin:
    return std::cos(x);
  case Op::Cos:
    return -std::sin(x);
  case Op::Tan:
    return 1 / (std::cos(x) * std::cos(x));
  case Op::Asin:
    return 1 / std::sqrt((1 - x) * (1 + x));
  case Op::Acos:
    return -1 / std::sqrt((1 - x) * (1 + x));
  case Op::Atan:
    return 1 / (1 + x * x);
  case Op::Erf:
    return 2 / std::sqrt(kPi) * std::exp(-x * x);
  case Op::Erfc:
    return -2 / std::sqrt(kPi) * std::exp(-x * x);
  default: // Stop, rounding to integers, conditions
    return 0;
  }
}

void taylor::reference::differentiateScalar(ScalarOpcode opcode, TieRule tie, const Real *x, Real y,
                                            Real *partials) {
  partials[0] = partials[1] = partials[2] = 0;
  switch (opcode) {
  case Op::Add:
    partials[0] = partials[1] = 1;
    return;
  case Op::Subtract:
    partials[0] = 1;
    partials[1] = -1;
    return;
  case Op::Multiply:
    partials[0] = x[1];
    partials[1] = x[0];
    return;
  case Op::Divide:
    partials[0] = 1 / x[1];
    partials[1] = -y / x[1];
    return;
  case Op::Remainder:
    partials[0] = 1;
    partials[1] = -std::trunc(x[0] / x[1]);
    return;
  case Op::MultiplyAdd:
    partials[0] = x[1];
    partials[1] = x[0];
    partials[2] = 1;
    return;
  case Op::Maximum:
    return differentiateExtremum(tie, x, x[0] > x[1], x[1] > x[0], partials);
  case Op::Minimum:
    return differentiateExtremum(tie, x, x[0] < x[1], x[1] < x[0], partials);
  case Op::Select:
    partials[1] = x[0] != 0;
    partials[2] = x[0] == 0;
    return;
  case Op::Power:
    // 0^b does not move with b, and a^0 not with a.
    partials[0] = x[1] == 0 ? 0 : x[1] * std::pow(x[0], x[1] - 1);
    partials[1] = x[0] == 0 && x[1] >= 0 ? 0 : y * std::log(x[0]);
    return;
  case Op::Atan2: {
    Real square = x[0] * x[0] + x[1] * x[1];
    partials[0] = x[1] / square;
    partials[1] = -x[0] / square;
    return;
  }
  case Op::CopySign:
    partials[0] = (Real(x[0] > 0) - Real(x[0] < 0)) * std::copysign(Real(1), x[1]);
    return;
  default:
    partials[0] = differentiateOfOne(opcode, x[0], y);
  }
}

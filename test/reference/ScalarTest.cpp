// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Reference/ScalarFunctions.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace taylor::reference;
using Code = ScalarOpcode;

namespace {

struct Case {
  Code code;
  Real x[3];
};

/// Every function with a derivative, inside its domain and away from ties.
constexpr Case kCases[] = {
    {Code::Copy, {0.7L}},
    {Code::Add, {0.7L, -0.4L}},
    {Code::Subtract, {0.7L, -0.4L}},
    {Code::Multiply, {0.7L, -0.4L}},
    {Code::Divide, {0.7L, -0.4L}},
    {Code::Remainder, {2.7L, 0.8L}},
    {Code::Negate, {0.7L}},
    {Code::MultiplyAdd, {0.7L, -0.4L, 0.2L}},
    {Code::Maximum, {0.7L, -0.4L}},
    {Code::Minimum, {0.7L, -0.4L}},
    {Code::Select, {0, -0.4L, 0.2L}},
    {Code::Exp, {0.7L}},
    {Code::Exp2, {0.7L}},
    {Code::ExpM1, {0.7L}},
    {Code::Log, {0.7L}},
    {Code::Log2, {0.7L}},
    {Code::Log10, {0.7L}},
    {Code::Log1p, {0.7L}},
    {Code::Sqrt, {0.7L}},
    {Code::Rsqrt, {0.7L}},
    {Code::Cbrt, {0.7L}},
    {Code::Abs, {-0.7L}},
    {Code::Sigmoid, {-0.7L}},
    {Code::Softplus, {-0.7L}},
    {Code::Tanh, {0.7L}},
    {Code::Sinh, {0.7L}},
    {Code::Cosh, {0.7L}},
    {Code::Sin, {0.7L}},
    {Code::Cos, {0.7L}},
    {Code::Tan, {0.7L}},
    {Code::Asin, {0.7L}},
    {Code::Acos, {0.7L}},
    {Code::Atan, {0.7L}},
    {Code::Erf, {0.7L}},
    {Code::Erfc, {0.7L}},
    {Code::Power, {0.7L, 1.4L}},
    {Code::Atan2, {0.7L, -0.4L}},
    {Code::CopySign, {0.7L, -0.4L}},
    {Code::Floor, {0.7L}},
    {Code::Ceil, {0.7L}},
    {Code::Round, {0.7L}},
    {Code::RoundEven, {0.7L}},
    {Code::Truncate, {0.7L}},
    {Code::Less, {0.7L, -0.4L}},
};

TEST(ScalarFunctions, DerivativesAreThoseOfDifferences) {
  constexpr Real kStep = 1e-6L;
  for (const Case &test : kCases) {
    Real partials[3];
    differentiateScalar(test.code, TieRule::Half, test.x, evaluateScalar(test.code, test.x), partials);
    for (int i = 0; i < arityOf(test.code); ++i) {
      if (test.code == Code::Select && i == 0)
        continue;
      Real above[3] = {test.x[0], test.x[1], test.x[2]}, below[3] = {test.x[0], test.x[1], test.x[2]};
      above[i] += kStep;
      below[i] -= kStep;
      Real expected = (evaluateScalar(test.code, above) - evaluateScalar(test.code, below)) / (2 * kStep);
      EXPECT_NEAR(static_cast<double>(partials[i]), static_cast<double>(expected), 1e-10)
          << "function " << static_cast<int>(test.code) << ", operand " << i;
    }
  }
}

// A rounded value gives torch's derivative; an exact one gives all digits.
TEST(ScalarFunctions, DerivativesOfSaturatedFunctions) {
  struct Saturated {
    Code code;
    Real x, derivative;
    Real (*ofValue)(Real y);
  };
  for (const Saturated &test : {
           Saturated{Code::Sigmoid, 60, std::exp(-60.0L), [](Real y) { return y * (1 - y); }},
           Saturated{Code::Sigmoid, 9, 1 / (2 + std::exp(9.0L) + std::exp(-9.0L)),
                     [](Real y) { return y * (1 - y); }},
           Saturated{Code::Tanh, 30, 4 * std::exp(-60.0L), [](Real y) { return 1 - y * y; }},
           Saturated{Code::ExpM1, -60, std::exp(-60.0L), [](Real y) { return 1 + y; }},
       }) {
    Real x[3] = {test.x, 0, 0}, partials[3], y = evaluateScalar(test.code, x);
    differentiateScalar(test.code, TieRule::Half, x, y, partials);
    EXPECT_NEAR(static_cast<double>(partials[0] / test.derivative), 1, 1e-15);
    y = Rounding(12)(y);
    differentiateScalar(test.code, TieRule::Half, x, y, partials);
    EXPECT_NEAR(static_cast<double>(partials[0] - test.ofValue(y)), 0, 1e-18);
  }
  Real x[3] = {20000, 0, 0}, partials[3];
  differentiateScalar(Code::ExpM1, TieRule::Half, x, evaluateScalar(Code::ExpM1, x), partials);
  EXPECT_TRUE(std::isinf(partials[0]));
}

TEST(ScalarFunctions, StopHasNoDerivative) {
  Real x[3] = {0.7L, 0, 0}, partials[3];
  differentiateScalar(Code::Stop, TieRule::Half, x, x[0], partials);
  EXPECT_EQ(partials[0], 0);
}

TEST(ScalarFunctions, PowersOfZero) {
  Real x[3] = {0, 0, 0}, partials[3];
  EXPECT_EQ(evaluateScalar(Code::Power, x), 1);
  differentiateScalar(Code::Power, TieRule::Half, x, 1, partials);
  EXPECT_EQ(partials[0], 0);
  EXPECT_EQ(partials[1], 0);
}

TEST(Rounding, DrawsOneOfTheTwoNumbersBesideWithTheNumberAsMean) {
  Rounding nearest(8);
  Real squares = 0, squaresOfDraws = 0;
  for (Real x : {1.0014L, -1.9951L, 3.3e-4700L, -7.77e4900L, 1.0L / 3}) {
    Real place = std::ldexp(1.0L, std::ilogb(x) - 7), below = std::floor(x / place) * place, sum = 0;
    constexpr int kDraws = 4000;
    for (int draw = 1; draw <= kDraws; ++draw) {
      Rounding rounding(8, draw);
      Real drawn = rounding(x);
      ASSERT_TRUE(drawn == below || drawn == below + place) << static_cast<double>(x);
      EXPECT_EQ(rounding(-x), -drawn);
      sum += (drawn - x) / place;
    }
    EXPECT_NEAR(sum / kDraws, 0, 0.03);
  }
  for (int i = 1; i <= 4000; ++i) {
    Real x = 1 + std::fmod(i * 0.61803398874989L, 1.0L), drawn = Rounding(8, 5)(x);
    squares += (nearest(x) - x) * (nearest(x) - x);
    squaresOfDraws += (drawn - x) * (drawn - x);
  }
  EXPECT_NEAR(squaresOfDraws / squares, kSquareOfDraw, 0.1);
}

TEST(Rounding, DrawsKeepWhatNeedsNoRounding) {
  Real infinity = std::numeric_limits<Real>::infinity();
  for (int draw = 1; draw < 100; ++draw) {
    Rounding rounding(8, draw);
    for (Real x : {0.0L, 1.0L, -255.0L, 0x1.fep-9000L, infinity, -infinity})
      EXPECT_EQ(rounding(x), x);
    EXPECT_TRUE(std::isnan(rounding(NAN)));
  }
}

TEST(Rounding, KeepsTheMantissaAndNotTheExponent) {
  Rounding f32(24), bf16(8), exact;
  EXPECT_EQ(f32(0.1L), static_cast<Real>(0.1f));
  EXPECT_EQ(f32(-1.0L / 3), static_cast<Real>(-1.0f / 3));
  EXPECT_EQ(bf16(1.00390625L + 1e-9L), 1.0078125L);
  EXPECT_EQ(bf16(257.2L), 258.0L);
  EXPECT_EQ(exact(0.1L), 0.1L);
  EXPECT_EQ(f32(std::ldexp(1.0L, 9000)), std::ldexp(1.0L, 9000));
  EXPECT_TRUE(std::isinf(f32(std::numeric_limits<Real>::infinity())));
  EXPECT_TRUE(std::isnan(f32(std::numeric_limits<Real>::quiet_NaN())));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reverse mode of the evaluator against central differences of its forward, for every operation on
// arrays.
#include "test/reference/Fixture.h"

using namespace taylor;
using namespace taylor::test;

namespace {

struct Case {
  const char *name;
  const char *text;
};

const Case kCases[] = {
    {"MapBroadcast", R"(
taylor.spec @f(%a: !row, %x: !o, %v: !head from parameter(ones)) {
  %o = taylor.map sigmoid(%a) * %x * %v + exp(%x) / (2.0 + t) : !row, !o, !head
  taylor.yield %o : !o
})"},
    {"MapGroup", R"(
taylor.spec @f(%i: !taylor.array<[b, h, u]>, %v: !v) {
  %o = taylor.map sigmoid(%i) * silu(%v) : !taylor.array<[b, h, u]>, !v
  taylor.yield %o : !taylor.array<[b, h, u, e]>
})"},
    {"MapCallsOfFormulas", R"(
taylor.spec @f(%x: !row) {
  %o = taylor.map tanh(%x) + relu(%x) * elu(%x) + softplus(%x) - abs(%x) + log1p(exp(%x)) + sqrt(2.0 + %x)
                + rsqrt(2.0 + %x) + pow(2.0 + %x, 1.5) + min(%x, 0.3) + max(%x, stop(%x) - 0.1) + sin(%x) * cos(%x)
                + expm1(%x) + select(%x < 0.2, %x * %x, log(3.0 + %x)) : !row
  taylor.yield %o : !row
})"},
    {"ReduceSumAndMean", R"(
taylor.spec @f(%x: !o, %y: !row) {
  %s = taylor.reduce sum over(e) %x * %x * %y : !o, !row
  %m = taylor.reduce mean over(h, e) exp(%x) : !o
  taylor.yield %s, %m : !row, !taylor.array<[b, t]>
})"},
    {"ReduceMax", R"(
taylor.spec @f(%x: !o) {
  %m = taylor.reduce max over(e) %x * 2.0 : !o
  taylor.yield %m : !row
})"},
    {"ReduceGroup", R"(
taylor.spec @f(%x: !o) {
  %m = taylor.reduce sum over(group) %x * %x : !o
  taylor.yield %m : !taylor.array<[b, g, t, e]>
})"},
    {"ScanSum", R"(
taylor.spec @f(%x: !col) {
  %i = taylor.scan sum over(u) %x * %x : !col
  %e = taylor.scan sum exclusive over(u) %x / 3.0 : !col
  %r = taylor.scan sum reverse over(u) %x : !col
  %x4 = taylor.scan sum exclusive reverse over(u) exp(%x) : !col
  %d = taylor.map select(u < 2.0, 0.0, 1.0) -> !taylor.array<[u]>
  %x5 = taylor.scan sum over(u) within(%d : !taylor.array<[u]>) exp(%x) : !col
  %x6 = taylor.scan shift(1) over(u) within(%d : !taylor.array<[u]>) %x * %x : !col
  taylor.yield %i, %e, %r, %x4, %x5, %x6 : !col, !col, !col, !col, !col, !col
})"},
    {"ScanMax", R"(
taylor.spec @f(%x: !col) {
  %i = taylor.scan max over(u) %x * %x : !col
  %e = taylor.scan max exclusive over(u) %x / 3.0 : !col
  %f = taylor.map select(-1000.0 < %e, %e, 0.0) : !col
  %r = taylor.scan max reverse over(u) %x : !col
  taylor.yield %i, %f, %r : !col, !col, !col
})"},
    {"ScanShift", R"(
taylor.spec @f(%x: !v) {
  %i = taylor.scan shift(2) over(u) %x * %x : !v
  %r = taylor.scan shift(1) reverse over(u) %x : !v
  taylor.yield %i, %r : !v, !v
})"},
    {"Align", R"(
taylor.spec @f(%x: !v, %y: !row) {
  %i = taylor.align %x to t : !v
  %r = taylor.align %y to u : !row
  taylor.yield %i, %r : !taylor.array<[b, g, t, e]>, !taylor.array<[b, h, u]>
})"},
    {"NormalizeL2", R"(
taylor.spec @f(%x: !o) {
  %o = taylor.normalize l2 %x epsilon(1.0e-12) : !o
  %c = taylor.normalize l2 %x epsilon(5.0) : !o
  %h = taylor.normalize l2 over(h) %x epsilon(1.0e-12) : !o
  taylor.yield %o, %c, %h : !o, !o, !o
})"},
    {"NormalizeRms", R"(
taylor.spec @f(%x: !o, %w: !channel from parameter(ones)) {
  %o = taylor.normalize rms %x weight(%w) epsilon(1.0e-2) : !o, !channel
  taylor.yield %o : !o
})"},
    {"NormalizeLayer", R"(
taylor.spec @f(%x: !o, %w: !channel from parameter(ones), %c: !channel from parameter(zeros)) {
  %o = taylor.normalize layer %x weight(%w) bias(%c) epsilon(1.0e-2) : !o, !channel, !channel
  taylor.yield %o : !o
})"},
    {"RopeHalf", R"(
taylor.spec @f(%q: !q, %k: !k) {
  %o = taylor.rope %q : !q
  %i = taylor.map 0.5 * u * u -> !taylor.array<[b, u]>
  %k1 = taylor.rope %k at %i : !k, !taylor.array<[b, u]>
  %p = taylor.rope %k1 theta(100.0) layout(interleaved) offset(3) : !k
  taylor.yield %o, %p : !q, !k
})"},
    {"Convolve", R"(
taylor.spec @f(%q: !q, %w: !taylor.array<[h, d, j = 3]> from parameter(ones), %k: !k, %c: !taylor.array<[i = 2]> from parameter(ones)) {
  %o = taylor.convolve %q, %w : !q, !taylor.array<[h, d, j = 3]>
  %n = taylor.map select(u < 2.0, 0.0, 1.0) -> !taylor.array<[u]>
  %k1 = taylor.convolve %k, %c within(%n : !taylor.array<[u]>) : !k, !taylor.array<[i = 2]>
  %p = taylor.convolve %k1, %c reverse : !k, !taylor.array<[i = 2]>
  taylor.yield %o, %p : !q, !k
})"},
    {"GatedSum", R"(
taylor.spec @f(%q: !q, %a: !q, %k: !k, %c: !taylor.array<[g, d]> from parameter(ones)) {
  %o = taylor.gated_sum %q, %a : !q, !q
  %n = taylor.map select(u < 2.0, 0.0, 1.0) -> !taylor.array<[u]>
  %k1 = taylor.gated_sum %k, %c within(%n : !taylor.array<[u]>) : !k, !taylor.array<[g, d]>
  %p = taylor.gated_sum %k1, %k reverse : !k, !k
  taylor.yield %o, %p : !q, !k
})"},
    {"RecurrencesExponential", R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %n, %z, %c = taylor.recurrences [numerator, mass, count] %q, %k, %v exponential score(min(s, 0.4)) causal : !q, !k, !v
  %o = taylor.map %n / (%z + %c) : !o, !row, !row
  taylor.yield %o : !o
})"},
    {"RecurrencesSeries", R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v) parameters(order : index = 3) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(1 to order) scale(rsqrt(size(d))) bidirectional : !q, !k, !v
  %m = taylor.recurrences %q, %k, %v orders(0 to 2) coefficients(0.5, -1.0, 0.25) causal : !q, !k, !v
  taylor.yield %n, %z, %m : !o, !row, !o
})"},
    {"RecurrencesWeightWithBias", R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v, %m: !head from parameter(ones), %r: !row, %c: !taylor.array<[b, h, u]>) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v weight(sigmoid(s - log(size(u))) * %c)
           score(s * %r - %m * (t - u)) scale(0.5) causal visible(t - u < 3.0) : !q, !k, !v, !taylor.array<[b, h, u]>, !row, !head
  taylor.yield %n, %z : !o, !row
})"},
    {"RecurrencesDecay", R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v, %l: !col) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential decay(%l) causal : !q, !k, !v, !col
  taylor.yield %n, %z : !o, !row
})"},
    {"RecurrenceWithState", R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v, %s: !taylor.array<[b, g, e, f = 16]> from input) {
  %n, %z, %h = taylor.recurrence [numerator, mass, state] %q, %k, %v order(2) coefficient(0.5) scale(0.5) state(%s) causal
               : !q, !k, !v, !taylor.array<[b, g, e, f = 16]>
  taylor.yield %n, %z, %h : !o, !row, !taylor.array<[b, g, e, f]>
})"},
    {"RecurrenceDecay", R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v, %l: !col) {
  %n, %z = taylor.recurrence [numerator, mass] %q, %k, %v order(3) coefficient(2.0) decay(%l) causal : !q, !k, !v, !col
  taylor.yield %n, %z : !o, !row
})"},
    {"PairwiseAllOutputs", R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v, %r: !row, %c: !col, %h: !head from parameter(ones), %a: !o) {
  %y, %z, %w, %x, %p, %g = taylor.pairwise {
      s = dot(%q, %k)  i = dot(%a, %v)  w = exp(0.3 * tanh(s) + %r - %c)  y = w * %h + i * i
    } visible(u <= t, t - u < 3.0) -> rows(w, %v), rows(y), columns(y, %q), columns(w), total(y), total(w * s)
    : !q, !k, !o, !v, !row, !col, !head -> !o, !row, !k, !col, !head, !taylor.array<[b]>
  taylor.yield %y, %z, %w, %x, %p, %g : !o, !row, !k, !col, !head, !taylor.array<[b]>
})"},
};

void PrintTo(const Case &test, std::ostream *stream) { *stream << test.name; }

class Gradient : public testing::TestWithParam<Case> {};

TEST_P(Gradient, IsThatOfDifferences) {
  Program program(GetParam().text);
  ASSERT_TRUE(program.isValid());
  program.environment.parameters["order"] = 3;
  program.environment.sizes[AxisRole::Feature] = 16;
  program.fillInputs();
  std::vector<Array> cotangents = program.cotangents();
  auto loss = [&] {
    Real sum = 0;
    std::vector<Array> results = program.evaluate();
    for (size_t r = 0; r < results.size(); ++r)
      for (size_t i = 0; i < results[r].values.size(); ++i)
        sum += results[r].values[i] * cotangents[r].values[i];
    return sum;
  };
  std::vector<Array> gradients = program.gradients(cotangents);
  constexpr Real kStep = 1e-5L;
  for (size_t a = 0; a < program.inputs.size(); ++a) {
    Real largest = 0;
    for (size_t i = 0; i < program.inputs[a].values.size(); i += 1 + program.inputs[a].values.size() / 24) {
      Real &value = program.inputs[a].values[i], saved = value;
      value = saved + kStep;
      Real above = loss();
      value = saved - kStep;
      Real below = loss();
      value = saved;
      Real expected = (above - below) / (2 * kStep), actual = gradients[a].values[i];
      EXPECT_NEAR(static_cast<double>(actual), static_cast<double>(expected),
                  1e-7 * (1 + std::fabs(expected)))
          << "argument " << a << ", element " << i;
      largest = std::max(largest, std::fabs(actual));
    }
    EXPECT_GT(largest, 0) << "argument " << a << " has no gradient at all";
  }
}

INSTANTIATE_TEST_SUITE_P(Operations, Gradient, testing::ValuesIn(kCases),
                         [](const testing::TestParamInfo<Case> &info) { return info.param.name; });

//===----------------------------------------------------------------------===//
// Ties
//===----------------------------------------------------------------------===//

/// Gradient of sum of F over t at x = 0 and y = 0.
std::vector<Array> gradientAtZero(const std::string &formula) {
  bool two = formula.find("%y") != std::string::npos;
  Program program("taylor.spec @f(%x: !x, %y: !x) {\n  %o = taylor.map " + formula + " : !x" +
                  (two ? ", !x" : "") + "\n  taylor.yield %o : !x\n}");
  EXPECT_TRUE(program.isValid()) << formula;
  program.fillInputs();
  for (Array &input : program.inputs)
    std::fill(input.values.begin(), input.values.end(), Real(0));
  Array ones(program.inputs[0].shape, 1);
  return program.gradients({ones});
}

TEST(Ties, AreTorchs) {
  EXPECT_EQ(gradientAtZero("relu(%x)")[0].values[0], 0);
  EXPECT_EQ(gradientAtZero("min(%x, 0.0)")[0].values[0], 1);
  EXPECT_EQ(gradientAtZero("max(0.0, %x)")[0].values[0], 1);
  EXPECT_EQ(gradientAtZero("abs(%x)")[0].values[0], 0);
  EXPECT_EQ(gradientAtZero("stop(%x) + %x")[0].values[0], 1);
  std::vector<Array> halves = gradientAtZero("max(%x, %y)");
  EXPECT_EQ(halves[0].values[0], 0.5L);
  EXPECT_EQ(halves[1].values[0], 0.5L);
}

TEST(Ties, OfARunningMaximumGoToTheLast) {
  Program program("taylor.spec @f(%x: !col) {\n  %o = taylor.scan max over(u) %x : !col\n"
                  "  taylor.yield %o : !col\n}");
  ASSERT_TRUE(program.isValid());
  for (AxisRole axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead})
    program.environment.sizes[axis] = 1;
  program.environment.sizes[AxisRole::Key] = 5;
  program.fillInputs();
  program.inputs[0].values = {1, 3, 3, 2, 3};
  Array cotangent(program.inputs[0].shape);
  cotangent.values = {1, 10, 100, 1000, 10000};
  EXPECT_EQ(program.gradients({cotangent})[0].values, std::vector<Real>({1, 10, 1100, 0, 10000}));
}

TEST(Ties, OfAReductionShareEqually) {
  Program program("taylor.spec @f(%x: !channel from parameter(ones)) {\n"
                  "  %o = taylor.reduce max over(e) %x : !channel\n  taylor.yield %o : !taylor.array<[]>\n}");
  ASSERT_TRUE(program.isValid());
  program.environment.sizes[AxisRole::ValueChannel] = 4;
  program.fillInputs();
  program.inputs[0].values = {1, 3, 3, 2};
  Array one(Shape(), 6);
  EXPECT_EQ(program.gradients({one})[0].values, (std::vector<Real>{0, 3, 3, 0}));
}

TEST(Ties, ABranchNotTakenWithAnInfiniteDerivativeGivesNothing) {
  EXPECT_EQ(gradientAtZero("select(0.0 < %x, sqrt(%x), 2.0 * %x)")[0].values[0], 2);
}

} // namespace

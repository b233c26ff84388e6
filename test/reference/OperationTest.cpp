// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operations mean beyond single values: dead rows, states, threads, the eager mode, agreement of
// spellings.
#include "dialect/Reference/Contract.h"
#include "test/reference/Fixture.h"

using namespace taylor;
using namespace taylor::test;

namespace {

const char *const kSoftmax = R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
})";

bool allFinite(const Array &array) {
  return llvm::all_of(array.values, [](Real value) { return std::isfinite(value); });
}

TEST(DeadRows, GiveZeroAndZeroGradients) {
  Program program(kSoftmax);
  ASSERT_TRUE(program.isValid());
  program.environment.offset = -2; // queries -2, -1, 0: the first two see no key
  program.fillInputs();
  Array output = program.evaluate()[0];
  std::vector<Array> gradients = program.gradients(program.cotangents());
  EXPECT_TRUE(allFinite(output));
  for (const Array &gradient : gradients)
    EXPECT_TRUE(allFinite(gradient));
  Walk walk(output.shape, output.shape);
  forEachPoint(output.shape, [&](llvm::ArrayRef<int64_t> point) {
    if (point[2] < 2) {
      EXPECT_EQ(output.values[walk(point)], 0);
    } else {
      // One visible key: its value, whatever the score.
      int64_t key = ((point[0] * 2 + point[1] / 2) * 5 + 0) * 2 + point[3];
      EXPECT_NEAR(static_cast<double>(output.values[walk(point)]),
                  static_cast<double>(program.inputs[2].values[key]), 1e-15);
    }
  });
}

TEST(DeadRows, SpreadThroughMapsReductionsAndNorms) {
  Program program(R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %n, %c = taylor.recurrences [numerator, count] %q, %k, %v exponential causal : !q, !k, !v
  %a = taylor.map %n / %c + 7.0 : !o, !row
  %r = taylor.reduce mean over(e) %a + 1.0 : !o
  %m = taylor.reduce max over(e) -(%a * %a) : !o
  %l = taylor.normalize layer %a epsilon(1.0e-5) : !o
  %p = taylor.map %l + %r + %m + 1.0 : !o, !row, !row
  taylor.yield %p, %r, %m, %l : !o, !row, !row, !o
})");
  ASSERT_TRUE(program.isValid());
  program.environment.offset = -3; // no query sees a key
  program.fillInputs();
  for (const Array &result : program.evaluate())
    for (Real value : result.values)
      EXPECT_EQ(value, 0);
  for (const Array &gradient : program.gradients(program.cotangents()))
    for (Real value : gradient.values)
      EXPECT_EQ(value, 0);
}

// Sums of the query's own key and of those before it, of which the first query sees none.
TEST(EmptySums, LeaveTheOtherPart) {
  Program program(R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(u == t) : !q, !k, !v
  %m, %y = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal visible(u < t) : !q, !k, !v
  %a = taylor.map %n / %z : !o, !row
  %joint = taylor.map (%n + %m) / (%z + %y) : !o, !o, !row, !row
  %difference = taylor.map %n / %z - 0.5 * %m / %y : !o, !row, !o, !row
  %function = taylor.map %n / %z + exp(%m / %y) : !o, !row, !o, !row
  %numbers = taylor.map (%n + %m) / (1.0 + %y + %z) : !o, !o, !row, !row
  %chosen = taylor.map select(0.0 < %y, %m, %n) : !row, !o, !o
  taylor.yield %a, %joint, %difference, %function, %numbers, %chosen, %n, %z : !o, !o, !o, !o, !o, !o, !o, !row
})");
  ASSERT_TRUE(program.isValid());
  program.environment.offset = 0; // query 0 stands at key 0
  program.fillInputs();
  std::vector<Array> results = program.evaluate();
  for (const Array &gradient : program.gradients(program.cotangents()))
    EXPECT_TRUE(allFinite(gradient));
  const Array &a = results[0], &n = results[6], &z = results[7];
  Walk at(a.shape, a.shape), atRow(z.shape, a.shape);
  forEachPoint(a.shape, [&](llvm::ArrayRef<int64_t> point) {
    if (point[2] != 0)
      return;
    Real own = a.values[at(point)], numerator = n.values[at(point)];
    EXPECT_EQ(results[1].values[at(point)], own);
    EXPECT_EQ(results[2].values[at(point)], own);
    EXPECT_EQ(results[3].values[at(point)], own);
    EXPECT_EQ(results[4].values[at(point)], numerator / (1 + z.values[atRow(point)]));
    EXPECT_EQ(results[5].values[at(point)], numerator);
  });
}

TEST(NotANumber, IsHandedOn) {
  Program program(R"(
taylor.spec @f(%x: !x) {
  %relu = taylor.map relu(%x) : !x
  %elu = taylor.map elu(%x) : !x
  %low = taylor.map max(0.0, %x) : !x
  %high = taylor.map min(%x, 1.0) : !x
  %both = taylor.map max(%x * 0.0, %x) : !x
  taylor.yield %relu, %elu, %low, %high, %both : !x, !x, !x, !x, !x
})");
  ASSERT_TRUE(program.isValid());
  program.fillInputs();
  std::fill(program.inputs[0].values.begin(), program.inputs[0].values.end(),
            std::numeric_limits<Real>::quiet_NaN());
  for (const Array &result : program.evaluate())
    EXPECT_TRUE(std::isnan(result.values[0]));
  Program reduced(R"(
taylor.spec @f(%q: !q) {
  %m = taylor.reduce max over(d) %q : !q
  taylor.yield %m : !row
})");
  ASSERT_TRUE(reduced.isValid());
  reduced.fillInputs();
  int64_t channels = reduced.environment.sizeOf(AxisRole::Channel);
  for (int64_t row : {0, 1}) { // the first term of a row, and the last of another
    int64_t element = row * (2 * channels - 1);
    reduced.inputs[0].values[element] = std::numeric_limits<Real>::quiet_NaN();
    EXPECT_TRUE(std::isnan(reduced.evaluate()[0].values[row]));
    EXPECT_TRUE(std::isnan(reduced.gradients(reduced.cotangents())[0].values[element]));
  }
}

TEST(DeadRows, OfAFunctionAreOnlyWhatLiveSays) {
  Program program(R"(
taylor.function @f.forward of @f("input:a" %a: !row, "input:n" %n: !row) {
  %guarded = taylor.map 1.0 / %a live(%n) : !row, !row
  %plain = taylor.map 1.0 / %a : !row
  taylor.yield "output:guarded" %guarded, "output:plain" %plain : !row, !row
})");
  ASSERT_TRUE(program.isValid());
  program.fillInputs();
  std::fill(program.inputs[0].values.begin(), program.inputs[0].values.end(), Real(0));
  std::fill(program.inputs[1].values.begin(), program.inputs[1].values.end(), Real(0));
  std::vector<Array> results = program.evaluate();
  EXPECT_EQ(results[0].values[0], 0);
  EXPECT_TRUE(std::isinf(results[1].values[0]));
}

TEST(Threads, ChangeNoBit) {
  Program program(kSoftmax);
  ASSERT_TRUE(program.isValid());
  program.fillInputs();
  for (RoundingRules arithmetic : {RoundingRules::exact(), RoundingRules::eager(Dtype::F32)}) {
    program.environment.arithmetic = arithmetic;
    program.environment.threads = 1;
    std::vector<Array> one = program.gradients(program.cotangents());
    program.environment.threads = 3;
    std::vector<Array> three = program.gradients(program.cotangents());
    for (size_t i = 0; i < one.size(); ++i)
      EXPECT_EQ(one[i].values, three[i].values);
  }
}

TEST(Eager, RoundsEveryResult) {
  Program program(R"(
taylor.spec @f(%x: !x) {
  %o = taylor.map (%x + 1.0) * 3.0 : !x
  taylor.yield %o : !x
})");
  ASSERT_TRUE(program.isValid());
  program.fillInputs();
  program.inputs[0].values = {0.3L, 0.00390625L, 100.0L};
  program.environment.arithmetic = RoundingRules::eager(Dtype::BF16);
  // 1.3 -> 1.296875, times 3 = 3.890625 -> 3.890625; 1.00390625 -> 1; 101 * 3 = 303 -> 304 (spacing 2, ties
  // to even).
  EXPECT_EQ(program.evaluate()[0].values, (std::vector<Real>{3.890625L, 3, 304}));
}

TEST(Eager, ErrsByTheStorageTypesEpsilon) {
  Program program(kSoftmax);
  ASSERT_TRUE(program.isValid());
  program.fillInputs();
  std::vector<Array> cotangents = program.cotangents(), exact = program.gradients(cotangents);
  for (Dtype dtype : {Dtype::F32, Dtype::BF16, Dtype::F16, Dtype::F64}) {
    program.environment.arithmetic = RoundingRules::eager(dtype);
    std::vector<Array> rounded = program.gradients(cotangents);
    for (size_t i = 0; i < exact.size(); ++i) {
      std::vector<Real> zero(exact[i].values.size(), 0);
      Real relative = distance(rounded[i].values, exact[i].values) / distance(exact[i].values, zero);
      EXPECT_GT(relative, epsilonOf(dtype) / 20);
      EXPECT_LT(relative, epsilonOf(dtype) * 20);
    }
  }
}

TEST(Eager, RoundsOperandsOfProductsToTF32AndNothingElse) {
  // One key: N = s v with s = <q, k>, Z = s; d = 1, e = 1.
  Program program(R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrence [numerator, mass] %q, %k, %v order(1) coefficient(1.0) scale(1.0) causal : !q, !k, !v
  taylor.yield %n, %z : !o, !row
})");
  ASSERT_TRUE(program.isValid());
  program.environment.sizes = {{"b", 1}, {"h", 1}, {"g", 1}, {"t", 1}, {"u", 1}, {"d", 1}, {"e", 1}};
  program.environment.offset = 0;
  program.fillInputs();
  const Real low = 0x1p-11L, lost = 0x1p-13L;
  program.inputs[0].values = {1 + low + lost}; // 1 + 2^-10 in tf32
  program.inputs[1].values = {1 + lost};       // 1
  program.inputs[2].values = {3 + lost};       // 3
  program.environment.arithmetic = RoundingRules::eager(Dtype::F32, /*tf32Products=*/true);
  std::vector<Array> results = program.evaluate();
  Real weight = 1 + 2 * low;
  EXPECT_EQ(results[0].values[0], weight * 3);
  EXPECT_EQ(results[1].values[0], weight);
  // dq = <dN, v> k, and <dZ> k: each operand rounded, their sum in f32.
  std::vector<Array> cotangents = program.cotangents();
  cotangents[0].values = {1 + lost};
  cotangents[1].values = {lost};
  std::vector<Array> gradients = program.gradients(cotangents);
  EXPECT_EQ(gradients[0].values[0], 3);
  EXPECT_EQ(gradients[2].values[0], weight);
}

TEST(Eager, LeavesPositionsAndCountsExact) {
  Program program(R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %c = taylor.recurrences [count] %q, %k, %v exponential causal : !q, !k, !v
  %p = taylor.map t * 2.0 + 1.0 -> !x
  taylor.yield %c, %p : !row, !x
})");
  ASSERT_TRUE(program.isValid());
  program.environment.sizes[AxisRole::Query] = 3;
  program.environment.sizes[AxisRole::Key] = 1003;
  program.environment.offset = 1000;
  program.environment.arithmetic = RoundingRules::eager(Dtype::BF16);
  program.fillInputs();
  std::vector<Array> results = program.evaluate();
  EXPECT_EQ(results[0].values[0], 1001);
  EXPECT_EQ(results[1].values, (std::vector<Real>{2001, 2003, 2005}));
}

/// Numerators of a recurrence over all five keys, and over the first two and the last three with a carried
/// state.
TEST(State, OfASplitSequenceEqualsTheWhole) {
  for (int order : {0, 1, 2, 3}) {
    std::string number = std::to_string(order);
    int64_t features = order == 0 ? 1 : order == 1 ? 4 : order == 2 ? 16 : 64;
    std::string state = "!taylor.array<[b, g, e, f = " + std::to_string(features) + "]>";
    std::string clauses = " order(" + number + ") coefficient(0.5) scale(0.7)";
    Program whole("taylor.spec @f(%q: !q, %k: !k, %v: !v) {\n  %n, %s = taylor.recurrence [numerator, state] "
                  "%q, %k, %v" +
                  clauses +
                  " causal : !q, !k, !v\n  taylor.yield %n, %s : !o, !taylor.array<[b, g, e, f]>\n}");
    Program first("taylor.spec @f(%k: !k, %v: !v, %q: !q) {\n  %s = taylor.recurrence [state] %q, %k, %v" +
                  clauses + " causal : !q, !k, !v\n  taylor.yield %s : !taylor.array<[b, g, e, f]>\n}");
    Program second("taylor.spec @f(%q: !q, %k: !k, %v: !v, %s: " + state +
                   " from input) {\n  %n, %r = taylor.recurrence [numerator, state] %q, %k, %v" + clauses +
                   " state(%s) causal : !q, !k, !v, " + state +
                   "\n  taylor.yield %n, %r : !o, !taylor.array<[b, g, e, f]>\n}");
    ASSERT_TRUE(whole.isValid() && first.isValid() && second.isValid());
    whole.environment.sizes[AxisRole::Feature] = features;
    whole.fillInputs();
    std::vector<Array> cotangents = whole.cotangents(), expected = whole.evaluate();
    std::vector<Array> gradients = whole.gradients(cotangents);

    // Tokens [begin, end) of a [2, 2, 5, channels] array.
    auto slice = [](const Array &array, int64_t begin, int64_t end) {
      Array part(array.shape);
      part.shape.sizes[2] = end - begin;
      part.values.clear();
      int64_t line = array.shape.sizes[3];
      for (int64_t head = 0; head < 4; ++head)
        part.values.insert(part.values.end(), array.values.begin() + (head * 5 + begin) * line,
                           array.values.begin() + (head * 5 + end) * line);
      return part;
    };
    const Array &k = whole.inputs[1], &v = whole.inputs[2];
    first.environment.sizes[AxisRole::Key] = 2;
    first.environment.sizes[AxisRole::Feature] = features;
    first.inputs = {slice(k, 0, 2), slice(v, 0, 2), whole.inputs[0]};
    Array carried = first.evaluate()[0];
    second.environment.sizes[AxisRole::Key] = 3;
    second.environment.sizes[AxisRole::Feature] = features;
    second.environment.offset = 0;
    second.inputs = {whole.inputs[0], slice(k, 2, 5), slice(v, 2, 5), carried};
    second.inputs[3].shape.sizes[3] = features;
    std::vector<Array> pieces = second.evaluate();
    for (size_t i = 0; i < 2; ++i)
      EXPECT_LT(distance(pieces[i].values, expected[i].values), 1e-16L) << "order " << order;

    std::vector<Array> ofSecond = second.gradients(cotangents), ofFirst = first.gradients({ofSecond[3]});
    EXPECT_LT(distance(ofSecond[0].values, gradients[0].values), 1e-15L) << "order " << order;
    for (size_t i = 1; i < 3; ++i) {
      EXPECT_LT(distance(ofSecond[i].values, slice(gradients[i], 2, 5).values), 1e-15L) << "order " << order;
      EXPECT_LT(distance(ofFirst[i - 1].values, slice(gradients[i], 0, 2).values), 1e-15L)
          << "order " << order;
    }
  }
}

TEST(Spellings, OfOneAttentionAgree) {
  const char *const kPairwise = R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %n, %z, %m = taylor.pairwise { s = dot(%q, %k)  x = s * 0.5  m = maximum(x)  w = exp(x - m) } visible(u <= t)
               -> rows(w, %v), rows(w), maximum : !q, !k, !v -> !o, !row, !row
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
})";
  const char *const kOrders = R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v orders(0 to 40) scale(rsqrt(size(d))) causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
})";
  Program softmax(kSoftmax), pairwise(kPairwise), orders(kOrders);
  std::vector<Array> expected;
  for (Program *program : {&softmax, &pairwise, &orders}) {
    ASSERT_TRUE(program->isValid());
    program->fillInputs();
    std::vector<Array> gradients = program->gradients(program->cotangents());
    gradients.push_back(program->evaluate()[0]);
    if (expected.empty())
      expected = gradients;
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_LT(distance(gradients[i].values, expected[i].values), 1e-16L);
  }
}

TEST(WideExponent, NeedsNoStabilisation) {
  Program program(kSoftmax);
  ASSERT_TRUE(program.isValid());
  program.fillInputs();
  for (Real &value : program.inputs[0].values)
    value *= 2000;
  EXPECT_TRUE(allFinite(program.evaluate()[0]));
  for (const Array &gradient : program.gradients(program.cotangents()))
    EXPECT_TRUE(allFinite(gradient));
}

TEST(Sizes, ThatDisagreeNameTheArgument) {
  Program program(kSoftmax);
  ASSERT_TRUE(program.isValid());
  program.fillInputs();
  program.inputs[2].shape.sizes[2] = 6;
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&program.context, [&](mlir::Diagnostic &diagnostic) {
    message = diagnostic.str();
    return mlir::success();
  });
  EXPECT_TRUE(failed(bindSizes(program.container, program.inputs, program.environment)));
  EXPECT_EQ(message, "'taylor.spec' op expected u = 5 of 'v', but got 6");
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sums through states: which pairs they are, and how eager code rounds them.
#include "dialect/Reference/Contract.h"
#include "test/reference/Fixture.h"

using namespace taylor;
using namespace taylor::test;

namespace {

/// A series of two orders with a decay and a factor of the key, its mass and the number of its keys.
const char *const kSeries = R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v, %l: !col, %a: !col) {
  %n, %z, %c = taylor.recurrences [numerator, mass, count] %q, %k, %v weight((1.0 + s * s) * exp(%a)) decay(%l) causal : !q, !k, !v, !col, !col
  taylor.yield %n, %z, %c : !o, !row, !row
})";
const char *const kOrder = R"(
taylor.spec @f(%q: !q, %k: !k, %v: !v) {
  %n, %z = taylor.recurrence [numerator, mass] %q, %k, %v order(2) coefficient(0.5) scale(0.7) causal : !q, !k, !v
  taylor.yield %n, %z : !o, !row
})";

std::string sumOf(const std::string &clauses) {
  return "taylor.spec @f(%q: !q, %k: !k, %v: !v) {\n  %n = taylor.recurrences %q, %k, %v " + clauses +
         " : !q, !k, !v\n  taylor.yield %n : !o\n}";
}

void useTokens(Program &program, int64_t queries, int64_t keys) {
  program.environment.sizes[AxisRole::Query] = queries;
  program.environment.sizes[AxisRole::Key] = keys;
  program.environment.offset = keys - queries;
  program.fillInputs();
}

void useForms(Program &program, const StatesForm &forward, const StatesForm &backward) {
  program.environment.forward = forward;
  program.environment.backward = backward;
}

using Bits = std::vector<std::vector<Real>>;
Bits bitsOf(llvm::ArrayRef<Array> arrays) {
  Bits bits;
  for (const Array &array : arrays)
    bits.push_back(array.values);
  return bits;
}

TEST(StatesForm, PairsAreOfOneChunkOfOneCall) {
  auto pairsOf = [](const StatesForm &form, int64_t t) {
    std::vector<int64_t> keys;
    for (int64_t key = -3; key < 9; ++key)
      if (form.isPair(t, key))
        keys.push_back(key);
    return keys;
  };
  using Keys = std::vector<int64_t>;
  EXPECT_EQ(pairsOf({3, {}}, 4), (Keys{3, 4, 5}));
  EXPECT_EQ(pairsOf({1, {}}, 4), Keys());
  EXPECT_EQ(pairsOf({0, {2, 6}}, 4), (Keys{2, 3, 4, 5}));
  EXPECT_EQ(pairsOf({3, {2, 6}}, 5), Keys{5});
  EXPECT_EQ(pairsOf({3, {2, 6}}, 8), (Keys{6, 7, 8}));
}

TEST(StatesForm, ChangesNoExactSum) {
  for (const char *text : {kSeries, kOrder})
    for (auto [queries, keys] : {std::pair(7, 7), std::pair(5, 8)})
      for (const StatesForm &form :
           {StatesForm{2, {}}, StatesForm{1, {}}, StatesForm{0, {3}}, StatesForm{2, {3}}}) {
        Program program(text);
        ASSERT_TRUE(program.isValid());
        useTokens(program, queries, keys);
        std::vector<Array> cotangents = program.cotangents(), expected = program.evaluate();
        llvm::append_range(expected, program.gradients(cotangents));
        useForms(program, form, form);
        std::vector<Array> found = program.evaluate();
        llvm::append_range(found, program.gradients(cotangents));
        ASSERT_EQ(found.size(), expected.size());
        for (auto [a, b] : llvm::zip_equal(found, expected))
          EXPECT_LT(distance(a.values, b.values), 1e-16);
      }
}

TEST(StatesForm, RoundsWhatIsReadOnce) {
  // One channel, five equal keys, and values of 1: the last query has five weights of query * key.
  Program program(sumOf("orders(1 to 1) causal"));
  ASSERT_TRUE(program.isValid());
  program.environment.sizes = {{"b", 1}, {"h", 1}, {"g", 1}, {"d", 1}, {"e", 1}};
  useTokens(program, 5, 5);
  const Real query = 1.4453125L, key = 1.0078125L;
  program.inputs[0].values = std::vector<Real>(5, query);
  program.inputs[1].values = std::vector<Real>(5, key);
  program.inputs[2].values = std::vector<Real>(5, 1);
  program.environment.arithmetic = RoundingRules::eager(Dtype::BF16);
  const Rounding bf16(8);
  const Real weight = query * key, ofPairs = bf16(5 * bf16(weight)), ofState = bf16(5 * weight);
  ASSERT_NE(ofPairs, ofState);
  EXPECT_EQ(program.evaluate()[0].values[4], ofPairs);
  useForms(program, {1, {}}, {1, {}});
  EXPECT_EQ(program.evaluate()[0].values[4], ofState);
  // In calls of four tokens and one the last key is a pair.
  useForms(program, {0, {4}}, {0, {4}});
  EXPECT_EQ(program.evaluate()[0].values[4], bf16(bf16(4 * weight) + bf16(weight)));
}

TEST(StatesForm, LeavesCountsExact) {
  Program program(kSeries);
  ASSERT_TRUE(program.isValid());
  useTokens(program, 3, 1003);
  program.environment.arithmetic = RoundingRules::eager(Dtype::BF16);
  useForms(program, {2, {}}, {2, {}});
  EXPECT_EQ(program.evaluate()[2].values[0], 1001);
}

TEST(StatesForm, OfOutputsAndOfGradientsAreApart) {
  Program program(sumOf("orders(0 to 2) causal"));
  ASSERT_TRUE(program.isValid());
  useTokens(program, 9, 9);
  program.environment.arithmetic = RoundingRules::eager(Dtype::BF16);
  auto run = [&](const StatesForm &forward, const StatesForm &backward) {
    useForms(program, forward, backward);
    return std::pair(bitsOf(program.evaluate()), bitsOf(program.gradients(program.cotangents())));
  };
  const StatesForm pairs, states = {2, {}};
  auto inPairs = run(pairs, pairs), inStates = run(states, states);
  EXPECT_NE(inPairs.first, inStates.first);
  EXPECT_NE(inPairs.second, inStates.second);
  EXPECT_EQ(run(pairs, states), std::pair(inPairs.first, inStates.second));
  EXPECT_EQ(run(states, pairs), std::pair(inStates.first, inPairs.second));
}

TEST(StatesForm, IsOfPolynomialsUnderMasksAndDocuments) {
  auto changes = [](const std::string &clauses) {
    Program program(sumOf(clauses));
    EXPECT_TRUE(program.isValid()) << clauses;
    useTokens(program, 9, 9);
    program.environment.arithmetic = RoundingRules::eager(Dtype::BF16);
    Bits pairs = bitsOf(program.evaluate());
    useForms(program, {2, {}}, {2, {}});
    return bitsOf(program.evaluate()) != pairs;
  };
  EXPECT_TRUE(changes("orders(0 to 2) causal"));
  EXPECT_TRUE(changes("orders(1 to 1) bidirectional"));
  EXPECT_TRUE(changes("orders(1 to 1) score(0.5 * s - 0.25) causal"));
  EXPECT_TRUE(changes("weight(-s * s / 3.0) causal"));
  EXPECT_TRUE(changes("weight(select(t < 5, pow(s + 1.0, 2.0), s)) causal"));
  EXPECT_FALSE(changes("weight(select(s < 5.0, s * s, s)) causal"));
  EXPECT_FALSE(changes("weight(pow(s * s, 1.5)) causal"));
  EXPECT_FALSE(changes("exponential causal"));
  EXPECT_FALSE(changes("orders(1 to 1) score(min(s, 0.5)) causal"));
  EXPECT_FALSE(changes("weight(1.0 / (2.0 + s)) causal"));
  EXPECT_FALSE(changes("weight(sigmoid(s)) causal"));
  EXPECT_FALSE(changes("orders(0 to 2) causal visible(t - u < 5)"));
}

} // namespace

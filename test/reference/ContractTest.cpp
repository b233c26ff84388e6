// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Reference/Contract.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace taylor::reference;

namespace {

using Values = std::vector<Real>;

TEST(Contract, EpsilonIsTheDistanceFromOneToTheNextNumber) {
  EXPECT_EQ(epsilonOf(Dtype::F32), std::numeric_limits<float>::epsilon());
  EXPECT_EQ(epsilonOf(Dtype::F64), std::numeric_limits<double>::epsilon());
  EXPECT_EQ(epsilonOf(Dtype::BF16), 0x1p-7L);
  EXPECT_EQ(epsilonOf(Dtype::F16), 0x1p-10L);
}

TEST(Contract, AllowsAMultipleOfTheEagerError) {
  Values reference = {3, 4}, eager = {3.2L, 4};
  Contract bf16 = {Dtype::BF16}, f32 = {Dtype::F32};
  EXPECT_TRUE(compare(Values{3, 4.219L}, reference, eager, bf16).passes);
  EXPECT_FALSE(compare(Values{3, 4.221L}, reference, eager, bf16).passes);
  Values close = {3.005L, 4};
  EXPECT_TRUE(compare(Values{3, 4.00999L}, reference, close, f32).passes);
  EXPECT_FALSE(compare(Values{3, 4.01001L}, reference, close, f32).passes);
}

TEST(Contract, AllowsFourEpsilonOfTheNorm) {
  Values reference = {3, 4};
  Contract contract = {Dtype::BF16};
  Real allowed = 4 * epsilonOf(Dtype::BF16) * 5;
  EXPECT_TRUE(compare(Values{3, 4 + allowed * 0.999L}, reference, reference, contract).passes);
  EXPECT_FALSE(compare(Values{3, 4 + allowed * 1.001L}, reference, reference, contract).passes);
}

TEST(Contract, IsStrictWithoutThem) {
  // Less than the floor is elsewhere.
  Values reference = {3, 4}, eager = {3.0001L, 4}, cancelled(16, 0);
  auto passes = [&](Contract contract, Real error, const Values &theirs) {
    contract.isStrict = true;
    return compare(Values{3, 4 + error}, reference, theirs, contract).passes;
  };
  for (Dtype dtype : {Dtype::BF16, Dtype::F16}) {
    EXPECT_TRUE(passes({dtype}, 1.0999e-4L, eager));
    EXPECT_FALSE(passes({dtype}, 1.1001e-4L, eager));
  }
  Contract split = {Dtype::BF16}, f32 = {Dtype::F32}, tf32 = {Dtype::F32};
  split.splitProducts = tf32.tf32Products = true;
  Values far = {4, 4}; // eager code's error is no matter
  for (auto [contract, allowed] :
       {std::pair(split, 1.5e-2L), std::pair(tf32, 1.5e-2L), std::pair(f32, 5e-5L)}) {
    EXPECT_TRUE(passes(contract, allowed * 0.999L, far));
    EXPECT_FALSE(passes(contract, allowed * 1.001L, far));
    contract.isStrict = true;
    Real floor = contract.cancelledPerElement * contract.getTermEpsilon();
    EXPECT_TRUE(compare(Values(16, floor * 0.999L), cancelled, cancelled, contract).passes);
    EXPECT_FALSE(compare(Values(16, floor * 1.001L), cancelled, cancelled, contract).passes);
  }
}

TEST(Contract, HasAFloorOfTF32WhereProductsRoundToIt) {
  Values reference = {3, 4}, cancelled(16, 0);
  Contract contract = {Dtype::F32};
  contract.tf32Products = true;
  Real floor = contract.cancelledPerElement * 0x1p-10L;
  EXPECT_TRUE(compare(Values(16, floor * 0.999L), cancelled, cancelled, contract).passes);
  EXPECT_FALSE(compare(Values(16, floor * 1.001L), cancelled, cancelled, contract).passes);
  // Else twice the error of eager code, as in f32.
  Values eager = {3, 4.04L};
  EXPECT_TRUE(compare(Values{3, 4.0799L}, reference, eager, contract).passes);
  EXPECT_FALSE(compare(Values{3, 4.0801L}, reference, eager, contract).passes);
}

TEST(Contract, AllowsSumsOverFeaturesWhatTheirProductsRound) {
  Values reference = {3, 4};
  // In 16 bits eager code has states too.
  Contract narrow = {Dtype::BF16};
  narrow.isStrict = narrow.statesBetweenChunks = true;
  EXPECT_EQ(narrow.getRelative(), 0);
  Contract contract = {Dtype::F32};
  contract.statesBetweenChunks = true;
  EXPECT_TRUE(compare(Values{3, 4.000049L}, reference, reference, contract).passes);
  EXPECT_FALSE(compare(Values{3, 4.000051L}, reference, reference, contract).passes);
  contract.tf32Products = true;
  EXPECT_TRUE(compare(Values{3, 4.0149L}, reference, reference, contract).passes);
  EXPECT_FALSE(compare(Values{3, 4.0151L}, reference, reference, contract).passes);
}

TEST(Contract, IsWideInF64) {
  Values reference = {3, 4};
  Contract contract = {Dtype::F64};
  Real allowed = 4 * 4096 * epsilonOf(Dtype::F64) * 5;
  EXPECT_TRUE(compare(Values{3, 4 + allowed * 0.999L}, reference, reference, contract).passes);
  EXPECT_FALSE(compare(Values{3, 4 + allowed * 1.001L}, reference, reference, contract).passes);
}

TEST(Contract, HasAFloorWhereTheReferenceCancels) {
  for (Dtype dtype : {Dtype::F32, Dtype::BF16}) {
    Contract contract = {dtype};
    Real epsilon = epsilonOf(dtype);
    auto expectFloor = [&](Real reference, Real eager, Real floor) {
      EXPECT_NEAR(contract.getFloor(reference, eager) / floor, 1, 1e-6);
    };
    Real cancelled = contract.cancelledPerElement * epsilon, kept = contract.floorPerElement * epsilon;
    expectFloor(0, 0, cancelled);
    expectFloor(0.01L + epsilon, 0, kept);
    // Below epsilon it cancels where eager code is off by a part of it that shows.
    Real part = dtype == Dtype::BF16 ? 16 : 64;
    expectFloor(epsilon * 0.99L, epsilon / part, 16 * epsilon / part);
    expectFloor(epsilon * 0.99L, epsilon, cancelled);
    // Eager code has nothing of it: its error is that of terms, however large.
    expectFloor(epsilon * 0.9L, 14 * epsilon, cancelled);
    expectFloor(epsilon * 0.9L, 15 * epsilon, 8 * 15 * epsilon);
    expectFloor(epsilon / 1000, 15 * epsilon, 8 * 15 * epsilon);
    expectFloor(epsilon / 1000, epsilon / 3, cancelled);
    expectFloor(epsilon * 1.01L, 20 * epsilon, kept);
    expectFloor(epsilon * 0.99L, 0.98L * epsilon / part, kept);
    expectFloor(epsilon * 1.01L, epsilon, kept);
    expectFloor(epsilon * 0.99L, std::numeric_limits<Real>::infinity(), kept);
    // By luck it is not.
    expectFloor(epsilon / 65, 0, cancelled);
    expectFloor(epsilon / 63, 0, kept);
  }
  Contract contract = {Dtype::F32};
  Real floor = contract.cancelledPerElement * epsilonOf(Dtype::F32);
  Values zeros(16, 0);
  EXPECT_TRUE(compare(Values(16, floor * 0.999L), zeros, zeros, contract).passes);
  EXPECT_FALSE(compare(Values(16, floor * 1.001L), zeros, zeros, contract).passes);
}

TEST(Contract, RefusesWhatIsNotFinite) {
  Values reference = {3, 4};
  Real nan = std::numeric_limits<Real>::quiet_NaN(), infinity = std::numeric_limits<Real>::infinity();
  Contract contract = {Dtype::F32};
  EXPECT_FALSE(compare(Values{nan, 4}, reference, reference, contract).passes);
  EXPECT_FALSE(compare(Values{infinity, 4}, reference, reference, contract).passes);
  // An eager evaluation that is not finite excuses nothing.
  EXPECT_FALSE(compare(Values{nan, 4}, reference, Values{nan, 4}, contract).passes);
  EXPECT_FALSE(compare(Values{3, 5}, reference, Values{infinity, 4}, contract).passes);
  // What the reference itself has is no error.
  EXPECT_TRUE(compare(Values{infinity, 4}, Values{infinity, 4}, Values{infinity, 4}, contract).error == 0);
  // It excuses no other element.
  Comparison beside = compare(Values{nan, 3, 5}, Values{nan, 3, 4}, Values{nan, 3, 4}, contract);
  EXPECT_EQ(beside.notFinite, 1u);
  EXPECT_EQ(beside.norm, 5);
  EXPECT_FALSE(beside.passes);
  EXPECT_FALSE(compare(Values{0, 3, 4}, Values{nan, 3, 4}, Values{nan, 3, 4}, contract).passes);
  EXPECT_TRUE(compare(Values{nan, 3, 4}, Values{nan, 3, 4}, Values{nan, 3, 4}, contract).passes);
}

TEST(Contract, JudgesFewElementsByTheirPeersToo) {
  Contract contract = {Dtype::F32};
  contract.peers = 1e-3L;
  Values few(4, 1), many(16, 1); // eager code is exact here, and off by 0.001 in the peers
  EXPECT_TRUE(compare(Values(4, 1.00199L), few, few, contract).passes);
  EXPECT_FALSE(compare(Values(4, 1.00201L), few, few, contract).passes);
  EXPECT_FALSE(compare(Values(16, 1.00199L), many, many, contract).passes);
}

TEST(Contract, TakesTheErrorOfEagerCodeOverDraws) {
  std::vector<Real> reference(16, 1), lucky(16, 1.00001L); // off by 4e-5, by 4e-4 over several draws
  Contract contract = {Dtype::F32};
  EXPECT_FALSE(compare(Values(16, 1.0001L), reference, lucky, contract).passes);
  contract.eagerOverDraws = 4e-4L;
  EXPECT_TRUE(compare(Values(16, 1.000199L), reference, lucky, contract).passes);
  EXPECT_FALSE(compare(Values(16, 1.000201L), reference, lucky, contract).passes);
  // An unlucky first draw is not held against a kernel.
  std::vector<Real> unlucky(16, 1.001L);
  EXPECT_TRUE(compare(Values(16, 1.00199L), reference, unlucky, contract).passes);
}

TEST(Contract, DoesNotDoubleTheFactorOfDraws) {
  std::vector<Real> reference(4, 1), noisy(4, 1.01L); // off by 0.02: no digit, so 0.08 by the first draw
  Contract contract = {Dtype::F32};
  contract.eagerOverDraws = 0.05L;
  EXPECT_TRUE(compare(Values(4, 1.0499L), reference, noisy, contract).passes);
  EXPECT_FALSE(compare(Values(4, 1.0501L), reference, noisy, contract).passes);
}

TEST(Contract, DrawsSayHowMuchChanceAnErrorHas) {
  Real half = std::sqrt(0.5L); // a draw's error is √2 of that to the nearest
  EXPECT_NEAR(likelyError({2, 2, 2, 2}), 2 * half, 1e-12);
  // Squares 1 and 9: the mean is 5, the standard deviation √(4 * 16 / 3).
  EXPECT_NEAR(likelyError({1, 3, 1, 3}), std::sqrt((5 + 3 * std::sqrt(64 / 3.0L)) / 2), 1e-12);
  EXPECT_EQ(likelyError({1, std::numeric_limits<Real>::infinity()}), 0); // what overflows allows nothing
  // One of eight has jumped: an error of that size is likely, the mean and three deviations are less.
  EXPECT_NEAR(likelyError({1, 1, 1, 1, 1, 1, 1, 10}), 10, 1e-12);
  // So have two.
  EXPECT_NEAR(likelyError({1, 1, 1, 1, 1, 1, 10, 10}), 10, 1e-12);
  // But not the largest of a few numbers' noise: squares of mean 1.376 and deviation 1.125.
  EXPECT_NEAR(likelyError({0.5L, 0.6L, 0.8L, 1, 1.1L, 1.3L, 1.5L, 1.9L}), 1.541L, 0.002);
}

TEST(Contract, DoublesTheFactorWhereEagerCodeHasNoDigit) {
  Contract contract = {Dtype::F32};
  std::vector<Real> reference(4, 1), noisy(4, 1.01L), accurate(4, 1.0001L), x(4, 1.03L), near(4, 1.0003L);
  EXPECT_TRUE(compare(x, reference, noisy, contract).passes);
  EXPECT_FALSE(compare(near, reference, accurate, contract).passes);
  // In bf16 from an eager error of 1/16 on.
  Contract bf16 = {Dtype::BF16};
  EXPECT_TRUE(compare(Values(4, 1.14L), reference, Values(4, 1.07L), bf16).passes);
  EXPECT_FALSE(compare(Values(4, 1.10L), reference, Values(4, 1.06L), bf16).passes);
  // In f16 from 1/64 on.
  Contract f16 = {Dtype::F16};
  EXPECT_TRUE(compare(Values(4, 1.035L), reference, Values(4, 1.016L), f16).passes);
  EXPECT_FALSE(compare(Values(4, 1.035L), reference, Values(4, 1.015L), f16).passes);
}

} // namespace

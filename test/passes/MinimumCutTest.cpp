// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Derive/MinimumCut.h"
#include <gtest/gtest.h>

using taylor::MinimumCut;

namespace {

std::vector<unsigned> solve(MinimumCut &cut) {
  auto nodes = cut.solve();
  return {nodes.begin(), nodes.end()};
}

TEST(MinimumCut, CutsTheCheapestNodeOfAChain) {
  MinimumCut cut;
  unsigned numerator = cut.addNode(64), square = cut.addNode(1), root = cut.addNode(2);
  cut.addEdge(numerator, square);
  cut.addEdge(square, root);
  cut.markSource(numerator);
  cut.markSink(root);
  EXPECT_EQ(solve(cut), std::vector<unsigned>{square});
}

TEST(MinimumCut, PrefersTheCutNearestToTheSinkAmongEquals) {
  MinimumCut cut;
  unsigned first = cut.addNode(1), last = cut.addNode(1);
  cut.addEdge(first, last);
  cut.markSource(first);
  cut.markSink(last);
  EXPECT_EQ(solve(cut), std::vector<unsigned>{last});
}

TEST(MinimumCut, CutsTheSourceWhereItsUsersCostMore) {
  MinimumCut cut;
  unsigned source = cut.addNode(3), a = cut.addNode(2), b = cut.addNode(2);
  cut.addEdge(source, a);
  cut.addEdge(source, b);
  cut.markSource(source);
  cut.markSink(a);
  cut.markSink(b);
  EXPECT_EQ(solve(cut), std::vector<unsigned>{source});
}

TEST(MinimumCut, CutsANodeThatIsSourceAndSink) {
  MinimumCut cut;
  unsigned maximum = cut.addNode(1), other = cut.addNode(1);
  cut.markSource(maximum);
  cut.markSink(maximum);
  cut.markSource(other);
  EXPECT_EQ(solve(cut), std::vector<unsigned>{maximum});
}

TEST(MinimumCut, CutsNothingWhereNothingIsRead) {
  MinimumCut cut;
  cut.markSource(cut.addNode(1));
  EXPECT_TRUE(solve(cut).empty());
}

} // namespace

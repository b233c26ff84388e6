// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The places of blocks in the grid, by their numbers: the first N blocks of a launch run, for each N.
#include "KernelRun.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::simt::test;
using llvm::formatv;

namespace {

struct Place {
  int64_t b, h, block;
  bool operator==(const Place &) const = default;
};

std::ostream &operator<<(std::ostream &stream, const Place &place) {
  return stream << "(" << place.b << ", " << place.h << ", " << place.block << ")";
}

/// Blocks of 32 tokens, each of which writes its place.
std::vector<Place> order(const std::string &longest, Sizes sizes) {
  std::string code =
      compile(formatv("#l = #simt.layout<lane = [t:1, t:2, t:4, t:8, t:16], warp = [], register = []>\n"
                      "!y = !tile.array<[b, h, t], f32>\n!r = !tile.tile<[t = 32], f32, #l>\n"
                      "tile.program @forward {\n %y = tile.tensor \"output:y\" : !y\n"
                      " tile.kernel @k grid(%b in b, %h in h, %i in ceildiv(t, 32)) {0} {{\n"
                      "  %c32 = arith.constant 32 : index\n  %t0 = arith.muli %i, %c32 : index\n"
                      "  %one = arith.constant 1.0 : f32\n  %r = tile.splat %one : f32 -> !r\n"
                      "  tile.store %r, %y[b = %b, h = %h, t = %t0] : !r, !y\n }\n}\n",
                      longest)
                  .str());
  int64_t perHead = (sizes.t + 31) / 32, count = sizes.b * sizes.h * perHead;
  std::vector<Place> places;
  std::set<int64_t> before;
  for (int64_t blocks = 1; blocks <= count; ++blocks) {
    Array y(Kind::f32, {sizes.b, sizes.h, sizes.t});
    y.each([&](std::vector<int64_t> &place) { y.set(place, 0); });
    run(code, unsigned(blocks), 32, 0, sizes, {&y});
    y.each([&](std::vector<int64_t> &place) {
      if (place[2] % 32 == 0 && y.get(place) == 1 &&
          before.insert((place[0] * sizes.h + place[1]) * perHead + place[2] / 32).second)
        places.push_back({place[0], place[1], place[2] / 32});
    });
    EXPECT_EQ(before.size(), size_t(blocks)) << "a place was taken twice";
  }
  return places;
}

TEST(GridOrder, TheLastExtentIsTheFastest) {
  EXPECT_EQ(order("", {.b = 1, .h = 2, .t = 96}),
            (std::vector<Place>{{0, 0, 0}, {0, 0, 1}, {0, 0, 2}, {0, 1, 0}, {0, 1, 1}, {0, 1, 2}}));
}

TEST(GridOrder, LongestFirstAcrossHeads) {
  EXPECT_EQ(order("longest(last)", {.b = 1, .h = 2, .t = 90}),
            (std::vector<Place>{{0, 0, 2}, {0, 1, 2}, {0, 0, 1}, {0, 1, 1}, {0, 0, 0}, {0, 1, 0}}));
  EXPECT_EQ(order("longest(first)", {.b = 2, .h = 1, .t = 64}),
            (std::vector<Place>{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {1, 0, 1}}));
}

// The cache of sm_80 holds 4 heads of 3 tokens here: 5 are sections of 3 and 2.
TEST(GridOrder, AsManyHeadsAsTheCacheHolds) {
  const char *longest = "longest(last, u * 3000000)";
  EXPECT_EQ(order(longest, {.b = 1, .h = 5, .t = 64, .u = 3}), (std::vector<Place>{{0, 0, 1},
                                                                                   {0, 1, 1},
                                                                                   {0, 2, 1},
                                                                                   {0, 0, 0},
                                                                                   {0, 1, 0},
                                                                                   {0, 2, 0},
                                                                                   {0, 3, 1},
                                                                                   {0, 4, 1},
                                                                                   {0, 3, 0},
                                                                                   {0, 4, 0}}));
  // Fewer than one head: one after the other. No key at all: all heads.
  EXPECT_EQ(order(longest, {.b = 2, .h = 1, .t = 64, .u = 100}),
            (std::vector<Place>{{0, 0, 1}, {0, 0, 0}, {1, 0, 1}, {1, 0, 0}}));
  EXPECT_EQ(order(longest, {.b = 1, .h = 2, .t = 64, .u = 0}),
            (std::vector<Place>{{0, 0, 1}, {0, 1, 1}, {0, 0, 0}, {0, 1, 0}}));
}

} // namespace

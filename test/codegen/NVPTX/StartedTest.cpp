// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products of small integers that run while their threads go on, by sm_90a's passes: every width, depth,
// swizzle and direction of the operands, exactly.
#include "KernelRun.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::simt::test;
using namespace mlir::simt;
using llvm::formatv;

namespace {

Layouts layouts;

enum class Left { registers, rows, columns }; ///< contiguous axis of the buffer: the summed one, or its own
enum class Sum { none, tile, pending };       ///< what the product adds to

struct Case {
  int64_t rows = 64, columns = 64, depth = 64, warps = 4;
  Left left = Left::rows;
  bool isTransposed = false; ///< the right operand's own axis is contiguous
  Sum sum = Sum::none;
  Kind kind = Kind::bf16;
  int64_t leftSwizzle = 0, rightSwizzle = 0; ///< 0: the widest that fits
  int64_t t = 0, u = 0;                      ///< elements there are; 0: all

  std::string describe() const {
    return formatv("{0}x{1}x{2} {3} warps, left {4} swizzle {5}, right {6} swizzle {7}, sum {8}, {9}", rows,
                   columns, depth, warps, int(left), leftSwizzle, isTransposed, rightSwizzle, int(sum),
                   nameOf(kind));
  }
};

int64_t widestSwizzle(int64_t elements) { return elements % 64 == 0 ? 128 : elements % 32 == 0 ? 64 : 32; }

/// An array of an operand, and the buffer for a part of it.
struct Operand {
  std::string axes, buffer, array;
  int64_t bytes;

  Operand(const char *own, int64_t size, int64_t depth, bool isOwnContiguous, int64_t swizzle, Kind kind) {
    int64_t row = isOwnContiguous ? size : depth;
    swizzle = swizzle ? swizzle : widestSwizzle(row);
    axes = isOwnContiguous ? formatv("d = {0}, {1} = {2}", depth, own, size).str()
                           : formatv("{0} = {1}, d = {2}", own, size, depth).str();
    buffer = formatv("!simt.buffer<1 x [{0}], {1}, swizzle = {2}>", axes, nameOf(kind), swizzle);
    array = formatv(isOwnContiguous ? "!tile.array<[d = {0}, {1}], {2}>" : "!tile.array<[{1}, d = {0}], {2}>",
                    depth, own, nameOf(kind));
    bytes = size * depth * 2;
  }
};

std::string programOf(const Case &c, const Operand &q, const Operand &k, int64_t kPlace) {
  FragmentShape shape{"t", "u", c.rows, c.columns, c.warps, 1, true},
      left{"t", "d", c.rows, c.depth, c.warps, 1, true};
  std::string s = formatv("!tile.tile<[t = {0}, u = {1}], f32, {2}>", c.rows, c.columns,
                          layouts.fragment(shape, c.warps));
  std::string qTile = formatv("!tile.tile<[d = {0}, t = {1}], {2}, {3}>", c.depth, c.rows, nameOf(c.kind),
                              layouts.fragment(left, c.warps));
  std::string text = formatv(
      "tile.program @forward {\n %q = tile.tensor \"input:q\" : {0}\n %k = tile.tensor \"input:k\" : {1}\n"
      " %o = tile.tensor \"output:o\" : !tile.array<[t, u], f32>\n"
      " tile.kernel @product grid(%i in ceildiv(t, {2})) launch #simt.launch<warps = {3}> {{\n"
      "  %n = arith.constant {2} : index\n  %t0 = arith.muli %i, %n : index\n"
      "  %qb = simt.alloc \"q\" at 0 : {4}\n  %kb = simt.alloc \"k\" at {5} : {6}\n"
      "  simt.copy %q[t = %t0], %qb : {0}, {4}\n  simt.copy %k[], %kb : {1}, {6}\n"
      "  simt.commit\n  simt.wait 0\n  simt.barrier\n"
      "  %three = arith.constant 3.0 : f32\n  %c = tile.splat %three : f32 -> {7}\n",
      q.array, k.array, c.rows, c.warps, q.buffer, kPlace, k.buffer, s);
  bool inRegisters = c.left == Left::registers;
  if (inRegisters)
    text += formatv("  %qt = simt.read %qb : {0} -> {1}\n", q.buffer, qTile);
  std::string operands = inRegisters ? "%qt, %kb" : "%qb, %kb";
  std::string types = formatv("{0}, {1} -> {2}\n", inRegisters ? qTile : q.buffer, k.buffer, s);
  text += formatv("  %s0 = simt.dot wgmma {0} over(d){1} : {2}", operands,
                  c.sum == Sum::tile ? " into %c" : "", types);
  if (c.sum == Sum::pending)
    text += formatv("  %s1 = simt.dot wgmma {0} over(d) into %s0 : {1}", operands, types);
  text += formatv("  tile.store %s{0}, %o[t = %t0] : {1}, !tile.array<[t, u], f32>\n }\n}\n",
                  c.sum == Sum::pending ? 1 : 0, s);
  return text;
}

/// Whole numbers from -3 to 3.
void fillWithIntegers(Array &array, unsigned seed) {
  std::mt19937 random(seed);
  array.each([&](std::vector<int64_t> &place) { array.set(place, double(random() % 7) - 3); });
}

void multiply(const Case &c) {
  SCOPED_TRACE(c.describe());
  bool isLeftTransposed = c.left == Left::columns;
  Operand q("t", c.rows, c.depth, isLeftTransposed, c.leftSwizzle, c.kind),
      k("u", c.columns, c.depth, c.isTransposed, c.rightSwizzle, c.kind);
  int64_t kPlace = (q.bytes + 1023) / 1024 * 1024, t = c.t ? c.t : c.rows, u = c.u ? c.u : c.columns;
  auto sizesOf = [&](int64_t own, bool isTransposed) {
    return isTransposed ? std::vector<int64_t>{c.depth, own} : std::vector<int64_t>{own, c.depth};
  };
  Array qs(c.kind, sizesOf(t, isLeftTransposed)), ks(c.kind, sizesOf(u, c.isTransposed)),
      os(Kind::f32, {t, u});
  fillWithIntegers(qs, 1);
  fillWithIntegers(ks, 2);
  run(compile(programOf(c, q, k, kPlace), "sm_90a"), unsigned((t + c.rows - 1) / c.rows),
      unsigned(32 * c.warps), size_t(kPlace + k.bytes), {.t = t, .u = u}, {&qs, &ks, &os});
  auto at = [](const Array &array, bool isTransposed, int64_t own, int64_t i) {
    return array.get(isTransposed ? std::vector<int64_t>{i, own} : std::vector<int64_t>{own, i});
  };
  EXPECT_EQ(difference(os,
                       [&](std::vector<int64_t> &place) {
                         double sum = 0;
                         for (int64_t i = 0; i < c.depth; ++i)
                           sum += at(qs, isLeftTransposed, place[0], i) * at(ks, c.isTransposed, place[1], i);
                         return c.sum == Sum::tile ? sum + 3 : c.sum == Sum::pending ? 2 * sum : sum;
                       }),
            0);
}

TEST(Started, SizesAndDirections) {
  size_t number = 0;
  auto pick = [&](auto... levels) {
    auto all = std::array{levels...};
    return all[number % all.size()];
  };
  for (int64_t columns : {16, 32, 48, 64, 96, 128, 256})
    for (int64_t depth : {16, 64, 80, 128})
      for (Left left : {Left::registers, Left::rows, Left::columns}) {
        Case c{.columns = columns, .depth = depth, .left = left};
        c.isTransposed = pick(false, true);
        c.kind = pick(Kind::bf16, Kind::bf16, Kind::f16, Kind::f16);
        c.sum = pick(Sum::none, Sum::tile, Sum::pending, Sum::tile, Sum::none);
        c.rows = pick(64, 64, 64, 128, 64, 128, 64);
        c.warps = pick(4, 4, 4, 4, 4, 8, 4);
        multiply(c);
        ++number;
      }
}

TEST(Started, Rows) {
  for (auto [rows, warps] : {std::pair(64, 4), std::pair(128, 4), std::pair(128, 8), std::pair(256, 8)})
    for (Left left : {Left::registers, Left::rows, Left::columns})
      for (bool isTransposed : {false, true})
        multiply({.rows = rows,
                  .columns = 32,
                  .depth = 48,
                  .warps = warps,
                  .left = left,
                  .isTransposed = isTransposed});
}

TEST(Started, Swizzles) {
  for (Left left : {Left::rows, Left::columns})
    for (bool isTransposed : {false, true})
      for (int64_t leftSwizzle : {32, 64, 128})
        for (int64_t rightSwizzle : {32, 64, 128})
          multiply({.rows = 128,
                    .columns = 128,
                    .depth = 64,
                    .left = left,
                    .isTransposed = isTransposed,
                    .leftSwizzle = leftSwizzle,
                    .rightSwizzle = rightSwizzle});
}

TEST(Started, Sums) {
  for (Left left : {Left::registers, Left::rows})
    for (Sum sum : {Sum::none, Sum::tile, Sum::pending})
      for (Kind kind : {Kind::bf16, Kind::f16})
        multiply({.rows = 128, .columns = 48, .depth = 80, .left = left, .sum = sum, .kind = kind});
}

TEST(Started, RaggedEnds) {
  multiply({.columns = 48, .left = Left::registers, .t = 45, .u = 19});
  multiply({.rows = 128,
            .columns = 96,
            .warps = 8,
            .left = Left::columns,
            .isTransposed = true,
            .t = 200,
            .u = 61});
  multiply({.columns = 16, .depth = 16, .t = 1, .u = 1});
}

} // namespace

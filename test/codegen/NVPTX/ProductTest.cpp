// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// simt.dot, simt.copy and simt.read: every kind of product, every swizzle, both directions, ragged ends.
#include "KernelRun.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir::simt::test;
using namespace mlir::simt;
using llvm::formatv;
using mlir::StringRef;

namespace {

Layouts layouts;

std::string bufferType(const std::string &axes, int64_t rowBytes, Kind kind) {
  int64_t swizzle = rowBytes % 128 == 0 ? 128 : rowBytes % 64 == 0 ? 64 : rowBytes % 32 == 0 ? 32 : 0;
  std::string end = swizzle ? ", swizzle = " + std::to_string(swizzle) : "";
  return "!simt.buffer<1 x [" + axes + "], " + nameOf(kind) + end + ">";
}

struct Case {
  StringRef kind; ///< of the product
  Kind storage;
  int64_t rows, columns, size;                   ///< tile
  bool aTransposed = false, bTransposed = false; ///< summed axis is the rows of the buffer
  bool aInRegisters = false, bInRegisters = false;
  int64_t t = 0, u = 0; ///< elements there are; 0: all
  int64_t padding = 0;
};

/// s[t, u] = sum over d of q[t, d] k[u, d]; 2 warps.
void multiply(const Case &c) {
  SCOPED_TRACE(formatv("{0} {1} {2}x{3}x{4}{5}{6}{7}{8}", c.kind, nameOf(c.storage), c.rows, c.columns,
                       c.size, c.aTransposed ? " a transposed" : "", c.bTransposed ? " b transposed" : "",
                       c.aInRegisters ? " a in registers" : "", c.bInRegisters ? " b in registers" : "")
                   .str());
  int64_t t = c.t ? c.t : c.rows, u = c.u ? c.u : c.columns, d = c.size;
  int64_t bytes = bytesOf(c.storage);
  Kind sums = c.storage == Kind::f64 ? Kind::f64 : Kind::f32;
  FragmentShape shape{"t", "u", c.rows, c.columns, 2, 1}, left{"t", "d", c.rows, d, 2, 1},
      right{"u", "d", c.columns, d, 1, 1}; // the same in both warps
  std::string s = formatv("!tile.tile<[t = {0}, u = {1}], {2}, {3}>", c.rows, c.columns, nameOf(sums),
                          layouts.fragment(shape, 2));
  std::string qTile = formatv("!tile.tile<[d = {0}, t = {1}], {2}, {3}>", d, c.rows, nameOf(c.storage),
                              layouts.fragment(left, 2));
  std::string kTile = formatv("!tile.tile<[d = {0}, u = {1}], {2}, {3}>", d, c.columns, nameOf(c.storage),
                              layouts.fragment(right, 2));
  std::string q = formatv("!tile.array<[{0}], {1}>",
                          c.aTransposed ? "d = " + std::to_string(d) + ", t" : "t, d = " + std::to_string(d),
                          nameOf(c.storage));
  std::string k = formatv("!tile.array<[{0}], {1}>",
                          c.bTransposed ? "d = " + std::to_string(d) + ", u" : "u, d = " + std::to_string(d),
                          nameOf(c.storage));
  auto buffer = [&](const char *own, int64_t size, bool transposed) {
    std::string axes = transposed ? formatv("d = {0}, {1} = {2}", d, own, size).str()
                                  : formatv("{1} = {2}, d = {0}", d, own, size).str();
    return bufferType(axes, (transposed ? size : d) * bytes, c.storage);
  };
  std::string qb = buffer("t", c.rows, c.aTransposed), kb = buffer("u", c.columns, c.bTransposed);
  int64_t kPlace = (c.rows * d * bytes + 1023) / 1024 * 1024, shared = kPlace + c.columns * d * bytes;
  std::string text = formatv(
      "tile.program @forward {\n %q = tile.tensor \"input:q\" : {0}\n %k = tile.tensor \"input:k\" : {1}\n"
      " %o = tile.tensor \"output:o\" : !tile.array<[t, u], {2}>\n"
      " tile.kernel @product grid(%i in ceildiv(t, {3})) launch #simt.launch<warps = 2> {{\n"
      "  %c = arith.constant {3} : index\n  %t0 = arith.muli %i, %c : index\n"
      "  %qb = simt.alloc \"q\" at 0 : {4}\n  %kb = simt.alloc \"k\" at {5} : {6}\n",
      q, k, nameOf(sums), c.rows, qb, kPlace, kb);
  text +=
      formatv("  simt.copy %q[t = %t0], %qb : {0}, {1}\n  simt.copy %k[], %kb : {2}, {3}\n", q, qb, k, kb);
  text += "  simt.commit\n  simt.wait 0\n  simt.barrier\n";
  if (c.aInRegisters)
    text += formatv("  %qt = simt.read %qb : {0} -> {1}\n", qb, qTile);
  if (c.bInRegisters)
    text += formatv("  %kt = simt.read %kb : {0} -> {1}\n", kb, kTile);
  text += formatv("  %s = simt.dot {0} {1}, {2} over(d) : {3}, {4} -> {5}\n", c.kind,
                  c.aInRegisters ? "%qt" : "%qb", c.bInRegisters ? "%kt" : "%kb", c.aInRegisters ? qTile : qb,
                  c.bInRegisters ? kTile : kb, s);
  text += formatv("  tile.store %s, %o[t = %t0] : {0}, !tile.array<[t, u], {1}>\n }\n}\n", s, nameOf(sums));
  auto sizesOf = [&](int64_t own, bool transposed) {
    return transposed ? std::vector<int64_t>{d, own} : std::vector<int64_t>{own, d};
  };
  Array qs(c.storage, sizesOf(t, c.aTransposed), c.padding),
      ks(c.storage, sizesOf(u, c.bTransposed), c.padding);
  Array os(sums, {t, u});
  qs.fill(1);
  ks.fill(2);
  run(compile(text), unsigned((t + c.rows - 1) / c.rows), 64, shared, {.t = t, .u = u}, {&qs, &ks, &os});
  double error = difference(os, [&](std::vector<int64_t> &place) {
    double sum = 0;
    for (int64_t i = 0; i < d; ++i)
      sum += qs.get(c.aTransposed ? std::vector<int64_t>{i, place[0]} : std::vector<int64_t>{place[0], i}) *
             ks.get(c.bTransposed ? std::vector<int64_t>{i, place[1]} : std::vector<int64_t>{place[1], i});
    return sum;
  });
  EXPECT_LT(error, c.kind == "tf32" ? 1e-3 : c.storage == Kind::f64 ? 1e-14 : 1e-6);
}

TEST(Product, Swizzles) {
  for (int64_t d : {16, 32, 48, 64, 96, 128})
    multiply({"mma16", Kind::bf16, 64, 32, d});
}

TEST(Product, Transposed) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      multiply({"mma16", Kind::bf16, 64, 48, 32, a, b});
}

TEST(Product, Registers) {
  for (bool a : {false, true})
    for (bool b : {false, true})
      for (bool transposed : {false, true}) {
        multiply({"mma16", Kind::f16, 32, 24, 48, transposed, transposed, a, b});
        multiply({"tf32", Kind::f32, 32, 24, 24, transposed, transposed, a, b});
        multiply({"fma", Kind::f32, 32, 16, 24, transposed, transposed, a, b});
        multiply({"fma", Kind::f64, 32, 16, 16, transposed, transposed, a, b});
      }
}

// A summed axis of 16 n + 8 ends with an instruction of half the depth.
TEST(Product, HalfSteps) {
  for (bool a : {false, true})
    for (bool b : {false, true}) {
      multiply({"mma16", Kind::bf16, 32, 24, 40, a, b});
      multiply({"mma16", Kind::f16, 32, 24, 8, a, b, !a, !b});
      multiply({"mma16", Kind::bf16, 16, 40, 72, a, b}); // 8 rows in each of two warps
    }
}

TEST(Product, RaggedEnds) {
  multiply({"mma16", Kind::bf16, 32, 32, 64, false, false, false, false, 45, 19});
  multiply({"mma16", Kind::bf16, 32, 32, 64, false, false, false, false, 1, 1, 8});
  multiply({"mma16", Kind::bf16, 32, 32, 48, true, true, false, false, 45, 19});
  multiply({"tf32", Kind::f32, 32, 32, 64, false, true, false, false, 45, 19});
  multiply({"fma", Kind::f64, 32, 32, 6, false, false, false, false, 45, 19, 2});
}

} // namespace

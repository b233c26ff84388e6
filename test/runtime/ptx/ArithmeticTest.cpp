// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar instructions, each alone, against values worked out from the PTX manual's descriptions.
#include "Fixture.h"
#include <cmath>

namespace taylor::runtime::ptx {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();
constexpr uint32_t canonicalNan = 0x7fffffff;

/// `%o0 = instruction %a0, %a1, ...`
uint32_t op(const std::string &instruction, std::vector<uint32_t> inputs, const std::string &more = "") {
  std::string text = instruction + " %o0";
  for (size_t k = 0; k < inputs.size(); ++k)
    text += ", %a" + std::to_string(k);
  return valueOf(text + more + ";", inputs);
}
float fop(const std::string &instruction, std::vector<float> inputs) {
  std::vector<uint32_t> words;
  for (float x : inputs)
    words.push_back(bits(x));
  return real(op(instruction, words));
}
/// A 64-bit instruction on pairs of words: %d1 = (%a0, %a1), %d2 = (%a2, %a3), result in %d0.
uint64_t op64(const std::string &line, uint64_t a, uint64_t b = 0) {
  Result r =
      execute("mov.b64 %d1, {%a0, %a1};\nmov.b64 %d2, {%a2, %a3};\n" + line + "\nmov.b64 {%o0, %o1}, %d0;",
              {{uint32_t(a)}, {uint32_t(a >> 32)}, {uint32_t(b)}, {uint32_t(b >> 32)}}, 2);
  EXPECT_EQ(r.report.fault ? r.report.fault->message : "", "");
  return uint64_t(r.outputs[1][0]) << 32 | r.outputs[0][0];
}
/// A 16-bit instruction on the low halves: %h1, %h2, %h3 in, %h0 out.
uint32_t op16(const std::string &line, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
  return valueOf("cvt.u16.u32 %h1, %a0;\ncvt.u16.u32 %h2, %a1;\ncvt.u16.u32 %h3, %a2;\n" + line +
                     "\ncvt.u32.u16 %o0, %h0;",
                 {a, b, c});
}

TEST(PtxInteger, AddSubtractMultiply) {
  EXPECT_EQ(op("add.s32", {0x7fffffff, 1}), 0x80000000u);
  EXPECT_EQ(op("add.sat.s32", {0x7fffffff, 1}), 0x7fffffffu);
  EXPECT_EQ(op("sub.sat.s32", {0x80000000, 1}), 0x80000000u);
  EXPECT_EQ(op("sub.u32", {0, 1}), 0xffffffffu);
  EXPECT_EQ(op("mul.lo.s32", {0xffffffff, 7}), uint32_t(-7));
  EXPECT_EQ(op("mul.hi.u32", {0xffffffff, 0xffffffff}), 0xfffffffeu);
  EXPECT_EQ(op("mul.hi.s32", {0xffffffff, 0xffffffff}), 0u);
  EXPECT_EQ(op("mad.lo.s32", {3, 5, 7}), 22u);
  EXPECT_EQ(op("mad.hi.u32", {0x80000000, 6, 1}), 4u);
  EXPECT_EQ(op64("mul.wide.u32 %d0, %a0, %a2;", 0xffffffff, 0xffffffff), 0xfffffffe00000001u);
  EXPECT_EQ(op64("mul.wide.s32 %d0, %a0, %a2;", 0xffffffff, 5), uint64_t(-5));
  EXPECT_EQ(op64("mad.wide.s32 %d0, %a0, %a0, %d2;", 0xffffffff, 41), 42u);
  EXPECT_EQ(op64("mul.hi.u64 %d0, %d1, %d2;", ~uint64_t(0), ~uint64_t(0)), ~uint64_t(1));
  EXPECT_EQ(op64("mul.lo.s64 %d0, %d1, %d2;", uint64_t(-3), 4), uint64_t(-12));
}

TEST(PtxInteger, DivideAndRest) {
  EXPECT_EQ(op("div.s32", {uint32_t(-7), 2}), uint32_t(-3)); // towards zero
  EXPECT_EQ(op("rem.s32", {uint32_t(-7), 2}), uint32_t(-1));
  EXPECT_EQ(op("div.u32", {uint32_t(-7), 2}), 0x7ffffffcu);
  EXPECT_EQ(op("div.s32", {0x80000000, uint32_t(-1)}), 0x80000000u);
  EXPECT_EQ(op("rem.s32", {0x80000000, uint32_t(-1)}), 0u);
  EXPECT_EQ(op("div.u32", {5, 0}), 0xffffffffu);
  EXPECT_EQ(op64("rem.u64 %d0, %d1, %d2;", 1000000000007, 10), 7u);
}

TEST(PtxInteger, SignsAndExtremes) {
  EXPECT_EQ(op("min.s32", {uint32_t(-1), 1}), uint32_t(-1));
  EXPECT_EQ(op("min.u32", {uint32_t(-1), 1}), 1u);
  EXPECT_EQ(op("max.s32", {uint32_t(-1), 1}), 1u);
  EXPECT_EQ(op("abs.s32", {uint32_t(-9)}), 9u);
  EXPECT_EQ(op("abs.s32", {0x80000000}), 0x80000000u);
  EXPECT_EQ(op("neg.s32", {9}), uint32_t(-9));
}

TEST(PtxInteger, Shifts) { // amounts above the width are clamped to it
  EXPECT_EQ(op("shl.b32", {1, 31}), 0x80000000u);
  EXPECT_EQ(op("shl.b32", {1, 32}), 0u);
  EXPECT_EQ(op("shr.u32", {0x80000000, 40}), 0u);
  EXPECT_EQ(op("shr.s32", {0x80000000, 40}), 0xffffffffu);
  EXPECT_EQ(op("shr.s32", {0x80000000, 4}), 0xf8000000u);
  EXPECT_EQ(op("shf.l.wrap.b32", {0x80000001, 0x12345678, 36}), 0x23456788u); // 36 & 31 = 4
  EXPECT_EQ(op("shf.l.clamp.b32", {0x80000001, 0x12345678, 36}), 0x80000001u);
  EXPECT_EQ(op("shf.r.wrap.b32", {0x80000001, 0x12345678, 4}), 0x88000000u);
  EXPECT_EQ(op("shf.r.clamp.b32", {0x80000001, 0x12345678, 40}), 0x12345678u);
  EXPECT_EQ(op64("shl.b64 %d0, %d1, %a2;", 1, 40), uint64_t(1) << 40);
}

TEST(PtxInteger, BitFields) {
  EXPECT_EQ(op("bfe.u32", {0xabcd1234, 8, 8}), 0x12u);
  EXPECT_EQ(op("bfe.s32", {0x0000f000, 12, 4}), 0xffffffffu);
  EXPECT_EQ(op("bfe.s32", {0x80000000, 28, 8}), 0xfffffff8u); // past the end: the sign
  EXPECT_EQ(op("bfe.u32", {0x80000000, 28, 8}), 8u);
  EXPECT_EQ(op("bfe.u32", {0xffffffff, 0, 0}), 0u);
  EXPECT_EQ(op("bfe.u32", {0xffffffff, 0, 32}), 0xffffffffu);
  EXPECT_EQ(op("bfi.b32", {0xff, 0x12345678, 8, 4}), 0x12345f78u);
  EXPECT_EQ(op("bfi.b32", {0xff, 0x12345678, 40, 4}), 0x12345678u);
  EXPECT_EQ(op("popc.b32", {0xf0f0}), 8u);
  EXPECT_EQ(op("clz.b32", {0x00010000}), 15u);
  EXPECT_EQ(op("brev.b32", {0x00000003}), 0xc0000000u);
}

TEST(PtxInteger, PermuteModes) { // bytes 0..3 of a are 10 11 12 13, of b (4..7) 94 95 96 97
  uint32_t a = 0x13121110, b = 0x97969594;
  auto p = [&](const std::string &mode, uint32_t c) { return op("prmt.b32" + mode, {a, b, c}); };
  EXPECT_EQ(p("", 0x7654), b);
  EXPECT_EQ(p("", 0x3210), a);
  EXPECT_EQ(p("", 0x5410), 0x95941110u);
  EXPECT_EQ(p("", 0xc080), 0xff100010u); // the fourth bit spreads the sign: 94 is negative, 10 is not
  EXPECT_EQ(p(".f4e", 1), 0x94131211u);
  EXPECT_EQ(p(".f4e", 3), 0x96959413u);
  EXPECT_EQ(p(".b4e", 1), 0x96971011u); // 6 7 0 1 from the top
  EXPECT_EQ(p(".b4e", 0), 0x95969710u);
  EXPECT_EQ(p(".rc8", 2), 0x12121212u);
  EXPECT_EQ(p(".ecl", 2), 0x13121212u);
  EXPECT_EQ(p(".ecr", 2), 0x12121110u);
  EXPECT_EQ(p(".rc16", 0), 0x11101110u);
  EXPECT_EQ(p(".rc16", 1), 0x13121312u);
}

TEST(PtxInteger, Lop3) { // the manual: immLut = F(0xF0, 0xCC, 0xAA)
  uint32_t a = 0xdeadbeef, b = 0x12345678, c = 0x0f0f3355;
  EXPECT_EQ(op("lop3.b32", {a, b, c}, ", 0x80"), a & b & c);
  EXPECT_EQ(op("lop3.b32", {a, b, c}, ", 0xFE"), a | b | c);
  EXPECT_EQ(op("lop3.b32", {a, b, c}, ", 0x40"), a & b & ~c);
  EXPECT_EQ(op("lop3.b32", {a, b, c}, ", 0x96"), a ^ b ^ c);
  EXPECT_EQ(op("lop3.b32", {a, b, c}, ", 0xCA"), (a & b) | (~a & c));
}

TEST(PtxInteger, MoveParts) {
  EXPECT_EQ(valueOf("mov.b32 {%h0, %h1}, %a0;\nmov.b32 %o0, {%h1, %h0};", {0x12345678}), 0x56781234u);
  EXPECT_EQ(op64("mov.b64 {%r0, %r1}, %d1;\nmov.b64 %d0, {%r1, %r0};", 0x1122334455667788),
            0x5566778811223344u);
  EXPECT_EQ(valueOf("mov.b32 {_, %h1}, %a0;\ncvt.u32.u16 %o0, %h1;", {0x12345678}), 0x1234u);
}

bool compared(const std::string &form, uint32_t a, uint32_t b) {
  return valueOf("setp." + form + " %p0, %a0, %a1;\nselp.b32 %o0, 1, 0, %p0;", {a, b});
}

TEST(PtxInteger, ConstantPredicates) { // the manual, "Predicate Constants": 0 is false, all others are true
  for (auto [text, value] : {std::pair("0", 0u), {"1", 1u}, {"-1", 1u}, {"2", 1u}})
    EXPECT_EQ(valueOf("mov.pred %p0, " + std::string(text) + ";\nselp.b32 %o0, 1, 0, %p0;", {}), value)
        << text;
}

TEST(PtxCompare, Integers) {
  uint32_t minus = uint32_t(-1);
  EXPECT_TRUE(compared("lt.s32", minus, 1));
  EXPECT_FALSE(compared("lt.u32", minus, 1));
  EXPECT_TRUE(compared("hi.u32", minus, 1));
  EXPECT_TRUE(compared("hs.u32", 1, 1));
  EXPECT_FALSE(compared("lo.u32", 1, 1));
  EXPECT_TRUE(compared("ls.u32", 1, 1));
  EXPECT_TRUE(compared("ne.b32", 1, 2));
}

TEST(PtxCompare, FloatsWithNan) { // ordered comparisons are false, unordered ones true
  uint32_t n = bits(nan), one = bits(1.0f);
  for (std::string ordered : {"eq", "ne", "lt", "le", "gt", "ge", "num"})
    EXPECT_FALSE(compared(ordered + ".f32", n, one)) << ordered;
  for (std::string unordered : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"})
    EXPECT_TRUE(compared(unordered + ".f32", n, one)) << unordered;
  EXPECT_TRUE(compared("num.f32", one, one));
  EXPECT_FALSE(compared("neu.f32", one, one));
  EXPECT_TRUE(compared("eq.f32", bits(0.0f), bits(-0.0f)));
  EXPECT_FALSE(compared("eq.f32", 1, 0));
  EXPECT_TRUE(compared("eq.ftz.f32", 1, 0)); // a subnormal counts as zero
}

TEST(PtxCompare,
     CombinedAndBoth) { // p = (a < b) op q; the second result has the complement of the comparison
  auto both = [](const std::string &logic, uint32_t q) {
    return valueOf("setp.ne.u32 %p2, %a2, 0;\nsetp.lt." + logic +
                       ".s32 %p0|%p1, %a0, %a1, %p2;\nselp.b32 %r0, 1, 0, %p0;\n"
                       "selp.b32 %r1, 2, 0, %p1;\nor.b32 %o0, %r0, %r1;",
                   {1, 2, q});
  };
  EXPECT_EQ(both("and", 1), 1u);
  EXPECT_EQ(both("and", 0), 0u);
  EXPECT_EQ(both("or", 1), 3u);
  EXPECT_EQ(both("xor", 1), 2u);
  EXPECT_EQ(op("set.lt.u32.s32", {1, 2}), 0xffffffffu);
  EXPECT_EQ(op("set.lt.f32.s32", {1, 2}), bits(1.0f));
  EXPECT_EQ(op("set.gt.f32.f32", {bits(1), bits(2)}), 0u);
}

TEST(PtxFloat, Arithmetic) {
  EXPECT_EQ(fop("add.f32", {1e8f, 1.0f}), 1e8f);
  EXPECT_EQ(fop("add.rn.f32", {0.1f, 0.2f}), 0.1f + 0.2f);
  EXPECT_EQ(fop("mul.f32", {1.5f, -2.0f}), -3.0f);
  float x = 1 + 0x1p-12f; // x x - 1 keeps its last bit only if the product is not rounded
  EXPECT_EQ(fop("fma.rn.f32", {x, x, -1.0f}), 0x1p-11f + 0x1p-24f);
  EXPECT_EQ(fop("div.rn.f32", {1, 3}), 1.0f / 3);
  EXPECT_EQ(fop("sqrt.rn.f32", {2}), std::sqrt(2.0f));
  EXPECT_EQ(fop("rcp.rn.f32", {3}), 1.0f / 3);
  EXPECT_EQ(fop("neg.f32", {0.0f}), 0.0f);
  EXPECT_TRUE(std::signbit(fop("neg.f32", {0.0f})));
  EXPECT_EQ(fop("abs.f32", {-2}), 2);
  EXPECT_EQ(fop("copysign.f32", {-1, 5}), -5); // the sign of the first
}

TEST(PtxFloat, FlushAndSaturate) {
  float tiny = 0x1p-130f;
  EXPECT_EQ(fop("mul.f32", {tiny, 0.5f}), 0x1p-131f); // kept without .ftz, in whatever mode the caller runs
  EXPECT_EQ(fop("add.ftz.f32", {tiny, 1.0f}), 1.0f);
  EXPECT_EQ(fop("mul.ftz.f32", {tiny, 0x1p100f}), 0.0f); // a subnormal source is zero
  EXPECT_EQ(op("mul.ftz.f32", {bits(-0x1p-100f), bits(0x1p-30f)}),
            0x80000000u); // a subnormal result is a zero of its sign
  EXPECT_EQ(fop("add.sat.f32", {0.75f, 0.75f}), 1.0f);
  EXPECT_EQ(fop("add.sat.f32", {-1, 0.5f}), 0.0f);
  EXPECT_EQ(fop("add.sat.f32", {nan, 1}), 0.0f);
}

TEST(PtxFloat, Extremes) {
  EXPECT_EQ(fop("max.f32", {nan, 2}), 2);
  EXPECT_EQ(fop("min.f32", {2, nan}), 2);
  EXPECT_EQ(op("max.f32", {bits(nan), bits(nan)}), canonicalNan);
  EXPECT_EQ(op("max.NaN.f32", {bits(nan), bits(2.0f)}), canonicalNan);
  EXPECT_EQ(op("max.f32", {bits(-0.0f), bits(0.0f)}), 0u);
  EXPECT_EQ(op("min.f32", {bits(0.0f), bits(-0.0f)}), 0x80000000u);
}

TEST(PtxFloat,
     Functions) { // within 2 units in the last place of the exact value, and exact at the special ones
  auto near = [](float got, double exact) {
    return std::fabs(got - exact) <= 2 * std::fabs(exact) * 0x1p-24;
  };
  EXPECT_PRED2(near, fop("ex2.approx.ftz.f32", {0.7f}), std::exp2(double(0.7f)));
  EXPECT_EQ(fop("ex2.approx.ftz.f32", {-infinity}), 0.0f);
  EXPECT_EQ(fop("ex2.approx.f32", {-130}), 0x1p-130f);
  EXPECT_EQ(fop("ex2.approx.ftz.f32", {-130}), 0.0f);
  EXPECT_PRED2(near, fop("lg2.approx.f32", {5}), std::log2(5.0));
  EXPECT_EQ(fop("lg2.approx.f32", {0}), -infinity);
  EXPECT_PRED2(near, fop("rcp.approx.ftz.f32", {7}), 1 / 7.0);
  EXPECT_EQ(fop("rcp.approx.ftz.f32", {-0.0f}), -infinity);
  EXPECT_PRED2(near, fop("rsqrt.approx.f32", {7}), 1 / std::sqrt(7.0));
  EXPECT_PRED2(near, fop("sqrt.approx.f32", {7}), std::sqrt(7.0));
  EXPECT_PRED2(near, fop("sin.approx.f32", {1}), std::sin(1.0));
  EXPECT_PRED2(near, fop("cos.approx.f32", {1}), std::cos(1.0));
  EXPECT_PRED2(near, fop("tanh.approx.f32", {0.3f}), std::tanh(double(0.3f)));
}

TEST(PtxFloat, MixedPrecision) { // all operands but the last are of 16 bits; one rounding, to f32
  auto mixed = [](const std::string &line, uint32_t a, uint32_t b, float c) {
    return real(valueOf("cvt.u16.u32 %h1, %a0;\ncvt.u16.u32 %h2, %a1;\n" + line, {a, b, bits(c)}));
  };
  EXPECT_EQ(mixed("add.rn.f32.bf16 %o0, %h1, %a2;", 0x3f80, 0, 0x1p-20f), 1 + 0x1p-20f);
  EXPECT_EQ(mixed("add.f32.f16 %o0, %h1, %a2;", 0x3c00, 0, 2), 3);
  EXPECT_EQ(mixed("sub.rn.f32.bf16 %o0, %h1, %a2;", 0x3f80, 0, 3), -2);
  EXPECT_EQ(mixed("fma.rn.f32.bf16 %o0, %h1, %h2, %a2;", 0x3f81, 0x3f81, -1), 0x1.0404p0f - 1);
  EXPECT_EQ(mixed("fma.rn.sat.f32.f16 %o0, %h1, %h2, %a2;", 0x4000, 0x4000, 1), 1);
}

TEST(PtxFloat, SixteenBits) { // f16: 3c00 = 1, 4000 = 2, 3800 = 0.5; bf16: 3f80 = 1, 4000 = 2
  EXPECT_EQ(op16("add.f16 %h0, %h1, %h2;", 0x3c00, 0x3c00), 0x4000u);
  EXPECT_EQ(op16("mul.f16 %h0, %h1, %h2;", 0x7bff, 0x4000), 0x7c00u); // 65504 times 2
  EXPECT_EQ(op16("add.f16 %h0, %h1, %h2;", 0x6800, 0x3c00),
            0x6800u); // 2048 + 1: the tie goes to the even one
  EXPECT_EQ(op16("fma.rn.f16 %h0, %h1, %h2, %h3;", 0x3c03, 0x3c03, 0xbc00),
            0x1e02u); // (1 + 3 2^-10)^2 - 1, rounded once
  EXPECT_EQ(op16("fma.rn.bf16 %h0, %h1, %h2, %h3;", 0x3f80, 0x4000, 0x3f80), 0x4040u);
  EXPECT_EQ(op16("fma.rn.relu.bf16 %h0, %h1, %h2, %h3;", 0xbf80, 0x4000, 0x3f80), 0u);
  EXPECT_EQ(op16("max.bf16 %h0, %h1, %h2;", 0xbf80, 0x3f80), 0x3f80u);
  EXPECT_EQ(op("add.f16x2", {0x3c004000, 0x3c003c00}), 0x40004200u);
  EXPECT_EQ(op("fma.rn.bf16x2", {0x3f804000, 0x3f803f80, 0x00003f80}), 0x3f804040u);
  EXPECT_EQ(op("ex2.approx.ftz.bf16x2", {0x3f804000}), 0x40004080u);
  EXPECT_EQ(op16("tanh.approx.f16 %h0, %h1;", 0x0000), 0u);
}

TEST(PtxFloat, SixtyFourBits) {
  auto d = [](double x) { return std::bit_cast<uint64_t>(x); };
  EXPECT_EQ(op64("add.f64 %d0, %d1, %d2;", d(0.1), d(0.2)), d(0.1 + 0.2));
  EXPECT_EQ(op64("fma.rn.f64 %d0, %d1, %d2, %d1;", d(3), d(5)), d(18));
  EXPECT_EQ(op64("div.rn.f64 %d0, %d1, %d2;", d(1), d(3)), d(1.0 / 3));
}

} // namespace
} // namespace taylor::runtime::ptx

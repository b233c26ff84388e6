// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt: rounding modes, saturation, widths (PTX ISA, "cvt").
#include "Fixture.h"
#include <cmath>

namespace taylor::runtime::ptx {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

uint32_t convert(const std::string &form, uint32_t a) { return valueOf("cvt." + form + " %o0, %a0;", {a}); }
uint32_t toHalf(const std::string &form, float a) {
  return valueOf("cvt." + form + " %h0, %a0;\ncvt.u32.u16 %o0, %h0;", {bits(a)});
}
int32_t integer(const std::string &form, float a) { return int32_t(convert(form + ".f32", bits(a))); }

TEST(PtxConvert, FloatToInteger) {
  float x[] = {2.5f, 3.5f, -2.5f, 2.4f, -2.6f};
  int nearest[] = {2, 4, -2, 2, -3}, zero[] = {2, 3, -2, 2, -2}, down[] = {2, 3, -3, 2, -3},
      up[] = {3, 4, -2, 3, -2};
  for (unsigned k = 0; k < 5; ++k) {
    EXPECT_EQ(integer("rni.s32", x[k]), nearest[k]) << x[k];
    EXPECT_EQ(integer("rzi.s32", x[k]), zero[k]) << x[k];
    EXPECT_EQ(integer("rmi.s32", x[k]), down[k]) << x[k];
    EXPECT_EQ(integer("rpi.s32", x[k]), up[k]) << x[k];
    EXPECT_EQ(real(convert("rpi.f32.f32", bits(x[k]))), float(up[k])) << x[k];
  }
  EXPECT_EQ(integer("rzi.s32", 3e9f), 0x7fffffff); // saturates
  EXPECT_EQ(integer("rzi.s32", -infinity), int32_t(0x80000000));
  EXPECT_EQ(convert("rzi.u32.f32", bits(-1.0f)), 0u);
  EXPECT_EQ(convert("rzi.u32.f32", bits(3e9f)), 3000000000u);
  EXPECT_EQ(integer("rzi.s32", nan), 0);
  EXPECT_EQ(convert("rzi.s16.f32", bits(1e6f)), 0x7fffu);
}

TEST(PtxConvert, IntegerToFloat) { // 2^24 + 1 lies between two floats
  EXPECT_EQ(real(convert("rn.f32.s32", 16777217)), 16777216.0f);
  EXPECT_EQ(real(convert("rp.f32.s32", 16777217)), 16777218.0f);
  EXPECT_EQ(real(convert("rm.f32.s32", uint32_t(-16777217))), -16777218.0f);
  EXPECT_EQ(real(convert("rz.f32.s32", uint32_t(-16777217))), -16777216.0f);
  EXPECT_EQ(real(convert("rn.f32.u32", 0xffffffff)), 4294967296.0f);
  // 2^53 + 2^29 + 1: just above a tie of fp32, which a detour through fp64 would lose.
  uint64_t big = (uint64_t(1) << 53) + (uint64_t(1) << 29) + 1;
  EXPECT_EQ(real(valueOf("mov.b64 %d0, {%a0, %a1};\ncvt.rn.f32.u64 %o0, %d0;",
                         {uint32_t(big), uint32_t(big >> 32)})),
            0x1p53f + 0x1p30f);
}

TEST(PtxConvert, Integers) {
  EXPECT_EQ(convert("u32.u16", 0x1234ffff), 0xffffu); // the low bits of a wider register
  EXPECT_EQ(convert("s32.s16", 0x1234ffff), 0xffffffffu);
  EXPECT_EQ(convert("s32.s8", 0x80), 0xffffff80u);
  EXPECT_EQ(convert("u8.u32", 0x1ff), 0xffu); // and zeros above a narrower result
  EXPECT_EQ(convert("s8.s32", 0x1ff), 0xffffffffu);
  EXPECT_EQ(convert("sat.s8.s32", 1000), 127u);
  EXPECT_EQ(convert("sat.u8.s32", uint32_t(-5)), 0u);
  EXPECT_EQ(valueOf("cvt.s64.s32 %d0, %a0;\nmov.b64 {_, %o0}, %d0;", {0x80000000}), 0xffffffffu);
  EXPECT_EQ(valueOf("cvt.u64.u32 %d0, %a0;\nmov.b64 {_, %o0}, %d0;", {0x80000000}), 0u);
}

TEST(PtxConvert, ToBf16) { // 1 + 2^-8 is the tie above 1; 1 + 3 2^-8 the one above 1 + 2^-7
  float tie = 1 + 0x1p-8f, odd = 1 + 3 * 0x1p-8f;
  EXPECT_EQ(toHalf("rn.bf16.f32", tie), 0x3f80u);
  EXPECT_EQ(toHalf("rn.bf16.f32", odd), 0x3f82u);
  EXPECT_EQ(toHalf("rn.bf16.f32", 1 + 0x1.02p-8f), 0x3f81u);
  EXPECT_EQ(toHalf("rz.bf16.f32", odd), 0x3f81u);
  EXPECT_EQ(toHalf("rn.bf16.f32", 3.4e38f), 0x7f80u); // above the largest bf16 by more than half a step
  EXPECT_EQ(toHalf("rn.bf16.f32", nan), 0x7fffu);
  EXPECT_EQ(toHalf("rn.bf16.f32", 0x1p-133f), 1u); // the least subnormal
  EXPECT_EQ(toHalf("rn.relu.bf16.f32", -1), 0u);
}

TEST(PtxConvert, ToF16) {
  EXPECT_EQ(toHalf("rn.f16.f32", 65519.0f), 0x7bffu);
  EXPECT_EQ(toHalf("rn.f16.f32", 65520.0f), 0x7c00u);
  EXPECT_EQ(toHalf("rz.f16.f32", 1e9f), 0x7bffu);
  EXPECT_EQ(toHalf("rn.f16.f32", 0x1p-24f), 1u);
  EXPECT_EQ(toHalf("rn.f16.f32", 0x1p-25f), 0u); // a tie with the even zero
  EXPECT_EQ(toHalf("rn.f16.f32", 0x1.8p-25f), 1u);
  EXPECT_EQ(toHalf("rn.f16.f32", 1 + 0x1p-11f), 0x3c00u);
  EXPECT_EQ(toHalf("rm.f16.f32", -1 - 0x1p-12f), 0xbc01u);
  EXPECT_EQ(toHalf("rn.f16.f32", -0.0f), 0x8000u);
}

TEST(PtxConvert, FromSixteenBits) { // every f16 and bf16 against the formula of its fields
  Words all(256);
  for (unsigned high = 0; high < 256; ++high) {
    for (unsigned k = 0; k < 256; ++k)
      all[k] = high << 8 | k;
    Result r = execute("cvt.u16.u32 %h0, %a0;\ncvt.f32.f16 %o0, %h0;\ncvt.f32.bf16 %o1, %h0;", {all}, 2,
                       {.threads = 256});
    ASSERT_FALSE(r.report.fault) << r.report.fault->message;
    for (unsigned k = 0; k < 256; ++k) {
      unsigned exponent = all[k] >> 10 & 31, fraction = all[k] & 1023;
      double size = exponent == 31 ? (fraction ? nan : infinity)
                    : exponent     ? std::ldexp(1024 + fraction, int(exponent) - 25)
                                   : std::ldexp(fraction, -24);
      float expected = float(all[k] >> 15 ? -size : size);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(real(r.outputs[0][k])));
      else
        EXPECT_EQ(r.outputs[0][k], bits(expected)) << all[k];
      if (!std::isnan(real(all[k] << 16)))
        EXPECT_EQ(r.outputs[1][k], all[k] << 16);
    }
  }
}

TEST(PtxConvert, Pairs) { // the first source is the upper half
  EXPECT_EQ(valueOf("cvt.rn.bf16x2.f32 %o0, %a0, %a1;", {bits(1.0f), bits(2.0f)}), 0x3f804000u);
  EXPECT_EQ(valueOf("cvt.rn.f16x2.f32 %o0, %a0, %a1;", {bits(1.0f), bits(2.0f)}), 0x3c004000u);
  EXPECT_EQ(valueOf("cvt.rn.relu.bf16x2.f32 %o0, %a0, %a1;", {bits(-1.0f), bits(2.0f)}), 0x00004000u);
  EXPECT_EQ(valueOf("cvt.rz.bf16x2.f32 %o0, %a0, %a1;", {bits(1 + 0x1.8p-8f), bits(-1 - 0x1.8p-8f)}),
            0x3f80bf80u);
  EXPECT_EQ(valueOf("cvt.rn.bf16x2.f32 %o0, %a0, %a1;", {bits(1 + 0x1p-8f), bits(1 + 3 * 0x1p-8f)}),
            0x3f803f82u);
}

TEST(PtxConvert, Tf32) { // 10 bits of fraction, ties away from zero
  EXPECT_EQ(convert("rna.tf32.f32", bits(1 + 0x1p-11f)), bits(1 + 0x1p-10f));
  EXPECT_EQ(convert("rna.tf32.f32", bits(-1 - 0x1p-11f)), bits(-1 - 0x1p-10f));
  EXPECT_EQ(convert("rna.tf32.f32", bits(1 + 0x1.8p-12f)), bits(1.0f));
}

TEST(PtxConvert, Double) {
  EXPECT_EQ(valueOf("cvt.f64.f32 %d0, %a0;\nmov.b64 {_, %o0}, %d0;", {bits(1.5f)}), 0x3ff80000u);
  EXPECT_EQ(valueOf("mov.b64 %d0, {%a0, %a1};\ncvt.rp.f32.f64 %o0, %d0;", {1, 0x3ff00000}),
            bits(1 + 0x1p-23f));
  EXPECT_EQ(valueOf("mov.b64 %d0, {%a0, %a1};\ncvt.rn.f32.f64 %o0, %d0;", {1, 0x3ff00000}), bits(1.0f));
}

TEST(PtxConvert, FlushAndSaturate) {
  EXPECT_EQ(convert("ftz.f32.f32", bits(0x1p-130f)), 0u);
  EXPECT_EQ(convert("f32.f32", bits(0x1p-130f)), bits(0x1p-130f));
  EXPECT_EQ(convert("sat.f32.f32", bits(2.5f)), bits(1.0f));
  EXPECT_EQ(convert("sat.f32.f32", bits(nan)), 0u);
}

} // namespace
} // namespace taylor::runtime::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The emulated matrix unit: against a formula, and bit for bit against the instructions where the machine has
// them.
#include "runtime/Cpu.h"
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <immintrin.h>
#include <random>
#include <vector>

extern "C" {
void taylor_emulated_ldtilecfg(const uint8_t *configuration);
void taylor_emulated_tilerelease(void);
void taylor_emulated_tilezero(uint8_t number);
void taylor_emulated_tileloadd64(uint8_t number, const void *from, int64_t stride);
void taylor_emulated_tilestored64(uint8_t number, void *to, int64_t stride);
void taylor_emulated_tdpbf16ps(uint8_t c, uint8_t a, uint8_t b);
}

namespace {

float widen(uint16_t half) { return std::bit_cast<float>(uint32_t(half) << 16); }

/// Registers 1 (C), 4 (A) and 6 (B) for C[m][n] += A[m][2k] B[k][2n].
std::vector<uint8_t> configuration(int m, int n, int k) {
  std::vector<uint8_t> bytes(64);
  bytes[0] = 1;
  for (auto [number, rows, columnBytes] : {std::tuple(1, m, 4 * n), {4, m, 4 * k}, {6, k, 4 * n}}) {
    bytes[size_t(16 + 2 * number)] = uint8_t(columnBytes);
    bytes[size_t(48 + number)] = uint8_t(rows);
  }
  return bytes;
}

struct Problem {
  int m, n, k;
  std::vector<uint16_t> a, b; // [16][32]
  std::vector<float> c;       // [16][16]
};

Problem makeProblem(std::mt19937 &random, int kind) {
  auto size = [&] { return 1 + int(random() % 16); };
  Problem problem{size(),
                  size(),
                  size(),
                  std::vector<uint16_t>(512),
                  std::vector<uint16_t>(512),
                  std::vector<float>(256)};
  for (std::vector<uint16_t> *numbers : {&problem.a, &problem.b})
    for (uint16_t &x : *numbers) {
      x = uint16_t(random());
      if (kind == 0) // of order 1
        x = uint16_t(0x3f00 | (x & 0x80ff));
      if (kind == 1) // products below the smallest normal number
        x = uint16_t(0x1f00 | (x & 0x80ff));
    }
  for (float &x : problem.c)
    x = kind == 2 ? std::bit_cast<float>(uint32_t(random()))
                  : std::ldexp(float(random() % 2000) - 1000, kind == 1 ? -150 : -9);
  return problem;
}

std::vector<float> emulate(const Problem &problem) {
  std::vector<float> result(256, 7);
  taylor_emulated_ldtilecfg(configuration(problem.m, problem.n, problem.k).data());
  taylor_emulated_tileloadd64(1, problem.c.data(), 64);
  taylor_emulated_tileloadd64(4, problem.a.data(), 64);
  taylor_emulated_tileloadd64(6, problem.b.data(), 64);
  taylor_emulated_tdpbf16ps(1, 4, 6);
  taylor_emulated_tilestored64(1, result.data(), 64);
  taylor_emulated_tilerelease();
  return result;
}

__attribute__((target("amx-tile,amx-bf16"))) std::vector<float> compute(const Problem &problem) {
  std::vector<float> result(256, 7);
  _tile_loadconfig(configuration(problem.m, problem.n, problem.k).data());
  _tile_loadd(1, problem.c.data(), 64);
  _tile_loadd(4, problem.a.data(), 64);
  _tile_loadd(6, problem.b.data(), 64);
  _tile_dpbf16ps(1, 4, 6);
  _tile_stored(1, result.data(), 64);
  _tile_release();
  return result;
}

TEST(TileEmulation, Formula) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    Problem problem = makeProblem(random, 0);
    std::vector<float> result = emulate(problem);
    for (int m = 0; m < 16; ++m)
      for (int n = 0; n < 16; ++n) {
        size_t at = size_t(16 * m + n);
        if (m >= problem.m || n >= problem.n) {
          EXPECT_EQ(result[at], 7); // outside of the register nothing is stored
          continue;
        }
        double sum = problem.c[at];
        for (int k = 0; k < 2 * problem.k; ++k)
          sum += double(widen(problem.a[size_t(32 * m + k)])) *
                 widen(problem.b[size_t(32 * (k / 2) + 2 * n + k % 2)]);
        EXPECT_NEAR(result[at], sum, 1e-5 * (1 + 2 * problem.k));
      }
  }
}

TEST(TileEmulation, SubnormalNumbersAreZero) {
  std::vector<uint16_t> a(512), b(512);
  std::vector<float> c(256), result(256);
  a[0] = 0x0001; // 2^-133
  a[1] = 0x3f80; // 1
  b[0] = 0x7f00; // 2^127
  b[1] = 0x3f80;
  c[0] = std::ldexp(1.f, -130);
  taylor_emulated_ldtilecfg(configuration(16, 16, 16).data());
  taylor_emulated_tileloadd64(4, a.data(), 64);
  taylor_emulated_tileloadd64(6, b.data(), 64);
  taylor_emulated_tileloadd64(1, c.data(), 64);
  taylor_emulated_tdpbf16ps(1, 4, 6);
  taylor_emulated_tilestored64(1, result.data(), 64);
  EXPECT_EQ(result[0], 1); // 2^-133 2^127 would be 2^-6
  taylor_emulated_tilezero(1);
  taylor_emulated_tilestored64(1, result.data(), 64);
  EXPECT_EQ(result[0], 0);
  taylor_emulated_tilerelease();
}

TEST(TileEmulation, NotANumberStays) {
  Problem problem{16,
                  16,
                  16,
                  std::vector<uint16_t>(512, 0x3f80),
                  std::vector<uint16_t>(512, 0x3f80),
                  std::vector<float>(256)};
  problem.a[32 * 3] = 0x7fff;
  std::vector<float> result = emulate(problem);
  EXPECT_EQ(result[0], 32);
  for (size_t n = 0; n < 16; ++n)
    EXPECT_TRUE(std::isnan(result[16 * 3 + n]));
}

TEST(TileEmulation, SameBitsAsInstructions) {
  std::vector<std::string> features = {"amx-tile", "amx-bf16"};
  if (!taylor::runtime::missingFeature(features).empty() || !taylor::runtime::deniedFeature(features).empty())
    GTEST_SKIP() << "this processor has no matrix unit";
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round) {
    Problem problem = makeProblem(random, round % 3);
    std::vector<float> expected = compute(problem), actual = emulate(problem);
    for (size_t i = 0; i < 256; ++i)
      if (std::isnan(expected[i]))
        ASSERT_TRUE(std::isnan(actual[i]));
      else
        ASSERT_EQ(std::bit_cast<uint32_t>(expected[i]), std::bit_cast<uint32_t>(actual[i]))
            << expected[i] << " and " << actual[i];
  }
}

} // namespace

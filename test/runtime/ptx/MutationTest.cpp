// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel with asynchronous copies, barriers and a swizzle (Inputs/product.ptx) as it is, and with every one
// of them broken in turn.
#include "Fixture.h"
#include <fstream>
#include <random>
#include <sstream>

namespace taylor::runtime::ptx {
namespace {

std::vector<std::string> product() {
  std::ifstream file(TAYLOR_PTX_INPUTS "/product.ptx");
  EXPECT_TRUE(file);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    lines.push_back(line);
  return lines;
}

struct Outcome {
  Report report;
  bool right; ///< the product is exact
};

Outcome run(const std::vector<std::string> &lines, uint64_t seed, bool checks, unsigned steps = 4) {
  std::string text;
  for (const std::string &line : lines)
    text += line + "\n";
  std::mt19937 random(7);
  std::vector<uint16_t> a(steps * 32 * 16), b(steps * 16 * 8);
  auto value = [](uint16_t x) { return std::bit_cast<float>(uint32_t(x) << 16); };
  for (auto *all : {&a, &b})
    for (uint16_t &x : *all)
      x = uint16_t(bits(float(random() % 9) - 4) >> 16);
  std::vector<float> c(32 * 8, -1), expected(32 * 8);
  for (unsigned s = 0; s < steps; ++s)
    for (unsigned m = 0; m < 32; ++m)
      for (unsigned n = 0; n < 8; ++n)
        for (unsigned k = 0; k < 16; ++k)
          expected[8 * m + n] += value(a[(s * 32 + m) * 16 + k]) * value(b[(s * 16 + k) * 8 + n]);
  // Copies of 16 bytes want 16-byte aligned sources.
  struct alignas(16) Chunk {
    std::byte bytes[16];
  };
  std::vector<Chunk> alignedA(a.size() / 8), alignedB(b.size() / 8);
  std::memcpy(alignedA.data(), a.data(), 2 * a.size());
  std::memcpy(alignedB.data(), b.data(), 2 * b.size());
  struct {
    const void *a, *b, *c;
    uint32_t steps, rest;
  } parameters{alignedA.data(), alignedB.data(), c.data(), steps, 0};
  MemoryRange memory[] = {{alignedA.data(), 2 * a.size(), "a", false},
                          {alignedB.data(), 2 * b.size(), "b", false},
                          {c.data(), 4 * c.size(), "c"}};
  Report r =
      launch(parse(text), "product", {}, {64}, 4096, std::as_bytes(std::span(&parameters, 1)).first(28),
             memory, {.seed = seed, .checks = checks, .profile = true});
  return {r, c == expected};
}

TEST(PtxMutation, TheKernelIsRight) {
  for (uint64_t seed = 0; seed < 10; ++seed)
    for (unsigned steps : {1u, 2u, 5u}) {
      Outcome o = run(product(), seed, true, steps);
      EXPECT_EQ(o.report.fault ? o.report.fault->message : "", "");
      EXPECT_TRUE(o.right);
      EXPECT_EQ(o.report.profile.bankConflicts, 0u);
      EXPECT_EQ(o.report.profile.issued[Profile::Matrix], 2u * steps);
      EXPECT_EQ(o.report.profile.globalRead, steps * (1024 + 256u));
    }
}

/// The kernel with one line replaced.
std::vector<std::string> with(size_t line, const std::string &text) {
  std::vector<std::string> lines = product();
  lines[line] = text;
  return lines;
}

TEST(PtxMutation, EveryWaitAndBarrierIsNeeded) {
  std::vector<std::string> lines = product();
  unsigned tried = 0;
  for (size_t n = 0; n < lines.size(); ++n) {
    bool wait = lines[n].find("cp.async.wait_group") != std::string::npos;
    bool commit = lines[n].find("cp.async.commit_group") != std::string::npos;
    if (!wait && !commit && lines[n].find("bar.sync") == std::string::npos)
      continue;
    ++tried;
    for (uint64_t seed = 0; seed < 10; ++seed) {
      Outcome o = run(with(n, ""), seed, true);
      ASSERT_TRUE(o.report.fault) << "without line " << n + 1 << ": " << lines[n];
      EXPECT_TRUE(o.report.fault->kind == FaultKind::InFlight || o.report.fault->kind == FaultKind::Race ||
                  o.report.fault->kind == FaultKind::UninitialisedShared)
          << o.report.fault->message;
      if (wait || commit) // also without checks: what is read too early is NaN
        EXPECT_FALSE(run(with(n, ""), seed, false).right) << "without line " << n + 1;
    }
    if (wait)
      EXPECT_TRUE(run(with(n, "cp.async.wait_group 1;"), 0, true).report.fault);
  }
  EXPECT_EQ(tried, 4u);
}

TEST(PtxMutation, TheSwizzleIsNeeded) { // on both sides: conflicts; on one side: a wrong product
  std::vector<std::string> lines = product();
  std::vector<size_t> swizzles;
  for (size_t n = 0; n < lines.size(); ++n)
    if (lines[n].find("xor.b32 	%r7,") != std::string::npos ||
        lines[n].find("xor.b32 	%r19,") != std::string::npos)
      swizzles.push_back(n);
  ASSERT_EQ(swizzles.size(), 2u);
  std::string plain[] = {"mov.b32 %r7, %r5;", "mov.b32 %r19, %r17;"};
  for (unsigned side = 0; side < 2; ++side) {
    Outcome o = run(with(swizzles[side], plain[side]), 0, true);
    EXPECT_EQ(o.report.fault ? o.report.fault->message : "", "");
    EXPECT_FALSE(o.right);
    lines[swizzles[side]] = plain[side];
  }
  Outcome o = run(lines, 0, true);
  EXPECT_TRUE(o.right);
  // A matrix's eight rows of 32 bytes take two passes; two warps read four matrices of A in each of four
  // steps.
  EXPECT_EQ(o.report.profile.bankConflicts, 2u * 4 * 4);
}

} // namespace
} // namespace taylor::runtime::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax attention as LLVM 22 compiles it for sm_90a (Inputs/attention90.ptx): a producer that copies boxes,
// two warpgroups that multiply, a ring of two slots, products that overlap with exponentials, results by bulk
// copies.
#include "Fixture.h"
#include "Mutation.h"
#include "runtime/ptx/TensorMap.h"
#include <cmath>
#include <fstream>
#include <random>

namespace taylor::runtime::ptx {
namespace {

constexpr unsigned rows = 128, channels = 128, keys = 128;

std::string attention() {
  std::ifstream file(TAYLOR_PTX_INPUTS "/attention90.ptx");
  EXPECT_TRUE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// [heads][tokens][channels] of bf16.
struct Tensor {
  unsigned heads, tokens;
  struct alignas(16) Chunk {
    std::byte bytes[16];
  };
  std::vector<Chunk> memory;
  Tensor(unsigned heads, unsigned tokens)
      : heads(heads), tokens(tokens), memory(size_t(heads) * tokens * channels / 8) {}
  uint16_t &at(unsigned h, unsigned t, unsigned c) {
    return reinterpret_cast<uint16_t *>(memory.data())[(size_t(h) * tokens + t) * channels + c];
  }
  double value(unsigned h, unsigned t, unsigned c) { return real(uint32_t(at(h, t, c)) << 16); }
  TensorMap map(unsigned boxRows) {
    return makeTensorMap({.type = TensorType::BFloat16,
                          .rank = 3,
                          .address = reinterpret_cast<uintptr_t>(memory.data()),
                          .sizes = {channels, tokens, heads},
                          .strides = {2 * channels, 2 * channels * tokens},
                          .box = {64, boxRows, 1},
                          .swizzle = 128});
  }
  MemoryRange range(const char *name, bool writable) {
    return {memory.data(), 16 * memory.size(), name, writable};
  }
};

/// The root of the mean square error, over that of the result, against f64.
double errorOf(Tensor &q, Tensor &k, Tensor &v, Tensor &o, double scale) {
  double difference = 0, size = 0;
  for (unsigned h = 0; h < q.heads; ++h)
    for (unsigned t = 0; t < q.tokens; t += 7) {
      std::vector<double> weights(k.tokens);
      double most = -1e300, sum = 0;
      for (unsigned u = 0; u < k.tokens; ++u) {
        for (unsigned c = 0; c < channels; ++c)
          weights[u] += q.value(h, t, c) * k.value(h, u, c);
        most = std::max(most, weights[u] *= scale);
      }
      for (double &w : weights)
        sum += w = std::exp(w - most);
      for (unsigned c = 0; c < channels; ++c) {
        double expected = 0;
        for (unsigned u = 0; u < k.tokens; ++u)
          expected += weights[u] * v.value(h, u, c) / sum;
        difference += std::pow(o.value(h, t, c) - expected, 2);
        size += expected * expected;
      }
    }
  return std::sqrt(difference / size);
}

/// Inputs, result and parameters of a call.
struct Call {
  unsigned heads, tiles, blocks;
  double scale = 1 / std::sqrt(double(channels));
  Tensor q, k, v, o;

  Call(unsigned heads, unsigned tiles, unsigned blocks)
      : heads(heads), tiles(tiles), blocks(blocks), q(heads, rows * tiles), k(heads, keys * blocks),
        v(heads, keys * blocks), o(heads, rows * tiles) {
    std::mt19937 random(blocks);
    std::normal_distribution<float> normal;
    for (Tensor *tensor : {&q, &k, &v})
      for (unsigned h = 0; h < heads; ++h)
        for (unsigned t = 0; t < tensor->tokens; ++t)
          for (unsigned c = 0; c < channels; ++c)
            tensor->at(h, t, c) = uint16_t(bits(normal(random)) >> 16);
  }
  RunReport run(const Module &module, uint64_t seed) {
    struct {
      TensorMap q, k, v, o;
      uint32_t blocks;
      float scale;
    } parameters{q.map(rows), k.map(keys), v.map(keys), o.map(64), blocks, float(scale / std::log(2))};
    MemoryRange memory[] = {q.range("q", false), k.range("k", false), v.range("v", false),
                            o.range("o", true)};
    std::fill(o.memory.begin(), o.memory.end(), Tensor::Chunk{});
    return launch(module, "fa3_fwd", {tiles, heads}, {384}, 164096,
                  std::as_bytes(std::span(&parameters, 1)).first(520), memory,
                  {.seed = seed, .profile = true, .limit = 1 << 22});
  }
};

TEST(PtxAttention, IsRight) {
  Module module = parse(attention());
  for (auto [heads, tiles, blocks] : {std::array<unsigned, 3>{2, 1, 3}, {1, 2, 1}, {1, 1, 5}}) {
    Call call(heads, tiles, blocks);
    for (uint64_t seed = 0; seed < 4; ++seed) {
      RunReport r = call.run(module, seed);
      ASSERT_FALSE(r.fault) << r.fault->message;
      EXPECT_LT(errorOf(call.q, call.k, call.v, call.o, call.scale), 3e-3);
      EXPECT_EQ(r.profile.issued[Profile::Matrix], heads * tiles * 8 * 16 * blocks);
    }
  }
}

TEST(PtxAttention, WhatSurvivesIsRedundant) {
  Call call(1, 1, 4);
  ASSERT_FALSE(call.run(parse(attention()), 0).fault);
  auto right = call.o.memory;
  unsigned descriptors = 0;
  auto isTried = [&](const Mutation &mutation) {
    return mutation.kind != Break::Descriptor || ++descriptors % 8 == 0;
  };
  auto isCaught = [&](const Mutation &mutation, unsigned seed) {
    return call.run(parse(mutation.text), seed).fault ||
           std::memcmp(call.o.memory.data(), right.data(), 16 * right.size()) != 0;
  };
  std::vector<Mutation> survivors = survivorsOf(attention(), 3, isCaught, isTried);
  std::erase_if(survivors, isOffsetUnused);
  ASSERT_EQ(survivors.size(), 2u) << listOf(survivors);
  // The fence before the loop's second product: no register of it was touched since the first one's.
  EXPECT_EQ(survivors[0].line, 878u);
  EXPECT_EQ(survivors[0].kind, Break::RemoveFence);
  // The release of K before the wait for its product: the producer copies K again after it has copied V into
  // a slot that is released later than that.
  EXPECT_EQ(survivors[1].line, 914u);
  EXPECT_EQ(survivors[1].kind, Break::EarlyArrive);
}

} // namespace
} // namespace taylor::runtime::ptx

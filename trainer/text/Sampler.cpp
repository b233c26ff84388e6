// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/support/Error.h"
#include "trainer/text/Data.h"

namespace taylor::trainer {

namespace {

// The finalizer of splitmix64: every bit of the result depends on every bit of x.
uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

} // namespace

// A Feistel network permutes the even number of bits that hold `count`; walking on while the result lies
// outside [0, count) makes it a permutation of [0, count) (fewer than four turns on average).
int64_t permute(int64_t i, int64_t count, uint64_t key) {
  int half = 1;
  while ((uint64_t(1) << (2 * half)) < uint64_t(count))
    ++half;
  uint64_t mask = (uint64_t(1) << half) - 1, value = i;
  do {
    uint64_t left = value >> half, right = value & mask;
    for (uint64_t round = 0; round < 4; ++round) {
      uint64_t next = left ^ (mix(key ^ mix(right << 2 | round)) & mask);
      left = right;
      right = next;
    }
    value = left << half | right;
  } while (value >= uint64_t(count));
  return value;
}

PackedSampler::PackedSampler(const TokenFile &tokens, int64_t context, int64_t batch, int64_t seed)
    : file(tokens), context(context), batch(batch), seed(seed) {
  if (tokens.size() < context + 1)
    fail("requires at least train.context + 1 = ", context + 1, " tokens of training text, but there are ",
         tokens.size(), "; lower train.context or give more text");
  // The first token moves by up to context - 1 from pass to pass where there is room, so that borders move
  // too.
  count = std::max<int64_t>(1, (tokens.size() - context) / context);
}

void PackedSampler::sample(int64_t step, int64_t i, int64_t *inputs, int64_t *targets) const {
  int64_t number = step * batch + i, pass = number / count;
  uint64_t key = mix(mix(seed) ^ uint64_t(pass));
  int64_t room = file.size() - (count * context + 1);
  int64_t first = mix(key) % uint64_t(std::min(room, context - 1) + 1);
  const uint16_t *begin = file.tokens().data() + first + permute(number % count, count, key) * context;
  for (int64_t t = 0; t < context; ++t) {
    inputs[t] = begin[t];
    targets[t] = begin[t + 1];
  }
}

std::vector<int64_t> evaluationStarts(const TokenFile &tokens, int64_t context, int64_t wanted) {
  int64_t fit = (tokens.size() - 1) / context;
  if (fit < 1)
    fail("requires at least train.context + 1 = ", context + 1, " tokens of validation text, but there are ",
         tokens.size(), "; lower train.context, raise data.validation_fraction or give more text");
  int64_t count = wanted == 0 ? fit : std::min(wanted, fit);
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < count; ++i)
    starts.push_back(i * fit / count * context);
  return starts;
}

} // namespace taylor::trainer

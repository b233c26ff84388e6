// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/support/Random.h"

namespace taylor::trainer {

/// A Feistel network permutes the even number of bits that hold `count`; walking on while the result lies
/// outside [0, count) makes it a permutation of [0, count) (fewer than four turns on average).
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

} // namespace taylor::trainer

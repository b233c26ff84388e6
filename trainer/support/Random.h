// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers that are functions of a key, with nothing to save.
#ifndef TAYLOR_TRAINER_SUPPORT_RANDOM_H
#define TAYLOR_TRAINER_SUPPORT_RANDOM_H
#include <cstdint>

namespace taylor::trainer {

/// The finalizer of splitmix64: every bit of the result depends on every bit of x.
inline uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// A permutation of [0, count) chosen by key: where element i goes.
int64_t permute(int64_t i, int64_t count, uint64_t key);

} // namespace taylor::trainer
#endif

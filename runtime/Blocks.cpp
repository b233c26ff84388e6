// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Blocks.h"
#include <algorithm>

namespace taylor::runtime {

Blocks::Blocks(int64_t count, int64_t threads) : shares(size_t(threads)) {
  int64_t begin = 0;
  for (int64_t i = 0; i < threads; ++i) {
    Share &share = shares[size_t(i)];
    share.next.store(begin, std::memory_order_relaxed);
    share.end = begin += count / threads + (i < count % threads);
  }
}

bool Blocks::take(int64_t thread, int64_t &begin, int64_t &end) {
  for (size_t i = 0; i < shares.size(); ++i) {
    Share &share = shares[(size_t(thread) + i) % shares.size()];
    begin = share.next.load(std::memory_order_relaxed);
    while (begin < share.end) {
      end = begin + std::max<int64_t>(1, (share.end - begin) / 8);
      if (share.next.compare_exchange_weak(begin, end, std::memory_order_relaxed))
        return true;
    }
  }
  return false;
}

int64_t Blocks::left() const {
  int64_t left = 0;
  for (const Share &share : shares)
    left += share.end - share.next.load(std::memory_order_relaxed);
  return left;
}

} // namespace taylor::runtime

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which thread runs which blocks of a kernel.
#ifndef TAYLOR_RUNTIME_BLOCKS_H
#define TAYLOR_RUNTIME_BLOCKS_H
#include <atomic>
#include <cstdint>
#include <vector>

namespace taylor::runtime {

/// Blocks [0, count), in a share of neighbours for each thread.
class Blocks {
public:
  Blocks(int64_t count, int64_t threads);

  /// Takes blocks [begin, end), each once, for a thread of a number from 0 on; false where none is left. The
  /// first are of its own share, which is the same for each grid of this size: what they left in a core's
  /// cache is there for the next call. Then come others' shares, so that threads finish together. Ranges are
  /// long at first and single blocks at the end.
  bool take(int64_t thread, int64_t &begin, int64_t &end);

  /// Blocks that no one has taken.
  int64_t left() const;

private:
  /// What is left of a share begins at `next`; each lies in a line of the caches of its own.
  struct alignas(64) Share {
    std::atomic<int64_t> next;
    int64_t end;
  };
  std::vector<Share> shares;
};

} // namespace taylor::runtime

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of each byte of a block's shared memory: whether it was written, by whom it was touched last,
// and whether a cp.async is filling it.
#pragma once
#include "runtime/ptx/Program.h"

namespace taylor::runtime::ptx {

/// A happens-before order by vector clocks: warp w's k-th stretch between barriers has clock k. An access of
/// warp v at clock c is ordered before one of warp w if w's vector has at least c at v. Lanes of one warp
/// count as ordered.
class Shadow {
public:
  /// One access. `strong`: volatile, with an explicit memory order, or atomic; two such do not race.
  struct Access {
    unsigned warp, thread, line;
    const std::vector<uint32_t> &clocks;
    bool strong;
  };
  struct Finding {
    FaultKind kind;
    uint64_t address;
    std::string what;
  };
  /// All bytes unwritten, by nobody.
  void reset(size_t bytes, unsigned warps);
  std::optional<Finding> read(uint64_t address, unsigned bytes, const Access &);
  std::optional<Finding> write(uint64_t address, unsigned bytes, const Access &);
  /// A copy starts: a write that is not finished.
  std::optional<Finding> startCopy(uint64_t address, unsigned bytes, const Access &);
  /// It is finished: what another warp then reads without a barrier is a race.
  void finishCopy(uint64_t address, unsigned bytes, const Access &);

private:
  struct Byte {
    uint32_t clock = 0, line = 0; ///< of the last write
    uint32_t copier = 0;          ///< thread + 1 whose copy is under way
    uint16_t warp = 0;
    bool written = false, strong = false;
  };
  struct Read {
    uint32_t clock = 0, line = 0;
  };
  std::optional<Finding> inFlight(uint64_t address, const Byte &) const;
  void mark(Byte &, const Access &);
  std::vector<Byte> bytes;
  /// The last reads of a warp, by byte.
  Read *readsOf(unsigned warp) { return reads.data() + warp * bytes.size(); }
  std::vector<Read> reads; ///< [warp][byte]
  unsigned warps = 0;
};

} // namespace taylor::runtime::ptx

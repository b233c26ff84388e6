// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of each byte of a block's shared memory: whether it was written, by whom it was touched last,
// and which asynchronous work fills or reads it.
#ifndef TAYLOR_RUNTIME_PTX_SHADOW_H
#define TAYLOR_RUNTIME_PTX_SHADOW_H
#include "runtime/ptx/Program.h"
#include "runtime/ptx/Proxies.h"

namespace taylor::runtime::ptx {

/// A happens-before order by vector clocks: warp w's k-th stretch between barriers has clock k. An access of
/// warp v at clock c is ordered before one of warp w if w's vector has at least c at v. Lanes of one warp
/// count as ordered.
class Shadow {
public:
  /// One access. `strong`: volatile, with an explicit memory order, or atomic; two such do not race.
  struct Access {
    unsigned warp, thread, line;
    const Order &order;
    bool strong;
    bool async = false;  ///< by the async proxy: wgmma, bulk copies
    bool isCopy = false; ///< a bulk copy
  };
  struct Finding {
    FaultKind kind;
    uint64_t address;
    std::string what;
  };
  /// All bytes unwritten, by no one.
  void reset(size_t bytes, unsigned warps);
  std::optional<Finding> read(uint64_t address, unsigned bytes, const Access &);
  std::optional<Finding> write(uint64_t address, unsigned bytes, const Access &);
  /// A copy starts: a write that is not finished.
  std::optional<Finding> startCopy(uint64_t address, unsigned bytes, const Access &);
  /// It is finished: what another warp then reads without a barrier is a race.
  void finishCopy(uint64_t address, unsigned bytes, const Access &);
  /// An mbarrier counts it: what a warp then reads that has not waited for the mbarrier's phase is a race.
  struct Phase {
    unsigned writer;
    uint32_t clock;
    bool async;
  };
  void finishCopy(uint64_t address, unsigned bytes, unsigned line, const Phase &);
  /// wgmma or a bulk copy starts to read 16 bytes from a multiple of 16; until it is finished, nothing may
  /// write them.
  std::optional<Finding> startRead(uint64_t address, const Access &);
  void finishRead(uint64_t address, const Access &);
  /// The bytes become an mbarrier, which no other instruction may touch, or are no longer one.
  void setOpaque(uint64_t address, unsigned bytes, bool isOpaque);

private:
  struct Byte {
    uint32_t clock = 0, line = 0; ///< of the last write
    uint32_t copier = 0;          ///< thread + 1 whose copy is under way; or one of the values below
    uint16_t warp = 0;
    bool written = false;
    bool strong : 1 = false, async : 1 = false; ///< of the last write
  };
  static constexpr uint32_t kBulk = 1u << 31,
                            kMbarrier = ~0u; ///< a flag of bulk copies; no copy, but an mbarrier
  struct Read {
    uint32_t clock = 0;
    uint32_t line : 30 = 0, async : 1 = 0, product : 1 = 0;
  };
  /// Asynchronous reads of 16 bytes that are under way.
  struct Readers {
    uint32_t count = 0, line = 0; ///< line, warp, isCopy: of the last one
    unsigned warp : 31 = 0, isCopy : 1 = 0;
  };
  std::optional<Finding> inFlight(uint64_t address, const Byte &) const;
  std::optional<Finding> beingRead(uint64_t address, unsigned count) const;
  /// Whether a byte's last write comes before an access, and the async proxy sees it.
  static bool follows(const Byte &b, const Access &a) {
    return (b.warp == a.warp || a.order.isBefore(b.warp, b.clock) || (b.strong && a.strong)) &&
           (!a.async || b.async || a.order.isFenced(b.warp, b.clock));
  }
  Finding unorderedWrite(uint64_t address, const Byte &, const Access &) const;
  std::optional<Finding> followsReads(uint64_t address, unsigned count, const Access &);
  std::string unfenced(unsigned warp, const char *verb, unsigned line) const;
  void mark(Byte &, const Access &);
  std::vector<Byte> bytes;
  /// The last reads of a warp, by byte.
  Read *readsOf(unsigned warp) { return reads.data() + warp * bytes.size(); }
  std::vector<Read> reads;      ///< [warp][byte]
  std::vector<Readers> readers; ///< [address / 16]; empty until there is one
  unsigned warps = 0;
};

} // namespace taylor::runtime::ptx

#endif

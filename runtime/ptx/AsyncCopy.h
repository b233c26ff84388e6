// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An engine that completes work late: cp.async (PTX ISA, "Asynchronous copy"). The others are Products and
// BulkCopies: issue records the work, the wait that demands it executes it.
#ifndef TAYLOR_RUNTIME_PTX_ASYNCCOPY_H
#define TAYLOR_RUNTIME_PTX_ASYNCCOPY_H
#include "runtime/ptx/Program.h"

namespace taylor::runtime::ptx {

class Block;

/// The copies of one warp. A copy reads its source and writes its destination when a wait of its thread
/// demands it, or when the thread exits; until then the destination holds a poison pattern.
class AsyncCopies {
public:
  void clear();
  /// Registers one copy of `lane`; `to` is an offset in shared memory. Checks both ends.
  void issue(Warp &, const Instruction &, unsigned lane, uint64_t to, uint64_t from, unsigned sourceBytes);
  /// Closes the group of each lane in the mask.
  void commit(uint32_t mask);
  /// Executes what must be complete when at most `keep` groups of each lane may remain; `all` includes what
  /// is in no group yet.
  void wait(Warp &, uint32_t mask, uint64_t keep, bool all);
  /// cp.async.mbarrier.arrive: once all copies of a lane until now are complete, it arrives at an mbarrier.
  void arriveAfter(Warp &, const Instruction &, unsigned lane, uint32_t mbarrier);
  /// How many such arrivals are under way.
  size_t underWay() const { return arrivals.size(); }
  void complete(Warp &, size_t index);

private:
  struct ThreadCopy {
    const Instruction *at;
    uint64_t to, from;
    uint32_t group, number;
    uint8_t lane, bytes, sourceBytes;
  };
  struct Arrival {
    const Instruction *at;
    unsigned lane;
    uint32_t mbarrier, before; ///< before: number of the first copy that it does not wait for
    uint32_t clock = 0;        ///< of the warp at the last copy before that a wait demanded
  };
  static void execute(Block &, const ThreadCopy &);
  std::vector<ThreadCopy> pending;
  std::vector<Arrival> arrivals;
  std::array<uint32_t, 32> committed{};
  std::array<uint32_t, 32> awaited{}; ///< the warp's clock at the last copy that a wait demanded
  uint32_t issued = 0;
};

} // namespace taylor::runtime::ptx

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An engine that completes work late: cp.async (PTX ISA, "Asynchronous copy"). Others (TMA, wgmma) would be
// further classes that a warp or block owns: issue records the work, the wait that demands it executes it.
#pragma once
#include "runtime/ptx/Program.h"

namespace taylor::runtime::ptx {

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

private:
  struct Copy {
    const Instruction *at;
    uint64_t to, from;
    uint32_t group;
    uint8_t lane, bytes, sourceBytes;
  };
  std::vector<Copy> pending;
  std::array<uint32_t, 32> committed{};
};

} // namespace taylor::runtime::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An engine that completes work late: copies of boxes by a tensor map (PTX ISA, "cp.async.bulk.tensor").
#ifndef TAYLOR_RUNTIME_PTX_BULKCOPIES_H
#define TAYLOR_RUNTIME_PTX_BULKCOPIES_H
#include "runtime/ptx/Program.h"
#include "runtime/ptx/TensorMap.h"

namespace taylor::runtime::ptx {

class Block;

/// The bulk copies of a block, in both directions. A copy to shared memory reads and writes in a random order
/// with others, at the latest when no warp can go on without it; until then its destination holds NaN. A copy
/// back reads shared memory when a wait of its thread demands it, and writes global memory when a wait
/// demands that, or when the block ends; or both at random before.
class BulkCopies {
public:
  void clear(size_t warps);
  void load(Warp &, const Instruction &, uint32_t mask);
  void store(Warp &, const Instruction &, uint32_t mask);
  /// Closes the group of stores of each lane.
  void commit(const Warp &, uint32_t mask);
  /// Of each lane at most `keep` groups may stay that have not read, or have not written either.
  void wait(Warp &, const Instruction &, uint32_t mask);
  /// Lanes exit: their stores must have read.
  void exit(const Warp &, const Instruction &, uint32_t mask) const;
  /// How many copies `complete` can bring on.
  size_t underWay() const;
  void complete(size_t index);
  /// The block ends: all loads must be complete.
  void end(Block &);

private:
  struct BoxCopy {
    Warp *warp;
    const Instruction *at;
    unsigned lane;
    TensorMap map;
    std::array<int64_t, 5> from; ///< coordinates of the box
    uint32_t shared;             ///< address
    uint32_t mbarrier = 0;       ///< of a load
    uint64_t group = 0;          ///< of a store
    bool hasRead = false, hasWritten = false,
         isAwaited = false;           ///< isAwaited: the thread knows that it has read
    std::vector<std::byte> data = {}; ///< that a store has read
  };
  BoxCopy describe(Warp &, const Instruction &, unsigned lane, const Operand &map,
                   const Operand &shared) const;
  void finishLoad(const BoxCopy &);
  static void readSource(BoxCopy &);
  static void writeTarget(BoxCopy &);
  static void release(BoxCopy &);
  std::vector<BoxCopy> loads, stores;
  std::vector<std::array<uint64_t, 32>> committed; ///< groups, by warp and lane
};

} // namespace taylor::runtime::ptx

#endif

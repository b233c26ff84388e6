// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One block of a grid: the order in which its warps run, and what they share.
#ifndef TAYLOR_RUNTIME_PTX_BLOCK_H
#define TAYLOR_RUNTIME_PTX_BLOCK_H
#include "runtime/ptx/BlockMemory.h"
#include "runtime/ptx/BulkCopies.h"
#include "runtime/ptx/Launch.h"
#include "runtime/ptx/Mbarriers.h"
#include "runtime/ptx/NamedBarriers.h"
#include "runtime/ptx/RegisterPool.h"
#include "runtime/ptx/Warp.h"
#include "runtime/ptx/Warpgroup.h"
#include <random>

namespace taylor::runtime::ptx {

/// The scheduler: which warp runs, what must hold before it executes an instruction, and what control flow,
/// barriers and waits do to the block's warps. It executes one block after another of its launch.
class Block {
public:
  explicit Block(const Launch &);
  /// Runs the block of this number (x fastest) to its end.
  std::optional<Fault> run(uint64_t number);
  /// Counts of all blocks that it has run, if they are asked for.
  Profile profile() const;

  /// %ctaid of the present block.
  const std::array<unsigned, 3> &coordinates() const { return position; }
  /// A register's name in the text.
  const std::string &nameOf(const Operand &o) const { return launch.kernel.registers[o.id].name; }
  /// The four warps to which one belongs.
  Warpgroup &warpgroupOf(const Warp &w) { return warpgroups[w.index / 4]; }
  /// What the lanes that wait for an event may go on for: an mbarrier's phase, or registers.
  void wake(uint64_t event);

  const Launch &launch;
  const bool checks; ///< InterpreterOptions::checks
  BlockMemory memory;
  NamedBarriers barriers;
  Mbarriers mbarriers;
  BulkCopies bulkCopies;
  RegisterPool registers;

private:
  void reset(uint64_t number);
  void step(Warp &);
  void count(const Instruction &, uint32_t mask);
  uint32_t fillParts(Warp &, const Instruction &, uint32_t mask);
  void check(Warp &, const Instruction &, uint32_t mask);
  void control(Warp &, const Instruction &, uint32_t mask);
  void exitLanes(Warp &, const Instruction &, uint32_t mask);
  void waitForMbarrier(Warp &, const Instruction &, uint32_t mask);
  void changeRegisters(Warp &, const Instruction &, uint32_t mask);
  bool completeSomething(bool isDemanded);

  const bool profiling;
  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;
  std::array<unsigned, 3> position{};
  std::mt19937_64 random;
  uint64_t steps = 0;
  uint64_t haste = 0;    ///< copies complete once in so many turns before a warp demands it
  bool isPolled = false; ///< a warp has asked for a phase in vain and goes on
  Profile issued;        ///< instructions of all blocks so far
};

} // namespace taylor::runtime::ptx

#endif

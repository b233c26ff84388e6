// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One block of a grid: its warps, its shared memory, its barriers, and the order in which warps run.
#ifndef TAYLOR_RUNTIME_PTX_BLOCK_H
#define TAYLOR_RUNTIME_PTX_BLOCK_H
#include "runtime/ptx/BulkCopies.h"
#include "runtime/ptx/Mbarriers.h"
#include "runtime/ptx/RegisterPool.h"
#include "runtime/ptx/Shadow.h"
#include "runtime/ptx/Warp.h"
#include "runtime/ptx/Warpgroup.h"
#include <random>

namespace taylor::runtime::ptx {

/// What all blocks of a launch share.
struct Launch {
  const Kernel &kernel;
  GridSize grid, block;
  size_t dynamicShared;
  std::span<const std::byte> parameters;
  std::vector<MemoryRange> ranges; ///< by address
  InterpreterOptions options;
  unsigned threads() const { return block.x * block.y * block.z; }
};

/// What ends a block early.
struct FaultFound {
  Fault fault;
};

/// Generic addresses: the top byte names a window; global addresses are the host's and have zero there.
constexpr unsigned kWindowShift = 56;
constexpr uint64_t kSharedWindow = uint64_t(1) << kWindowShift, kLocalWindow = uint64_t(2) << kWindowShift,
                   kParameterWindow = uint64_t(3) << kWindowShift,
                   kWindowMask = (uint64_t(1) << kWindowShift) - 1;

/// The coordinates of the n-th thread or block of a size, x fastest.
std::array<unsigned, 3> split(uint64_t n, GridSize size);

class Block {
public:
  explicit Block(const Launch &);
  /// Runs the block of this number (x fastest) to its end.
  std::optional<Fault> run(uint64_t number);

  /// Ends the block with a fault of one lane.
  [[noreturn]] void raise(const Warp &, const Instruction &, FaultKind, unsigned lane, uint64_t address,
                          const std::string &what) const;
  unsigned threadOf(const Warp &w, unsigned lane) const { return 32 * w.index + lane; }

  /// The host's address of `bytes` at an address of a space, after checks of bounds, alignment and
  /// permission. `space` becomes the space that a generic address points to, `address` the address in it.
  std::byte *locate(Warp &, const Instruction &, unsigned lane, Space &space, uint64_t &address,
                    unsigned bytes, bool write);
  /// The same for global and constant memory, of any size and alignment.
  std::byte *locateGlobal(Warp &, const Instruction &, unsigned lane, uint64_t address, uint64_t bytes,
                          bool write);
  /// Judges an access to shared memory against the others, if checks are on.
  void checkShared(Warp &, const Instruction &, unsigned lane, uint64_t address, unsigned bytes, bool write);
  Shadow::Access accessOf(const Warp &w, const Instruction &i, unsigned lane) const {
    return {w.index, threadOf(w, lane), i.line, w.order, i.strong};
  }
  const std::string &nameOf(const Operand &o) const { return launch.kernel.registers[o.id].name; }
  /// The four warps to which one belongs.
  Warpgroup &warpgroupOf(const Warp &w) { return warpgroups[w.index / 4]; }
  size_t warpCount() const { return warps.size(); }
  /// Counts the extra passes of one access by several lanes of `bytes` each.
  void countConflicts(const std::array<uint64_t, 32> &addresses, uint32_t mask, unsigned bytes);
  void countBytes(Space, bool write, uint64_t bytes);
  /// What the lanes that wait for an event may go on for: an mbarrier's phase, or registers.
  void wake(uint64_t event);

  const Launch &launch;
  std::vector<std::byte> shared;
  Shadow shadow;
  Mbarriers mbarriers;
  BulkCopies bulkCopies;
  Profile profile;
  bool checks, profiling;

private:
  struct Barrier {
    uint32_t expected = 0, arrived = 0;
    Order order;
    unsigned line = 0;
  };
  void reset(uint64_t number);
  void fill(Warp &);
  void step(Warp &);
  void control(Warp &, const Instruction &, uint32_t mask);
  void park(Warp &);
  uint32_t fillParts(Warp &, const Instruction &, uint32_t mask);
  void check(Warp &, const Instruction &, uint32_t mask);
  void waitForLanes(Warp &w, uint32_t mask);
  bool gather(Warp &, const Instruction &, uint32_t mask);
  void arrive(Warp &, const Instruction &, uint32_t mask);
  void release(unsigned id);
  void waitForMbarrier(Warp &, const Instruction &, uint32_t mask);
  void changeRegisters(Warp &, const Instruction &, uint32_t mask);
  void waitForEvents(Warp &, uint32_t mask, const std::array<uint64_t, 32> &events);
  bool completeSomething(bool isDemanded);
  void exitLanes(Warp &, const Instruction &, uint32_t mask);
  [[noreturn]] void deadlock();
  std::string reasonToWait(const Warp &, unsigned lane) const;
  std::string describeBarriers() const;
  std::string place(const Warp &, unsigned lane) const;

  std::vector<Warp> warps;
  std::vector<Warpgroup> warpgroups;
  std::array<Barrier, 16> barriers;
  RegisterPool registers;
  std::array<unsigned, 3> coordinates{};
  std::mt19937_64 random;
  uint64_t steps = 0;
  uint64_t haste = 0;    ///< copies complete once in so many turns before a warp demands it
  bool isPolled = false; ///< a warp has asked for a phase in vain and goes on
  size_t lastRange = 0;
};

} // namespace taylor::runtime::ptx

#endif

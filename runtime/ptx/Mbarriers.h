// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mbarrier objects of a block (PTX ISA, "mbarrier").
#ifndef TAYLOR_RUNTIME_PTX_MBARRIERS_H
#define TAYLOR_RUNTIME_PTX_MBARRIERS_H
#include "runtime/ptx/Program.h"
#include "runtime/ptx/Shadow.h"
#include <map>

namespace taylor::runtime::ptx {

class Block;

/// Each mbarrier counts arrivals and bytes of its phase, and gathers what those who arrive know. Who waits
/// for the phase takes that over. What asynchronous copies write belongs to the mbarrier that counts them, as
/// if it were a warp whose stretches are its phases.
class Mbarriers {
public:
  void clear(size_t warps);
  void initialise(Warp &, const Instruction &, uint32_t mask);
  void invalidate(Warp &, const Instruction &, uint32_t mask);
  /// fence.mbarrier_init: bulk copies see what the warp has initialised.
  void fence(Warp &);
  /// Arrivals of lanes, with bytes that the phase expects if the instruction says so.
  void arrive(Warp &, const Instruction &, uint32_t mask);
  void expect(Warp &, const Instruction &, uint32_t mask);
  /// Of the lanes, those whose phase is complete; what is known of it is theirs. `events`: on what each lane
  /// waits.
  uint32_t test(Warp &, const Instruction &, uint32_t mask, std::array<uint64_t, 32> &events);

  // For copies that an mbarrier counts.
  /// The mbarrier to which an address of a lane points; faults where there is none, or where it is not known
  /// to the warp. `isAsync`: the async proxy will signal it.
  uint32_t find(Warp &, const Instruction &, unsigned lane, const Operand &address, int64_t offset,
                bool isAsync);
  /// Whose writes those are that its current phase counts.
  Shadow::Phase phaseOf(uint32_t address, bool isAsync) const;
  void completeBytes(const Warp &, const Instruction &, unsigned lane, uint32_t address, int64_t bytes);
  /// An arrival that will come when copies are complete: one more is expected.
  void expectArrival(const Warp &, const Instruction &, unsigned lane, uint32_t address);
  /// It comes; `clock`: of the warp, when the last of these copies was complete that its own waits demanded.
  void arriveLate(const Warp &, const Instruction &, unsigned lane, uint32_t address, uint32_t clock);

  /// One line for each, for a deadlock.
  std::string describe() const;

private:
  struct Mbarrier {
    uint32_t expected, pending; ///< arrivals: of a phase, still missing
    int64_t bytes = 0;          ///< expected and not complete
    uint32_t phase = 0;
    bool hasWaiter = true;       ///< someone has seen the last phase complete
    unsigned writer;             ///< of what its copies write
    unsigned warp, line;         ///< who initialised it
    uint32_t clock, fenced = 0;  ///< when, and when fence.mbarrier_init followed
    Order arrived, completed;    ///< of the current phase, of those before
    std::vector<uint32_t> lanes; ///< by warp, that have arrived in the current phase
    /// By warp: lanes that have tested it, or expect an arrival more, at this clock of their warp.
    struct Use {
      uint32_t lanes = 0, clock = 0;
      unsigned line = 0;
    };
    std::vector<Use> uses;
  };
  Mbarrier &at(const Warp &, const Instruction &, unsigned lane, uint32_t address);
  void count(const Warp &, const Instruction &, unsigned lane, uint32_t address, uint32_t arrivals);
  void addBytes(const Warp &, const Instruction &, unsigned lane, Mbarrier &, int64_t bytes);
  /// A lane of a warp uses it without an arrival.
  static void use(Mbarrier &, const Warp &, const Instruction &, unsigned lane);
  /// Faults where other lanes of the warp used it, and nothing orders that before the arrival of `lanes`.
  void checkUses(const Warp &, const Instruction &, unsigned lane, uint32_t address, uint32_t lanes);
  void settle(Block &, uint32_t address);
  std::map<uint32_t, Mbarrier> all; ///< by address
  size_t warps = 0;
  unsigned initialised = 0; ///< how many there were
};

} // namespace taylor::runtime::ptx

#endif

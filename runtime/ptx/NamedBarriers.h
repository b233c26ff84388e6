// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The numbered barriers of a block (PTX ISA, "bar.sync").
#ifndef TAYLOR_RUNTIME_PTX_NAMEDBARRIERS_H
#define TAYLOR_RUNTIME_PTX_NAMEDBARRIERS_H
#include "runtime/ptx/Program.h"
#include "runtime/ptx/Proxies.h"
#include <span>

namespace taylor::runtime::ptx {

/// Each barrier counts the threads that come, and gathers what their warps know. Those who wait take that
/// over when the last one has come, and the barrier begins anew.
class NamedBarriers {
public:
  /// No one has come to any; `warps`: how many the block has.
  void reset(size_t warps);
  /// Lanes of a warp come: those of bar.sync wait, those of bar.arrive go on. `warps`: all of the block.
  void arrive(Warp &, const Instruction &, uint32_t mask, std::span<Warp> warps);
  /// "barrier 1: 32 of 64 threads came".
  std::string describe(unsigned number) const;
  /// One line for each at which threads arrived and no lane waits, for a deadlock: those of lanes that wait
  /// say so.
  std::string describeUnawaited(std::span<const Warp> warps) const;

private:
  struct Barrier {
    uint32_t expected = 0, arrived = 0;
    Order order;
    unsigned line = 0;
  };
  void release(unsigned number, std::span<Warp> warps);
  std::array<Barrier, 16> barriers;
};

} // namespace taylor::runtime::ptx

#endif

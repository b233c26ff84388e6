// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions that four warps have to execute alike (PTX ISA, "Warpgroup").
#ifndef TAYLOR_RUNTIME_PTX_WARPGROUP_H
#define TAYLOR_RUNTIME_PTX_WARPGROUP_H
#include "runtime/ptx/Program.h"
#include <array>
#include <deque>

namespace taylor::runtime::ptx {

/// What wgmma demands of four warps: each executes the same instructions in the same order, with the same
/// descriptors. Warps are not held up: the first to come says what the others have to do.
class Warpgroup {
public:
  void clear();
  /// The next instruction of the group that a warp executes, with what must be the same in all four.
  void execute(const Warp &, const Instruction &, std::array<uint64_t, 3> values = {});
  /// A warp has exited.
  void leave(const Warp &, const Instruction &);

private:
  struct Event {
    const Instruction *at;
    std::array<uint64_t, 3> values;
    unsigned warp;
  };
  std::deque<Event> events;     ///< that not all four have executed
  uint64_t first = 0;           ///< number of the oldest of them
  std::array<uint64_t, 4> done; ///< by warp
  std::array<bool, 4> hasLeft;
};

} // namespace taylor::runtime::ptx

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a block ends early: the fault, and what it says of its place or, in a deadlock, of every warp.
#ifndef TAYLOR_RUNTIME_PTX_REPORT_H
#define TAYLOR_RUNTIME_PTX_REPORT_H
#include "runtime/ptx/Program.h"
#include "runtime/ptx/Shadow.h"
#include <span>

namespace taylor::runtime::ptx {

/// What ends a block early.
struct FaultFound {
  Fault fault;
};

/// Ends the warp's block with a fault of one lane.
[[noreturn]] void raise(const Warp &, const Instruction &, FaultKind, unsigned lane, uint64_t address,
                        const std::string &what);

/// The same for what the shadow found of shared memory; `verb`: what the lane does there, such as "reads".
[[noreturn]] void raise(const Warp &, const Instruction &, unsigned lane, const char *verb,
                        const Shadow::Finding &);

/// Ends the block of these warps, none of which can go on: says where each one stands and for what it waits.
[[noreturn]] void raiseDeadlock(std::span<const Warp> warps);

} // namespace taylor::runtime::ptx

#endif

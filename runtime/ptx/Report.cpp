// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/Report.h"
#include "runtime/ptx/Block.h"

namespace taylor::runtime::ptx {

static std::string triple(const std::array<unsigned, 3> &c) {
  return "(" + std::to_string(c[0]) + "," + std::to_string(c[1]) + "," + std::to_string(c[2]) + ")";
}

void raise(const Warp &w, const Instruction &i, FaultKind kind, unsigned lane, uint64_t address,
           const std::string &what) {
  const Launch &launch = w.block.launch;
  const std::string &kernel = launch.kernel.info.name;
  std::array<unsigned, 3> block = w.block.coordinates(), thread = split(w.threadOf(lane), launch.block);
  throw FaultFound{{kind, kernel, i.line, block, thread, address,
                    kernel + ", line " + std::to_string(i.line) + " '" + i.text + "', block " +
                        triple(block) + ", thread " + triple(thread) + ": " + what}};
}

void raise(const Warp &w, const Instruction &i, unsigned lane, const char *verb, const Shadow::Finding &f) {
  raise(w, i, f.kind, lane, f.address, verb + (" shared address " + hexadecimal(f.address)) + ", " + f.what);
}

/// Why a lane that cannot go on waits.
static std::string reasonToWait(const Warp &w, unsigned lane) {
  if (w.atBarrier >> lane & 1)
    return w.block.barriers.describe(w.barrier[lane]);
  if (!(w.atEvent >> lane & 1))
    return "which waits for other lanes";
  if (w.event[lane] == kRegisterEvent)
    return "which waits for registers: " + std::to_string(w.block.registers.available()) + " are free";
  return "which waits for mbarrier " + hexadecimal(w.event[lane]);
}

void raiseDeadlock(std::span<const Warp> warps) {
  const Block &block = warps.front().block;
  std::string text = "deadlock, no warp can go on:";
  const Warp *stuck = nullptr;
  unsigned lane = 0;
  const Instruction *at = nullptr;
  for (const Warp &w : warps) {
    text += "\n  warp " + std::to_string(w.index) + ": ";
    if (!w.live) {
      text += "has exited";
      continue;
    }
    uint32_t rest = w.live;
    for (const char *between = ""; rest; between = "; ") { // lanes that wait at the same place for the same
      unsigned l = firstLane(rest);
      std::string reason = reasonToWait(w, l);
      uint32_t same = 0;
      for (uint32_t m = rest; m; m &= m - 1)
        if (w.pcs[firstLane(m)] == w.pcs[l] && reasonToWait(w, firstLane(m)) == reason)
          same |= m & -m;
      rest &= ~same;
      const Instruction &i = block.launch.kernel.code[w.pcs[l] - (w.atBarrier >> l & 1)];
      if (!stuck)
        stuck = &w, lane = l, at = &i;
      text += between + std::to_string(std::popcount(same)) + " lanes at line " + std::to_string(i.line) +
              " '" + i.text + "', " + reason;
    }
  }
  raise(*stuck, *at, FaultKind::Deadlock, lane, 0,
        text + block.barriers.describeUnawaited(warps) + block.mbarriers.describe());
}

} // namespace taylor::runtime::ptx

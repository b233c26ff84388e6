// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a fault says of its place, and a deadlock of every warp.
#include "runtime/ptx/Block.h"
#include <algorithm>

namespace taylor::runtime::ptx {

static std::string triple(const std::array<unsigned, 3> &c) {
  return "(" + std::to_string(c[0]) + "," + std::to_string(c[1]) + "," + std::to_string(c[2]) + ")";
}

std::string Block::place(const Warp &w, unsigned lane) const {
  return "block " + triple(coordinates) + ", thread " + triple(split(threadOf(w, lane), launch.block));
}

void Block::raise(const Warp &w, const Instruction &i, FaultKind kind, unsigned lane, uint64_t address,
                  const std::string &what) const {
  throw FaultFound{{kind, launch.kernel.info.name, i.line, coordinates,
                    split(threadOf(w, lane), launch.block), address,
                    launch.kernel.info.name + ", line " + std::to_string(i.line) + " '" + i.text + "', " +
                        place(w, lane) + ": " + what}};
}

/// Why a lane that cannot go on waits.
std::string Block::reasonToWait(const Warp &w, unsigned lane) const {
  if (w.atBarrier >> lane & 1) {
    const Barrier &b = barriers[w.barrier[lane]];
    return "barrier " + std::to_string(w.barrier[lane]) + ": " + std::to_string(b.arrived) + " of " +
           std::to_string(b.expected) + " threads came";
  }
  if (!(w.atEvent >> lane & 1))
    return "which waits for other lanes";
  if (w.event[lane] == kRegisterEvent)
    return "which waits for registers: " + std::to_string(registers.available()) + " are free";
  return "which waits for mbarrier " + hexadecimal(w.event[lane]);
}

/// Barriers at which threads arrived (`bar.arrive`) that no lane waits at: those of lanes that wait say so.
std::string Block::describeBarriers() const {
  std::string text;
  for (size_t number = 0; number < barriers.size(); ++number) {
    bool isAwaited = std::ranges::any_of(warps, [&](const Warp &w) {
      for (uint32_t m = w.atBarrier; m; m &= m - 1)
        if (w.barrier[firstLane(m)] == number)
          return true;
      return false;
    });
    const Barrier &b = barriers[number];
    if (b.arrived && !isAwaited)
      text += "\n  barrier " + std::to_string(number) + ": " + std::to_string(b.arrived) + " of " +
              std::to_string(b.expected) + " threads came, and none waits";
  }
  return text;
}

void Block::deadlock() {
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
      const Instruction &i = launch.kernel.code[w.pcs[l] - (w.atBarrier >> l & 1)];
      if (!stuck)
        stuck = &w, lane = l, at = &i;
      text += between + std::to_string(std::popcount(same)) + " lanes at line " + std::to_string(i.line) +
              " '" + i.text + "', " + reason;
    }
  }
  raise(*stuck, *at, FaultKind::Deadlock, lane, 0, text + describeBarriers() + mbarriers.describe());
}

} // namespace taylor::runtime::ptx

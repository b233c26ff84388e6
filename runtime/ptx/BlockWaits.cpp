// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What makes lanes wait: named barriers, mbarriers, registers that others hold.
#include "runtime/ptx/Block.h"

namespace taylor::runtime::ptx {

void Block::arrive(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned first = firstLane(mask);
  uint32_t id = w.get<uint32_t>(i.operands[0], first);
  bool counted = i.operands.size() > 1;
  uint32_t expected = counted ? w.get<uint32_t>(i.operands[1], first) : uint32_t(32 * warps.size());
  if (id >= barriers.size())
    raise(w, i, FaultKind::Divergent, first, 0,
          "expected a barrier from 0 to 15, but got " + std::to_string(id));
  if (expected == 0 || expected % 32)
    raise(w, i, FaultKind::Divergent, first, 0,
          "expected a multiple of 32 threads, but got " + std::to_string(expected));
  Barrier &b = barriers[id];
  if (b.arrived && b.expected != expected)
    raise(w, i, FaultKind::Divergent, first, 0,
          "barrier " + std::to_string(id) + " waits for " + std::to_string(b.expected) +
              " threads since line " + std::to_string(b.line) + ", but here for " + std::to_string(expected));
  // A warp's lanes without a thread come with its first one.
  uint32_t came = unsigned(std::popcount(mask)) + (mask & 1 ? 32 - unsigned(std::popcount(w.exists)) : 0);
  b.expected = expected;
  b.arrived += came;
  b.line = i.line;
  if (b.arrived > expected)
    raise(w, i, FaultKind::Divergent, first, 0,
          "barrier " + std::to_string(id) + " waits for " + std::to_string(expected) + " threads, but " +
              std::to_string(b.arrived) + " came");
  b.order.join(w.order);
  w.orderLanes(mask);
  w.order.advance(w.index);
  ++w.pc;
  if (i.op == Op::BarSync) {
    park(w);
    w.atBarrier |= mask;
    for (uint32_t m = mask; m; m &= m - 1)
      w.barrier[firstLane(m)] = uint8_t(id);
  }
  if (b.arrived == expected)
    release(id);
}

void Block::release(unsigned id) {
  Barrier &b = barriers[id];
  for (Warp &w : warps) {
    uint32_t here = 0;
    for (uint32_t m = w.atBarrier; m; m &= m - 1)
      if (w.barrier[firstLane(m)] == id)
        here |= m & -m;
    if (!here)
      continue;
    park(w);
    w.atBarrier &= ~here;
    w.order.join(b.order);
  }
  b = {};
  b.order.reset(warps.size());
}

/// try_wait holds lanes up until their phase is complete, or fails now and then: a processor may give up at
/// any time. test_wait answers at once.
void Block::waitForMbarrier(Warp &w, const Instruction &i, uint32_t mask) {
  std::array<uint64_t, 32> events;
  uint32_t complete = mbarriers.test(w, i, mask, events), waiting = mask & ~complete;
  if (i.op == Op::MbarrierTest)
    isPolled |= waiting != 0;
  if (i.op == Op::MbarrierTest || (waiting && random() % 4 == 0))
    waiting = 0;
  w.setPredicate(i.operands[0], mask & ~waiting, complete);
  w.valid[i.operands[0].id] |= mask & ~waiting;
  waitForEvents(w, waiting, events);
}

/// setmaxnreg waits until others have released enough registers.
void Block::changeRegisters(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.isResumed)
    warpgroupOf(w).execute(w, i);
  bool isGiven = registers.change(w, i);
  w.isResumed = !isGiven;
  std::array<uint64_t, 32> events;
  events.fill(kRegisterEvent);
  waitForEvents(w, isGiven ? 0 : mask, events);
  if (isGiven && i.releases)
    wake(kRegisterEvent);
}

/// The lanes stay at their instruction; the others go on.
void Block::waitForEvents(Warp &w, uint32_t mask, const std::array<uint64_t, 32> &events) {
  if (!mask) {
    ++w.pc;
    return;
  }
  uint32_t rest = w.active & ~mask;
  park(w);
  for (uint32_t m = rest; m; m &= m - 1)
    ++w.pcs[firstLane(m)];
  for (uint32_t m = mask; m; m &= m - 1)
    w.event[firstLane(m)] = events[firstLane(m)];
  w.atEvent |= mask;
}

void Block::wake(uint64_t event) {
  for (Warp &w : warps) {
    uint32_t here = 0;
    for (uint32_t m = w.atEvent; m; m &= m - 1)
      if (w.event[firstLane(m)] == event)
        here |= m & -m;
    if (!here)
      continue;
    park(w);
    w.atEvent &= ~here;
  }
}

/// Copies that are under way complete in any order, at random or, if a warp demands it, now; false if there
/// is none.
bool Block::completeSomething(bool isDemanded) {
  size_t count = bulkCopies.underWay();
  for (const Warp &w : warps)
    count += w.copies.underWay();
  if (!count || (!isDemanded && random() % haste))
    return false;
  size_t chosen = random() % count;
  for (Warp &w : warps) {
    if (chosen < w.copies.underWay()) {
      w.copies.complete(w, chosen);
      return true;
    }
    chosen -= w.copies.underWay();
  }
  bulkCopies.complete(chosen);
  return true;
}

} // namespace taylor::runtime::ptx

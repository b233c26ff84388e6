// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Report.h"

namespace taylor::runtime::ptx {

Block::Block(const Launch &launch)
    : launch(launch), checks(launch.options.checks), memory(launch), profiling(launch.options.profile) {
  unsigned count = launch.warps();
  warps.reserve(count);
  warpgroups.resize((count + 3) / 4);
  for (unsigned k = 0; k < count; ++k)
    warps.emplace_back(*this, k, launch.kernel);
}

void Block::reset(uint64_t number) {
  position = split(number, launch.grid);
  std::seed_seq seed{uint32_t(launch.options.seed), uint32_t(launch.options.seed >> 32), uint32_t(number),
                     uint32_t(number >> 32)};
  random.seed(seed);
  steps = 0;
  memory.reset();
  barriers.reset(warps.size());
  for (Warpgroup &group : warpgroups)
    group.clear();
  mbarriers.clear(warps.size());
  bulkCopies.clear(warps.size());
  registers.reset(launch.kernel, launch.threads(), warps.size());
  isPolled = false;
  if (launch.kernel.hasCopies) { // late, now and then, soon
    constexpr uint64_t turns[] = {1024, 16, 2};
    haste = turns[random() % 3];
  }
  for (Warp &w : warps)
    w.reset();
}

std::optional<Fault> Block::run(uint64_t number) try {
  reset(number);
  std::vector<Warp *> ready;
  for (;;) {
    ready.clear();
    bool alive = false;
    for (Warp &w : warps) {
      alive |= w.live != 0;
      if (w.runnable())
        ready.push_back(&w);
    }
    if (!alive) {
      bulkCopies.end(*this);
      return std::nullopt;
    }
    if (launch.kernel.hasCopies && completeSomething(ready.empty() || isPolled)) {
      isPolled = false;
      continue;
    }
    if (ready.empty())
      raiseDeadlock(warps);
    Warp &w = *ready[random() % ready.size()];
    for (uint64_t turn = 1 + random() % 64; turn && w.runnable(); --turn)
      step(w);
  }
} catch (const FaultFound &found) {
  return found.fault;
}

Profile Block::profile() const {
  Profile all = issued;
  all.add(memory.counted());
  return all;
}

/// Whether all lanes of its member mask, the last operand, execute it together.
static bool hasMembers(Op op) {
  return op == Op::Shfl || op == Op::VoteSync || op == Op::Redux || op == Op::Elect || op == Op::WarpSync;
}

void Block::step(Warp &w) {
  if (!w.active && !w.regroup())
    return;
  const Instruction &i = launch.kernel.code[w.pc];
  uint32_t mask = w.active;
  if (i.guarded) {
    if (uint32_t bad = mask & ~w.valid[i.guard.id]; checks && bad)
      raise(w, i, FaultKind::UninitialisedRegister, firstLane(bad), 0,
            "reads '" + nameOf(i.guard) + "', which has no value yet");
    mask &= w.predicate(i.guard);
  }
  if (i.aligned && mask && mask != (i.run ? ~0u : w.exists)) {
    // Lanes that are still on their way may come: a join is not always after its branches in the text.
    if ((w.runnable() | w.atEvent) & ~w.active)
      return w.waitForLanes(mask);
    raise(w, i, FaultKind::Divergent, firstLane(mask), 0,
          "requires all threads of the warp together, but got " + std::to_string(std::popcount(mask)) +
              " of 32");
  }
  if (++steps > launch.options.limit)
    raise(w, i, FaultKind::Limit, firstLane(w.active), 0,
          "the block has executed " + std::to_string(launch.options.limit) +
              " instructions, which is the limit");
  if (profiling)
    count(i, mask);
  if (mask)
    check(w, i, mask);
  if (!i.run) {
    control(w, i, mask);
  } else if (mask && hasMembers(i.op) && !w.gather(i, mask)) {
    return;
  } else {
    if (mask)
      i.run(w, i, mask);
    ++w.pc;
  }
  if (mask)
    for (unsigned k = 0; k < i.results; ++k)
      w.valid[i.operands[k].id] |= mask;
  if (w.active && w.pc >= w.limit)
    w.park();
}

void Block::count(const Instruction &i, uint32_t mask) {
  ++issued.issued[i.kind];
  ++issued.total;
  issued.threadInstructions += unsigned(std::popcount(mask));
}

/// LLVM pairs numbers for instructions on two of them also where the second one is of no interest, and has no
/// value: it becomes NaN, which shows if it was of interest after all.
uint32_t Block::fillParts(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t filled = 0, missing = mask;
  for (size_t k = i.results; k < i.operands.size(); ++k)
    missing &= ~w.valid[i.operands[k].id];
  for (size_t k = i.results; k < i.operands.size(); ++k) {
    uint32_t part = mask & ~missing & ~w.valid[i.operands[k].id];
    for (uint32_t m = part; m; m &= m - 1)
      w.setRaw(i.operands[k], firstLane(m), ~uint64_t(0));
    filled |= part;
  }
  return filled;
}

void Block::check(Warp &w, const Instruction &i, uint32_t mask) {
  if (!checks)
    return;
  if (i.op == Op::Pack)
    mask &= ~fillParts(w, i, mask);
  for (size_t k = i.results; k < i.operands.size(); ++k)
    if (uint32_t bad = mask & ~w.valid[i.operands[k].id])
      raise(w, i, FaultKind::UninitialisedRegister, firstLane(bad), 0,
            "reads '" + nameOf(i.operands[k]) + "', which has no value yet");
  if (i.isWatched)
    w.products.touch(w, i, mask);
}

void Block::exitLanes(Warp &w, const Instruction &i, uint32_t mask) {
  w.copies.wait(w, mask, 0, true);
  bulkCopies.exit(w, i, mask);
  w.live &= ~mask;
  if (!w.live)
    warpgroupOf(w).leave(w, i);
  w.atSync = 0; // those who waited for these lanes look again
}

void Block::control(Warp &w, const Instruction &i, uint32_t mask) {
  switch (i.op) {
  case Op::Bra:
  case Op::Brx:
    return w.branch(i, mask);
  case Op::Exit:
    ++w.pc;
    w.park();
    exitLanes(w, i, mask);
    return;
  case Op::Trap:
    if (mask)
      raise(w, i, FaultKind::Trap, firstLane(mask), 0, "the kernel traps");
    break;
  case Op::WarpSync:
    if (mask && !w.gather(i, mask))
      return;
    if (mask) {
      w.orderLanes(mask);
      w.order.advance(w.index);
    }
    break;
  case Op::BarSync:
  case Op::BarArrive:
    if (mask)
      return barriers.arrive(w, i, mask, warps);
    break;
  case Op::MbarrierTry:
  case Op::MbarrierTest:
    if (mask)
      return waitForMbarrier(w, i, mask);
    break;
  case Op::MbarrierArrive:
    ++w.pc; // before others, or lanes of this warp, are woken
    if (mask)
      mbarriers.arrive(w, i, mask);
    return;
  case Op::SetMaxRegisters:
    if (mask)
      return changeRegisters(w, i, mask);
    break;
  default:
    break;
  }
  ++w.pc;
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
  w.waitForEvents(waiting, events);
}

/// setmaxnreg waits until others have released enough registers.
void Block::changeRegisters(Warp &w, const Instruction &i, uint32_t mask) {
  if (!w.isResumed)
    warpgroupOf(w).execute(w, i);
  bool isGiven = registers.change(w, i);
  w.isResumed = !isGiven;
  std::array<uint64_t, 32> events;
  events.fill(kRegisterEvent);
  w.waitForEvents(isGiven ? 0 : mask, events);
  if (isGiven && i.releases)
    wake(kRegisterEvent);
}

void Block::wake(uint64_t event) {
  for (Warp &w : warps)
    w.wake(event);
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

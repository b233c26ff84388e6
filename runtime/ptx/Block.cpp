// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scheduler: which warp runs, which of its lanes, and what control flow and barriers do to them.
#include "runtime/ptx/Block.h"
#include <algorithm>

namespace taylor::runtime::ptx {

constexpr uint32_t kNowhere = ~0u;

Warp::Warp(Block &block, unsigned index, const Kernel &kernel)
    : block(block), index(index), storage(kernel.registerBytes / 8 + 8), masks(kernel.masks),
      valid(kernel.registers.size()) {
  // 64-byte lines, so that a register of 32 lanes fills whole ones.
  auto address = reinterpret_cast<uintptr_t>(storage.data());
  registers = reinterpret_cast<std::byte *>((address + 63) / 64 * 64);
}

bool Warp::regroup() {
  uint32_t ready = runnable();
  if (!ready)
    return false;
  pc = kNowhere;
  for (uint32_t m = ready; m; m &= m - 1)
    pc = std::min(pc, pcs[firstLane(m)]);
  active = 0;
  limit = kNowhere;
  for (uint32_t m = ready | atSync; m; m &= m - 1) {
    unsigned l = firstLane(m);
    if (pcs[l] == pc)
      active |= 1u << l;
    else
      limit = std::min(limit, pcs[l]);
  }
  atSync &= ~active;
  return true;
}

Block::Block(const Launch &launch)
    : launch(launch), shared(launch.kernel.dynamicBase + launch.dynamicShared), checks(launch.options.checks),
      profiling(launch.options.profile) {
  unsigned count = (launch.threads() + 31) / 32;
  warps.reserve(count);
  warpgroups.resize((count + 3) / 4);
  for (unsigned k = 0; k < count; ++k)
    warps.emplace_back(*this, k, launch.kernel);
}

void Block::reset(uint64_t number) {
  coordinates = split(number, launch.grid);
  std::seed_seq seed{uint32_t(launch.options.seed), uint32_t(launch.options.seed >> 32), uint32_t(number),
                     uint32_t(number >> 32)};
  random.seed(seed);
  steps = 0;
  std::fill(shared.begin(), shared.end(), std::byte(0xff));
  if (checks)
    shadow.reset(shared.size(), unsigned(warps.size()));
  for (Barrier &b : barriers) {
    b = {};
    b.order.reset(warps.size());
  }
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
  for (Warp &w : warps) {
    unsigned left = launch.threads() - 32 * w.index;
    w.exists = left >= 32 ? ~0u : (1u << left) - 1;
    w.live = w.exists;
    w.atBarrier = w.atSync = w.atEvent = w.active = w.hasPrevious = 0;
    w.isResumed = false;
    w.pcs.fill(0);
    w.order.reset(warps.size());
    w.order.advance(w.index);
    w.accessed = w.synced = 0;
    w.copies.clear();
    w.products.clear(launch.kernel);
    w.local.assign(32 * launch.kernel.localBytes, std::byte(0xff));
    std::fill(w.storage.begin(), w.storage.end(), ~uint64_t(0));
    std::fill(w.masks.begin(), w.masks.end(), 0);
    std::fill(w.valid.begin(), w.valid.end(), 0);
    fill(w);
  }
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
      deadlock();
    Warp &w = *ready[random() % ready.size()];
    for (uint64_t turn = 1 + random() % 64; turn && w.runnable(); --turn)
      step(w);
  }
} catch (const FaultFound &found) {
  return found.fault;
}

/// Remembers where the active lanes stand; the next step chooses anew.
void Block::park(Warp &w) {
  for (uint32_t m = w.active; m; m &= m - 1)
    w.pcs[firstLane(m)] = w.pc;
  w.active = 0;
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
      return waitForLanes(w, mask);
    raise(w, i, FaultKind::Divergent, firstLane(mask), 0,
          "requires all threads of the warp together, but got " + std::to_string(std::popcount(mask)) +
              " of 32");
  }
  if (++steps > launch.options.limit)
    raise(w, i, FaultKind::Limit, firstLane(w.active), 0,
          "the block has executed " + std::to_string(launch.options.limit) +
              " instructions, which is the limit");
  if (profiling) {
    ++profile.issued[i.kind];
    ++profile.total;
    profile.threadInstructions += unsigned(std::popcount(mask));
  }
  if (mask)
    check(w, i, mask);
  if (!i.run) {
    control(w, i, mask);
  } else if (mask && !gather(w, i, mask)) {
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
    park(w);
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

/// Instructions with a member mask wait until all its lanes have come; false if they wait.
bool Block::gather(Warp &w, const Instruction &i, uint32_t mask) {
  bool members = i.op == Op::Shfl || i.op == Op::VoteSync || i.op == Op::Redux || i.op == Op::Elect ||
                 i.op == Op::WarpSync;
  if (!members)
    return true;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    uint32_t own = w.get<uint32_t>(i.operands.back(), l);
    if (!(own >> l & 1))
      raise(w, i, FaultKind::Divergent, l, 0,
            "is executed by lane " + std::to_string(l) + ", which its member mask lacks");
  }
  uint32_t wanted = w.get<uint32_t>(i.operands.back(), firstLane(mask)) & w.live;
  if (!(wanted & ~mask))
    return true;
  waitForLanes(w, mask);
  return false;
}

/// The lanes stay at their instruction until others of their warp come; those that it does not concern go on.
void Block::waitForLanes(Warp &w, uint32_t mask) {
  uint32_t skip = w.active & ~mask;
  park(w);
  for (uint32_t m = skip; m; m &= m - 1)
    ++w.pcs[firstLane(m)];
  w.atSync |= mask;
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
  case Op::Brx: {
    uint32_t all = w.active, next = w.pc + 1;
    w.pc = next;
    if (mask == all && i.op == Op::Bra) {
      w.pc = i.target;
      return;
    }
    if (!mask)
      return;
    park(w);
    for (uint32_t m = mask; m; m &= m - 1) {
      unsigned l = firstLane(m);
      if (i.op == Op::Bra) {
        w.pcs[l] = i.target;
        continue;
      }
      const auto &list = launch.kernel.targetLists[i.target];
      uint32_t index = w.get<uint32_t>(i.operands[0], l);
      if (index >= list.size())
        raise(w, i, FaultKind::OutOfBounds, l, 0,
              "branches to target " + std::to_string(index) + " of a list of " + std::to_string(list.size()));
      w.pcs[l] = list[index];
    }
    return;
  }
  case Op::Exit:
    ++w.pc;
    park(w);
    exitLanes(w, i, mask);
    return;
  case Op::Trap:
    if (mask)
      raise(w, i, FaultKind::Trap, firstLane(mask), 0, "the kernel traps");
    break;
  case Op::WarpSync:
    if (mask && !gather(w, i, mask))
      return;
    if (mask) {
      w.orderLanes(mask);
      w.order.advance(w.index);
    }
    break;
  case Op::BarSync:
  case Op::BarArrive:
    if (mask)
      return arrive(w, i, mask);
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

} // namespace taylor::runtime::ptx

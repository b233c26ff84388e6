// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scheduler: which warp runs, which of its lanes, and what control flow and barriers do to them.
#include "runtime/ptx/Block.h"
#include <algorithm>

namespace taylor::runtime::ptx {

constexpr uint32_t nowhere = ~0u;

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
  pc = nowhere;
  for (uint32_t m = ready; m; m &= m - 1)
    pc = std::min(pc, pcs[firstLane(m)]);
  active = 0;
  limit = nowhere;
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

static std::string triple(const std::array<unsigned, 3> &c) {
  return "(" + std::to_string(c[0]) + "," + std::to_string(c[1]) + "," + std::to_string(c[2]) + ")";
}

static std::array<unsigned, 3> split(uint64_t n, Grid size) {
  return {unsigned(n % size.x), unsigned(n / size.x % size.y), unsigned(n / size.x / size.y)};
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
  for (Warp &w : warps) {
    unsigned left = launch.threads() - 32 * w.index;
    w.exists = left >= 32 ? ~0u : (1u << left) - 1;
    w.live = w.exists;
    w.atBarrier = w.atSync = w.active = 0;
    w.pcs.fill(0);
    w.order.reset(warps.size());
    w.order.advance(w.index);
    w.copies.clear();
    w.products.clear(launch.kernel);
    w.local.assign(32 * launch.kernel.localBytes, std::byte(0xff));
    std::fill(w.storage.begin(), w.storage.end(), ~uint64_t(0));
    std::fill(w.masks.begin(), w.masks.end(), 0);
    std::fill(w.valid.begin(), w.valid.end(), 0);
    fill(w);
  }
}

/// Constants and special registers.
void Block::fill(Warp &w) {
  for (const Constant &c : launch.kernel.constants) {
    w.valid[c.to.id] = ~0u;
    if (c.to.type == Type::Pred)
      w.masks[c.to.at] = c.value ? ~0u : 0;
    else
      for (unsigned l = 0; l < 32; ++l)
        w.setRaw(c.to, l, c.value);
  }
  for (const SpecialUse &use : launch.kernel.specials) {
    w.valid[use.to.id] = ~0u;
    for (unsigned l = 0; l < 32; ++l) {
      auto tid = split(threadOf(w, l), launch.block);
      std::array<unsigned, 3> sizes{launch.block.x, launch.block.y, launch.block.z},
          counts{launch.grid.x, launch.grid.y, launch.grid.z};
      uint64_t bit = uint64_t(1) << l, value = 0;
      unsigned axis = unsigned(use.special) % 3; // the first four kinds come in x, y, z
      switch (use.special) {
      case Special::TidX:
      case Special::TidY:
      case Special::TidZ:
        value = tid[axis];
        break;
      case Special::NtidX:
      case Special::NtidY:
      case Special::NtidZ:
        value = sizes[axis];
        break;
      case Special::CtaidX:
      case Special::CtaidY:
      case Special::CtaidZ:
        value = coordinates[axis];
        break;
      case Special::NctaidX:
      case Special::NctaidY:
      case Special::NctaidZ:
        value = counts[axis];
        break;
      case Special::LaneId:
        value = l;
        break;
      case Special::WarpId:
        value = w.index;
        break;
      case Special::NWarpId:
        value = warps.size();
        break;
      case Special::NSmId:
        value = 1;
        break;
      case Special::SmId:
      case Special::GridId:
        value = 0;
        break;
      case Special::MaskEq:
        value = bit;
        break;
      case Special::MaskLt:
        value = bit - 1;
        break;
      case Special::MaskLe:
        value = 2 * bit - 1;
        break;
      case Special::MaskGe:
        value = uint32_t(0 - bit);
        break;
      case Special::MaskGt:
        value = uint32_t(0 - 2 * bit);
        break;
      case Special::DynamicShared:
        value = launch.dynamicShared;
        break;
      case Special::TotalShared:
        value = shared.size();
        break;
      }
      w.setRaw(use.to, l, bytesOf(use.to.type) == 2 ? value & 0xffff : value);
    }
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
    if (!alive)
      return std::nullopt;
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
    // Lanes that are still on their way may come: a join is not always behind its branches in the text.
    if (w.runnable() & ~w.active)
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
  w.live &= ~mask;
  if (!w.live && launch.kernel.hasProducts)
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
    break;
  case Op::BarSync:
  case Op::BarArrive:
    if (mask)
      return arrive(w, i, mask);
    break;
  default:
    break;
  }
  ++w.pc;
}

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
    for (const char *between = ""; rest; between = "; ") { // lanes that stand at the same place
      unsigned l = firstLane(rest);
      bool barrier = w.atBarrier >> l & 1;
      uint32_t same = 0;
      for (uint32_t m = rest; m; m &= m - 1)
        if (w.pcs[firstLane(m)] == w.pcs[l] && (w.atBarrier >> firstLane(m) & 1) == barrier)
          same |= m & -m;
      rest &= ~same;
      const Instruction &i = launch.kernel.code[w.pcs[l] - barrier];
      if (!stuck)
        stuck = &w, lane = l, at = &i;
      text += between + std::to_string(std::popcount(same)) + " lanes at line " + std::to_string(i.line) +
              " '" + i.text + "'";
      if (barrier) {
        const Barrier &b = barriers[w.barrier[l]];
        text += ", barrier " + std::to_string(w.barrier[l]) + ": " + std::to_string(b.arrived) + " of " +
                std::to_string(b.expected) + " threads came";
      } else {
        text += ", which waits for other lanes";
      }
    }
  }
  raise(*stuck, *at, FaultKind::Deadlock, lane, 0, text);
}

} // namespace taylor::runtime::ptx

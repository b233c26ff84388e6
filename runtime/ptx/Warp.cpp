// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/Warp.h"
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Report.h"
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

void Warp::reset() {
  const Launch &launch = block.launch;
  unsigned left = launch.threads() - 32 * index;
  exists = left >= 32 ? ~0u : (1u << left) - 1;
  live = exists;
  atBarrier = atSync = atEvent = active = hasPrevious = 0;
  isResumed = false;
  pcs.fill(0);
  order.reset(launch.warps());
  order.advance(index);
  accessed = synced = 0;
  copies.clear();
  products.clear(launch.kernel);
  local.assign(32 * launch.kernel.localBytes, std::byte(0xff));
  std::fill(storage.begin(), storage.end(), ~uint64_t(0));
  std::fill(masks.begin(), masks.end(), 0);
  std::fill(valid.begin(), valid.end(), 0);
  fill();
}

/// Constants and special registers.
void Warp::fill() {
  const Launch &launch = block.launch;
  for (const Constant &c : launch.kernel.constants) {
    valid[c.to.id] = ~0u;
    if (c.to.type == Type::Pred)
      masks[c.to.at] = c.value ? ~0u : 0;
    else
      for (unsigned l = 0; l < 32; ++l)
        setRaw(c.to, l, c.value);
  }
  for (const SpecialUse &use : launch.kernel.specials) {
    valid[use.to.id] = ~0u;
    for (unsigned l = 0; l < 32; ++l) {
      uint64_t value = launch.valueOf(use.special, block.coordinates(), threadOf(l));
      setRaw(use.to, l, bytesOf(use.to.type) == 2 ? value & 0xffff : value);
    }
  }
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

void Warp::park() {
  for (uint32_t m = active; m; m &= m - 1)
    pcs[firstLane(m)] = pc;
  active = 0;
}

void Warp::branch(const Instruction &i, uint32_t mask) {
  uint32_t all = active;
  if (mask == all && i.op == Op::Bra) {
    pc = i.target;
    return;
  }
  ++pc;
  if (!mask)
    return;
  park();
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    if (i.op == Op::Bra) {
      pcs[l] = i.target;
      continue;
    }
    const auto &list = block.launch.kernel.targetLists[i.target];
    uint32_t choice = get<uint32_t>(i.operands[0], l);
    if (choice >= list.size())
      raise(*this, i, FaultKind::OutOfBounds, l, 0,
            "branches to target " + std::to_string(choice) + " of a list of " + std::to_string(list.size()));
    pcs[l] = list[choice];
  }
}

bool Warp::gather(const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    uint32_t own = get<uint32_t>(i.operands.back(), l);
    if (!(own >> l & 1))
      raise(*this, i, FaultKind::Divergent, l, 0,
            "is executed by lane " + std::to_string(l) + ", which its member mask lacks");
  }
  uint32_t wanted = get<uint32_t>(i.operands.back(), firstLane(mask)) & live;
  if (!(wanted & ~mask))
    return true;
  waitForLanes(mask);
  return false;
}

/// The lanes stay at their instruction; the other active ones go on.
void Warp::stay(uint32_t mask) {
  uint32_t rest = active & ~mask;
  park();
  for (uint32_t m = rest; m; m &= m - 1)
    ++pcs[firstLane(m)];
}

void Warp::waitForLanes(uint32_t mask) {
  stay(mask);
  atSync |= mask;
}

void Warp::waitForBarrier(uint32_t mask, uint8_t number) {
  park();
  atBarrier |= mask;
  for (uint32_t m = mask; m; m &= m - 1)
    barrier[firstLane(m)] = number;
}

bool Warp::leaveBarrier(uint8_t number) {
  uint32_t here = lanesWith(atBarrier, barrier, number);
  if (!here)
    return false;
  park();
  atBarrier &= ~here;
  return true;
}

void Warp::waitForEvents(uint32_t mask, const std::array<uint64_t, 32> &events) {
  if (!mask) {
    ++pc;
    return;
  }
  stay(mask);
  for (uint32_t m = mask; m; m &= m - 1)
    event[firstLane(m)] = events[firstLane(m)];
  atEvent |= mask;
}

void Warp::wake(uint64_t happened) {
  uint32_t here = lanesWith(atEvent, event, happened);
  if (!here)
    return;
  park();
  atEvent &= ~here;
}

} // namespace taylor::runtime::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/AsyncCopy.h"
#include "runtime/ptx/Block.h"
#include <algorithm>

namespace taylor::runtime::ptx {

void AsyncCopies::clear() {
  pending.clear();
  arrivals.clear();
  committed.fill(0);
  awaited.fill(0);
  issued = 0;
}

void AsyncCopies::issue(Warp &w, const Instruction &i, unsigned lane, uint64_t to, uint64_t from,
                        unsigned sourceBytes) {
  Block &block = w.block;
  unsigned bytes = unsigned(i.count);
  Space space = Space::Shared;
  std::byte *data = block.locate(w, i, lane, space, to, bytes, true);
  // A source of no bytes may lie anywhere; a shorter one still has the alignment of the whole.
  if (sourceBytes) {
    Space global = Space::Global;
    uint64_t address = from;
    if (from % bytes || sourceBytes == bytes)
      block.locate(w, i, lane, global, address, bytes, false);
    else
      for (unsigned k = 0; k < sourceBytes; ++k, address = from + k)
        block.locate(w, i, lane, global, address, 1, false);
  }
  if (block.checks)
    if (auto f = block.shadow.startCopy(to, bytes, block.accessOf(w, i, lane)))
      block.raise(w, i, f->kind, lane, f->address,
                  "copies to shared address " + hexadecimal(f->address) + ", " + f->what);
  std::memset(data, 0xff, bytes); // NaN in every float type
  pending.push_back(
      {&i, to, from, committed[lane], issued++, uint8_t(lane), uint8_t(bytes), uint8_t(sourceBytes)});
  block.countBytes(Space::Global, false, sourceBytes);
  block.countBytes(Space::Shared, true, bytes);
}

void AsyncCopies::commit(uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1)
    ++committed[firstLane(m)];
}

void AsyncCopies::execute(Block &block, const Copy &c) {
  std::byte *to = block.shared.data() + c.to;
  std::memset(to, 0, c.bytes);
  std::memcpy(to, reinterpret_cast<const std::byte *>(c.from), c.sourceBytes);
}

void AsyncCopies::wait(Warp &w, uint32_t mask, uint64_t keep, bool all) {
  if (all)
    commit(mask);
  Block &block = w.block;
  auto due = [&](const Copy &c) {
    return (mask >> c.lane & 1) && uint64_t(c.group) + keep < committed[c.lane];
  };
  for (const Copy &c : pending)
    if (due(c)) {
      execute(block, c);
      w.accessed |= 1u << c.lane;
      awaited[c.lane] = w.order.clockOf(w.index);
      for (Arrival &arrival : arrivals)
        if (arrival.lane == c.lane && c.number < arrival.before)
          arrival.clock = w.order.clockOf(w.index);
      if (block.checks)
        block.shadow.finishCopy(c.to, c.bytes, block.accessOf(w, *c.at, c.lane));
    }
  std::erase_if(pending, due);
}

void AsyncCopies::arriveAfter(Warp &w, const Instruction &i, unsigned lane, uint32_t mbarrier) {
  if (!i.counted)
    w.block.mbarriers.expectArrival(w, i, lane, mbarrier);
  arrivals.push_back({&i, lane, mbarrier, issued, awaited[lane]});
}

void AsyncCopies::complete(Warp &w, size_t index) {
  Block &block = w.block;
  Arrival arrival = arrivals[index];
  arrivals.erase(arrivals.begin() + long(index));
  auto due = [&](const Copy &c) { return c.lane == arrival.lane && c.number < arrival.before; };
  for (const Copy &c : pending)
    if (due(c)) {
      execute(block, c);
      if (!block.checks)
        continue;
      // The first arrival after the copy tells of it. One for a later copy, which waits for this one too, may
      // come before it.
      auto first = std::find_if(arrivals.begin(), arrivals.begin() + long(index), [&](const Arrival &other) {
        return other.lane == c.lane && c.number < other.before;
      });
      uint32_t mbarrier = first == arrivals.begin() + long(index) ? arrival.mbarrier : first->mbarrier;
      block.shadow.finishCopy(c.to, c.bytes, c.at->line, block.mbarriers.phaseOf(mbarrier, false));
    }
  std::erase_if(pending, due);
  block.mbarriers.arriveLate(w, *arrival.at, arrival.lane, arrival.mbarrier, arrival.clock);
}

} // namespace taylor::runtime::ptx

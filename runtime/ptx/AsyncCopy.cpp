// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/AsyncCopy.h"
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Handlers.h"
#include "runtime/ptx/Report.h"
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
  std::byte *data = block.memory.locate(w, i, lane, space, to, bytes, true);
  // A source of no bytes may lie anywhere; a shorter one still has the alignment of the whole.
  if (sourceBytes) {
    Space global = Space::Global;
    uint64_t address = from;
    if (from % bytes || sourceBytes == bytes)
      block.memory.locate(w, i, lane, global, address, bytes, false);
    else
      for (unsigned k = 0; k < sourceBytes; ++k, address = from + k)
        block.memory.locate(w, i, lane, global, address, 1, false);
  }
  if (block.checks)
    if (auto f = block.memory.shadow.startCopy(to, bytes, w.accessOf(i, lane)))
      raise(w, i, lane, "copies to", *f);
  std::memset(data, 0xff, bytes); // NaN in every float type
  pending.push_back(
      {&i, to, from, committed[lane], issued++, uint8_t(lane), uint8_t(bytes), uint8_t(sourceBytes)});
  block.memory.countBytes(Space::Global, false, sourceBytes);
  block.memory.countBytes(Space::Shared, true, bytes);
}

void AsyncCopies::commit(uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1)
    ++committed[firstLane(m)];
}

void AsyncCopies::execute(Block &block, const ThreadCopy &c) {
  std::byte *to = block.memory.shared.data() + c.to;
  std::memset(to, 0, c.bytes);
  std::memcpy(to, reinterpret_cast<const std::byte *>(c.from), c.sourceBytes);
}

void AsyncCopies::wait(Warp &w, uint32_t mask, uint64_t keep, bool all) {
  if (all)
    commit(mask);
  Block &block = w.block;
  auto due = [&](const ThreadCopy &c) {
    return (mask >> c.lane & 1) && uint64_t(c.group) + keep < committed[c.lane];
  };
  for (const ThreadCopy &c : pending)
    if (due(c)) {
      execute(block, c);
      w.accessed |= 1u << c.lane;
      awaited[c.lane] = w.order.clockOf(w.index);
      for (Arrival &arrival : arrivals)
        if (arrival.lane == c.lane && c.number < arrival.before)
          arrival.clock = w.order.clockOf(w.index);
      if (block.checks)
        block.memory.shadow.finishCopy(c.to, c.bytes, w.accessOf(*c.at, c.lane));
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
  auto due = [&](const ThreadCopy &c) { return c.lane == arrival.lane && c.number < arrival.before; };
  for (const ThreadCopy &c : pending)
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
      block.memory.shadow.finishCopy(c.to, c.bytes, c.at->line, block.mbarriers.phaseOf(mbarrier, false));
    }
  std::erase_if(pending, due);
  block.mbarriers.arriveLate(w, *arrival.at, arrival.lane, arrival.mbarrier, arrival.clock);
}

static void copy(Warp &w, const Instruction &i, uint32_t mask) {
  std::array<uint64_t, 32> addresses{};
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    uint64_t to = w.raw(i.operands[0], l) + uint64_t(i.offset),
             from = w.raw(i.operands[1], l) + uint64_t(i.offset2);
    if (bytesOf(i.operands[0].type) == 4)
      to = uint32_t(to);
    unsigned bytes = unsigned(i.count);
    if (i.operands.size() > 2) {
      bytes = w.get<uint32_t>(i.operands[2], l);
      if (bytes > uint64_t(i.count))
        raise(w, i, FaultKind::OutOfBounds, l, from,
              "expected a source of at most " + std::to_string(i.count) + " bytes, but got " +
                  std::to_string(bytes));
    }
    addresses[l] = to;
    w.copies.issue(w, i, l, to, from, bytes);
  }
  w.block.memory.countConflicts(addresses, mask, unsigned(i.count));
}

static void arrive(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    w.copies.arriveAfter(w, i, l, w.block.mbarriers.find(w, i, l, i.operands[0], i.offset, false));
  }
}

Handler copyHandler(const Instruction &i) {
  switch (i.op) {
  case Op::CpAsync:
    return copy;
  case Op::CpAsyncArrive:
    return arrive;
  case Op::CpAsyncCommit:
    return [](Warp &w, const Instruction &, uint32_t mask) { w.copies.commit(mask); };
  case Op::CpAsyncWait:
    return [](Warp &w, const Instruction &i, uint32_t mask) {
      w.copies.wait(w, mask, uint64_t(i.count), i.all);
    };
  default:
    return nullptr;
  }
}

} // namespace taylor::runtime::ptx

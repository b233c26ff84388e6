// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/Mbarriers.h"
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Handlers.h"
#include "runtime/ptx/Report.h"

namespace taylor::runtime::ptx {

constexpr int64_t kMostCount =
    (1 << 20) - 1; // of arrivals and of bytes (PTX ISA, "Contents of the mbarrier object")

void Mbarriers::clear(size_t count) {
  all.clear();
  warps = count;
  initialised = 0;
}

/// The offset in shared memory of the eight bytes that an operand points to.
static uint32_t locate(Warp &w, const Instruction &i, unsigned lane, const Operand &o, int64_t offset) {
  Space space = i.space;
  uint64_t address = w.raw(o, lane) + uint64_t(offset);
  if (bytesOf(o.type) == 4)
    address = uint32_t(address);
  w.block.memory.locate(w, i, lane, space, address, 8, false);
  if (space != Space::Shared)
    raise(w, i, FaultKind::OutOfBounds, lane, address, "expected an address in shared memory");
  return uint32_t(address);
}

void Mbarriers::initialise(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    uint32_t address = locate(w, i, l, i.operands[0], i.offset), count = w.get<uint32_t>(i.operands[1], l);
    if (all.contains(address))
      raise(w, i, FaultKind::Malformed, l, address,
            "initialises the mbarrier at " + hexadecimal(address) + " again, since line " +
                std::to_string(all.at(address).line) + ": requires mbarrier.inval between");
    if (count < 1 || count > kMostCount)
      raise(w, i, FaultKind::Malformed, l, address,
            "expected a count of 1 to " + std::to_string(kMostCount) + " arrivals, but got " +
                std::to_string(count));
    w.block.memory.checkShared(w, i, l, address, 8, true);
    if (w.block.checks)
      w.block.memory.shadow.setOpaque(address, 8, true);
    Mbarrier made;
    made.expected = made.pending = count;
    made.writer = unsigned(warps) + initialised++;
    made.warp = w.index;
    made.line = i.line;
    made.clock = w.order.clockOf(w.index);
    made.arrived.reset(warps);
    made.completed.reset(warps);
    made.lanes.assign(warps, 0);
    made.uses.resize(warps);
    all.emplace(address, std::move(made));
  }
}

void Mbarriers::invalidate(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    uint32_t address = find(w, i, l, i.operands[0], i.offset, false);
    if (w.block.checks)
      w.block.memory.shadow.setOpaque(address, 8, false);
    all.erase(address);
  }
}

void Mbarriers::fence(Warp &w) {
  for (auto &[address, m] : all)
    if (m.warp == w.index && !m.fenced)
      m.fenced = w.order.clockOf(w.index);
}

Mbarriers::Mbarrier &Mbarriers::at(const Warp &w, const Instruction &i, unsigned lane, uint32_t address) {
  auto found = all.find(address);
  if (found == all.end())
    raise(w, i, FaultKind::Malformed, lane, address,
          "expected an mbarrier at " + hexadecimal(address) + ", but none is initialised there");
  return found->second;
}

uint32_t Mbarriers::find(Warp &w, const Instruction &i, unsigned lane, const Operand &o, int64_t offset,
                         bool isAsync) {
  uint32_t address = locate(w, i, lane, o, offset);
  const Mbarrier &m = at(w, i, lane, address);
  if (!w.block.checks)
    return address;
  auto by = "the mbarrier at " + hexadecimal(address) + ", that warp " + std::to_string(m.warp) +
            " initialised at line " + std::to_string(m.line);
  if (m.warp != w.index && !w.order.isBefore(m.warp, m.clock))
    raise(w, i, FaultKind::Race, lane, address, "uses " + by + " with no barrier between");
  bool isFenced = m.fenced && (m.warp == w.index || w.order.isBefore(m.warp, m.fenced));
  if (isAsync && !isFenced && !w.order.isFenced(m.warp, m.clock))
    raise(w, i, FaultKind::Unfenced, lane, address,
          "signals " + by + ": requires its fence.mbarrier_init or fence.proxy.async between");
  return address;
}

Shadow::Phase Mbarriers::phaseOf(uint32_t address, bool isAsync) const {
  auto found = all.find(address);
  return found == all.end() ? Shadow::Phase{}
                            : Shadow::Phase{found->second.writer, found->second.phase + 1, isAsync};
}

/// Goes to the next phase if the current one is complete.
void Mbarriers::settle(Block &block, uint32_t address) {
  Mbarrier &m = all.at(address);
  if (m.pending || m.bytes)
    return;
  m.arrived.raise(m.writer, ++m.phase);
  m.completed.join(m.arrived);
  m.arrived.reset(warps);
  m.lanes.assign(warps, 0);
  m.pending = m.expected;
  m.hasWaiter = false;
  block.wake(address);
}

void Mbarriers::count(const Warp &w, const Instruction &i, unsigned lane, uint32_t address,
                      uint32_t arrivals) {
  Mbarrier &m = at(w, i, lane, address);
  if (!m.hasWaiter)
    raise(w, i, FaultKind::Malformed, lane, address,
          "arrives at the mbarrier at " + hexadecimal(address) + " in phase " + std::to_string(m.phase) +
              ", but no thread has waited for phase " + std::to_string(m.phase - 1));
  if (arrivals < 1 || arrivals > m.pending)
    raise(w, i, FaultKind::Malformed, lane, address,
          "expected 1 to " + std::to_string(m.pending) + " more arrivals in phase " +
              std::to_string(m.phase) + " of the mbarrier at " + hexadecimal(address) + ", but got " +
              std::to_string(arrivals));
  m.pending -= arrivals;
  settle(w.block, address);
}

void Mbarriers::addBytes(const Warp &w, const Instruction &i, unsigned lane, Mbarrier &m, int64_t bytes) {
  m.bytes += bytes;
  if (m.bytes > kMostCount || m.bytes < -kMostCount)
    raise(w, i, FaultKind::Malformed, lane, 0,
          "expected at most " + std::to_string(kMostCount) + " bytes under way, but got " +
              std::to_string(m.bytes));
}

void Mbarriers::use(Mbarrier &m, const Warp &w, const Instruction &i, unsigned lane) {
  Mbarrier::Use &use = m.uses[w.index];
  if (use.clock <= w.synced)
    use.lanes = 0;
  use.lanes |= 1u << lane;
  use.clock = w.order.clockOf(w.index);
  use.line = i.line;
}

void Mbarriers::checkUses(const Warp &w, const Instruction &i, unsigned lane, uint32_t address,
                          uint32_t lanes) {
  const Mbarrier::Use &use = all.at(address).uses[w.index];
  if (w.block.checks && use.clock > w.synced && (use.lanes & ~lanes))
    raise(w, i, FaultKind::Race, lane, address,
          "arrives at the mbarrier at " + hexadecimal(address) + ", which lane " +
              std::to_string(firstLane(use.lanes & ~lanes)) + " uses at line " + std::to_string(use.line) +
              ": requires bar.warp.sync between");
}

/// What arrivals of these lanes tell of their warp: that of other lanes only up to their last barrier.
static Order toldBy(const Warp &w, uint32_t lanes) {
  Order order = w.order;
  if (w.accessed & ~lanes)
    order.limit(w.index, w.synced);
  return order;
}

/// Operands: the phase before, if there is a result; the address; a count.
void Mbarriers::arrive(Warp &w, const Instruction &i, uint32_t mask) {
  const Operand *operands = &i.operands[i.results];
  bool hasCount = i.operands.size() > i.results + 1u;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    uint32_t address = find(w, i, l, operands[0], i.offset, false);
    Mbarrier &barrier = all.at(address);
    if (i.results)
      w.setRaw(i.operands[0], l, barrier.phase);
    uint32_t given = hasCount ? w.get<uint32_t>(operands[1], l) : 1;
    if (i.expectsBytes)
      addBytes(w, i, l, barrier, given);
    barrier.lanes[w.index] |= 1u << l;
    checkUses(w, i, l, address, mask | barrier.lanes[w.index]);
    if (!i.relaxed)
      barrier.arrived.join(toldBy(w, barrier.lanes[w.index]));
    count(w, i, l, address, i.expectsBytes ? 1 : given);
  }
  w.order.advance(w.index);
}

void Mbarriers::expect(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    Mbarrier &barrier = all.at(find(w, i, l, i.operands[0], i.offset, false));
    addBytes(w, i, l, barrier, w.get<uint32_t>(i.operands[1], l));
  }
}

/// Operands: whether the phase is complete; the address; its parity or a state, which is the number of a
/// phase.
uint32_t Mbarriers::test(Warp &w, const Instruction &i, uint32_t mask, std::array<uint64_t, 32> &events) {
  uint32_t complete = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    uint32_t address = find(w, i, l, i.operands[1], i.offset, false);
    Mbarrier &barrier = all.at(address);
    events[l] = address;
    uint64_t wanted = w.raw(i.operands[2], l);
    if (i.parity && wanted > 1)
      raise(w, i, FaultKind::Malformed, l, address,
            "expected a parity of 0 or 1, but got " + std::to_string(wanted));
    if (!i.parity && (wanted > barrier.phase || wanted + 1 < barrier.phase))
      raise(w, i, FaultKind::Malformed, l, address,
            "expected a state of phase " + std::to_string(barrier.phase) +
                " or the one before, but got one of " + std::to_string(wanted));
    use(barrier, w, i, l);
    if (i.parity ? wanted == barrier.phase % 2 : wanted == barrier.phase)
      continue;
    barrier.hasWaiter = true;
    if (!i.relaxed)
      w.order.join(barrier.completed);
    complete |= 1u << l;
  }
  return complete;
}

void Mbarriers::completeBytes(const Warp &w, const Instruction &i, unsigned lane, uint32_t address,
                              int64_t bytes) {
  addBytes(w, i, lane, at(w, i, lane, address), -bytes);
  settle(w.block, address);
}

void Mbarriers::expectArrival(const Warp &w, const Instruction &i, unsigned lane, uint32_t address) {
  Mbarrier &m = at(w, i, lane, address);
  use(m, w, i, lane);
  if (++m.pending > kMostCount)
    raise(w, i, FaultKind::Malformed, lane, address,
          "expected at most " + std::to_string(kMostCount) + " arrivals, but got one more");
}

void Mbarriers::arriveLate(const Warp &w, const Instruction &i, unsigned lane, uint32_t address,
                           uint32_t clock) {
  at(w, i, lane, address).arrived.raise(w.index, clock);
  count(w, i, lane, address, 1);
}

std::string Mbarriers::describe() const {
  std::string text;
  for (const auto &[address, m] : all)
    text += "\n  mbarrier " + hexadecimal(address) + " of line " + std::to_string(m.line) + ": phase " +
            std::to_string(m.phase) + ", " + std::to_string(m.expected - std::min(m.expected, m.pending)) +
            " of " + std::to_string(m.expected) + " arrivals, " + std::to_string(m.bytes) + " bytes missing";
  return text;
}

Handler mbarrierHandler(const Instruction &i) {
  switch (i.op) {
  case Op::MbarrierInit:
    return [](Warp &w, const Instruction &i, uint32_t mask) { w.block.mbarriers.initialise(w, i, mask); };
  case Op::MbarrierInval:
    return [](Warp &w, const Instruction &i, uint32_t mask) { w.block.mbarriers.invalidate(w, i, mask); };
  case Op::MbarrierExpect:
    return [](Warp &w, const Instruction &i, uint32_t mask) { w.block.mbarriers.expect(w, i, mask); };
  case Op::MbarrierFence:
    return [](Warp &w, const Instruction &, uint32_t) { w.block.mbarriers.fence(w); };
  default:
    return nullptr;
  }
}

} // namespace taylor::runtime::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/NamedBarriers.h"
#include "runtime/ptx/Report.h"
#include "runtime/ptx/Warp.h"
#include <algorithm>

namespace taylor::runtime::ptx {

void NamedBarriers::reset(size_t warps) {
  for (Barrier &b : barriers) {
    b = {};
    b.order.reset(warps);
  }
}

void NamedBarriers::arrive(Warp &w, const Instruction &i, uint32_t mask, std::span<Warp> warps) {
  unsigned first = firstLane(mask);
  uint32_t number = w.get<uint32_t>(i.operands[0], first);
  bool counted = i.operands.size() > 1;
  uint32_t expected = counted ? w.get<uint32_t>(i.operands[1], first) : uint32_t(32 * warps.size());
  if (number >= barriers.size())
    raise(w, i, FaultKind::Divergent, first, 0,
          "expected a barrier from 0 to 15, but got " + std::to_string(number));
  if (expected == 0 || expected % 32)
    raise(w, i, FaultKind::Divergent, first, 0,
          "expected a multiple of 32 threads, but got " + std::to_string(expected));
  Barrier &b = barriers[number];
  if (b.arrived && b.expected != expected)
    raise(w, i, FaultKind::Divergent, first, 0,
          "barrier " + std::to_string(number) + " waits for " + std::to_string(b.expected) +
              " threads since line " + std::to_string(b.line) + ", but here for " + std::to_string(expected));
  // A warp's lanes without a thread come with its first one.
  uint32_t came = unsigned(std::popcount(mask)) + (mask & 1 ? 32 - unsigned(std::popcount(w.exists)) : 0);
  b.expected = expected;
  b.arrived += came;
  b.line = i.line;
  if (b.arrived > expected)
    raise(w, i, FaultKind::Divergent, first, 0,
          "barrier " + std::to_string(number) + " waits for " + std::to_string(expected) + " threads, but " +
              std::to_string(b.arrived) + " came");
  b.order.join(w.order);
  w.orderLanes(mask);
  w.order.advance(w.index);
  ++w.pc;
  if (i.op == Op::BarSync)
    w.waitForBarrier(mask, uint8_t(number));
  if (b.arrived == expected)
    release(number, warps);
}

void NamedBarriers::release(unsigned number, std::span<Warp> warps) {
  Barrier &b = barriers[number];
  for (Warp &w : warps)
    if (w.leaveBarrier(uint8_t(number)))
      w.order.join(b.order);
  b = {};
  b.order.reset(warps.size());
}

std::string NamedBarriers::describe(unsigned number) const {
  const Barrier &b = barriers[number];
  return "barrier " + std::to_string(number) + ": " + std::to_string(b.arrived) + " of " +
         std::to_string(b.expected) + " threads came";
}

std::string NamedBarriers::describeUnawaited(std::span<const Warp> warps) const {
  std::string text;
  for (unsigned number = 0; number < barriers.size(); ++number) {
    bool isAwaited = std::ranges::any_of(
        warps, [&](const Warp &w) { return lanesWith(w.atBarrier, w.barrier, uint8_t(number)) != 0; });
    if (barriers[number].arrived && !isAwaited)
      text += "\n  " + describe(number) + ", and none waits";
  }
  return text;
}

} // namespace taylor::runtime::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/Shadow.h"
#include <algorithm>

namespace taylor::runtime::ptx {

void Shadow::reset(size_t size, unsigned warpCount) {
  warps = warpCount;
  bytes.assign(size, Byte());
  reads.assign(size * warps, Read());
  readers.clear();
}

void Shadow::mark(Byte &b, const Access &a) {
  b.clock = a.order.clockOf(a.warp);
  b.line = a.line;
  b.warp = uint16_t(a.warp);
  b.strong = a.strong;
  b.async = a.async;
  b.written = true;
}

std::optional<Shadow::Finding> Shadow::inFlight(uint64_t address, const Byte &b) const {
  return Finding{FaultKind::InFlight, address,
                 "that cp.async of thread " + std::to_string(b.copier - 1) + " at line " +
                     std::to_string(b.line) + " still fills: requires a wait before it"};
}

std::optional<Shadow::Finding> Shadow::unfenced(uint64_t address, const Byte &b, const Access &a) const {
  if (b.async || a.order.isFenced(b.warp, b.clock))
    return std::nullopt;
  return Finding{FaultKind::Unfenced, address,
                 "that warp " + std::to_string(b.warp) + " wrote at line " + std::to_string(b.line) +
                     ": requires its fence.proxy.async between that and the barrier"};
}

std::optional<Shadow::Finding> Shadow::beingRead(uint64_t address, unsigned count) const {
  for (uint64_t k = address / 16; !readers.empty() && 16 * k < address + count; ++k)
    if (const Readers &r = readers[k]; r.count)
      return Finding{FaultKind::Race, std::max(address, 16 * k),
                     "that wgmma of warp " + std::to_string(r.warp) + " at line " + std::to_string(r.line) +
                         " still reads: requires wgmma.wait_group before it"};
  return std::nullopt;
}

std::optional<Shadow::Finding> Shadow::read(uint64_t address, unsigned count, const Access &a) {
  for (uint64_t k = address; k < address + count; ++k) {
    const Byte &b = bytes[k];
    if (b.copier)
      return inFlight(k, b);
    if (!b.written)
      return Finding{FaultKind::UninitialisedShared, k, "that nobody has written"};
    if (b.warp != a.warp && !a.order.isBefore(b.warp, b.clock) && !(b.strong && a.strong))
      return Finding{FaultKind::Race, k,
                     "that warp " + std::to_string(b.warp) + " wrote at line " + std::to_string(b.line) +
                         " with no barrier between"};
    if (a.async)
      if (auto finding = unfenced(k, b, a))
        return finding;
  }
  if (!a.strong)
    std::fill_n(readsOf(a.warp) + address, count, Read{a.order.clockOf(a.warp), a.line});
  return std::nullopt;
}

std::optional<Shadow::Finding> Shadow::write(uint64_t address, unsigned count, const Access &a) {
  for (uint64_t k = address; k < address + count; ++k) {
    const Byte &b = bytes[k];
    if (b.copier)
      return inFlight(k, b);
    if (b.written && b.warp != a.warp && !a.order.isBefore(b.warp, b.clock) && !(b.strong && a.strong))
      return Finding{FaultKind::Race, k,
                     "that warp " + std::to_string(b.warp) + " wrote at line " + std::to_string(b.line) +
                         " with no barrier between"};
  }
  if (auto finding = beingRead(address, count))
    return finding;
  for (unsigned w = 0; w < warps; ++w) {
    if (w == a.warp)
      continue;
    for (uint64_t k = address; k < address + count; ++k)
      if (const Read &r = readsOf(w)[k]; !a.order.isBefore(w, r.clock))
        return Finding{FaultKind::Race, k,
                       "that warp " + std::to_string(w) + " read at line " + std::to_string(r.line) +
                           " with no barrier between"};
  }
  for (uint64_t k = address; k < address + count; ++k)
    mark(bytes[k], a);
  return std::nullopt;
}

std::optional<Shadow::Finding> Shadow::startRead(uint64_t address, const Access &a) {
  if (auto finding = read(address, 16, a))
    return finding;
  readers.resize((bytes.size() + 15) / 16);
  Readers &r = readers[address / 16];
  r = {r.count + 1, a.line, a.warp};
  return std::nullopt;
}

void Shadow::finishRead(uint64_t address, const Access &a) {
  --readers[address / 16].count;
  std::fill_n(readsOf(a.warp) + address, 16, Read{a.order.clockOf(a.warp), a.line});
}

std::optional<Shadow::Finding> Shadow::startCopy(uint64_t address, unsigned count, const Access &a) {
  if (auto finding = write(address, count, a))
    return finding;
  for (uint64_t k = address; k < address + count; ++k)
    bytes[k].copier = a.thread + 1;
  return std::nullopt;
}

void Shadow::finishCopy(uint64_t address, unsigned count, const Access &a) {
  for (uint64_t k = address; k < address + count; ++k) {
    bytes[k].copier = 0;
    mark(bytes[k], a);
  }
}

} // namespace taylor::runtime::ptx

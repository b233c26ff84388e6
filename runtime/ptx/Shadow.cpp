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
  std::string line = " at line " + std::to_string(b.line);
  if (b.copier == kMbarrier)
    return Finding{FaultKind::Malformed, address,
                   "that is an mbarrier" + line + ": requires mbarrier.inval before it"};
  bool isBulk = b.copier & kBulk;
  return Finding{FaultKind::InFlight, address,
                 std::string("that cp.async") + (isBulk ? ".bulk" : "") + " of thread " +
                     std::to_string((b.copier & ~kBulk) - 1) + line + " still fills: requires a wait " +
                     (isBulk ? "for its mbarrier before it" : "before it")};
}

std::string Shadow::unfenced(unsigned warp, const char *verb, unsigned line) const {
  if (warp >= warps)
    return "that a copy at line " + std::to_string(line) +
           " wrote: requires fence.proxy.async after the wait for its mbarrier";
  return "that warp " + std::to_string(warp) + " " + verb + " at line " + std::to_string(line) +
         ": requires its fence.proxy.async between that and the barrier";
}

Shadow::Finding Shadow::unorderedWrite(uint64_t address, const Byte &b, const Access &a) const {
  if (b.warp == a.warp || a.order.isBefore(b.warp, b.clock))
    return {FaultKind::Unfenced, address, unfenced(b.warp, "wrote", b.line)};
  std::string line = std::to_string(b.line);
  return {FaultKind::Race, address,
          b.warp >= warps ? "that a copy at line " + line + " wrote, with no wait for its mbarrier between"
                          : "that warp " + std::to_string(b.warp) + " wrote at line " + line +
                                " with no barrier between"};
}

std::optional<Shadow::Finding> Shadow::followsReads(uint64_t address, unsigned count, const Access &a) {
  for (unsigned w = 0; w < warps; ++w) {
    if (w == a.warp && !a.async)
      continue;
    const Read *of = readsOf(w) + address;
    uint32_t lanes = w == a.warp ? ~0u : a.order.clockOf(w),
             products = w == a.warp ? ~0u : a.order.productsOf(w);
    for (unsigned k = 0; k < count; ++k) {
      const Read &r = of[k];
      uint32_t known = r.product ? products : lanes;
      if (r.clock <= known && (!a.async || r.async || a.order.isFenced(w, r.clock)))
        continue;
      if (r.clock <= known)
        return Finding{FaultKind::Unfenced, address + k, unfenced(w, "read", r.line)};
      return Finding{FaultKind::Race, address + k,
                     "that warp " + std::to_string(w) + " read at line " + std::to_string(r.line) +
                         " with no barrier between"};
    }
  }
  return std::nullopt;
}

std::optional<Shadow::Finding> Shadow::beingRead(uint64_t address, unsigned count) const {
  for (uint64_t k = address / 16; !readers.empty() && 16 * k < address + count; ++k)
    if (const Readers &r = readers[k]; r.count)
      return Finding{FaultKind::Race, std::max(address, 16 * k),
                     std::string("that ") + (r.isCopy ? "cp.async.bulk" : "wgmma") + " of warp " +
                         std::to_string(r.warp) + " at line " + std::to_string(r.line) +
                         " still reads: requires " +
                         (r.isCopy ? "cp.async.bulk.wait_group.read" : "wgmma.wait_group") + " before it"};
  return std::nullopt;
}

std::optional<Shadow::Finding> Shadow::read(uint64_t address, unsigned count, const Access &a) {
  for (uint64_t k = address; k < address + count; ++k) {
    const Byte &b = bytes[k];
    if (b.copier)
      return inFlight(k, b);
    if (!b.written)
      return Finding{FaultKind::UninitialisedShared, k, "that nobody has written"};
    if (!follows(b, a))
      return unorderedWrite(k, b, a);
  }
  if (!a.strong)
    std::fill_n(readsOf(a.warp) + address, count, Read{a.order.clockOf(a.warp), a.line, a.async, false});
  return std::nullopt;
}

std::optional<Shadow::Finding> Shadow::write(uint64_t address, unsigned count, const Access &a) {
  for (uint64_t k = address; k < address + count; ++k) {
    const Byte &b = bytes[k];
    if (b.copier)
      return inFlight(k, b);
    if (b.written && !follows(b, a))
      return unorderedWrite(k, b, a);
  }
  if (auto finding = beingRead(address, count))
    return finding;
  if (auto finding = followsReads(address, count, a))
    return finding;
  for (uint64_t k = address; k < address + count; ++k)
    mark(bytes[k], a);
  return std::nullopt;
}

std::optional<Shadow::Finding> Shadow::startCopy(uint64_t address, unsigned count, const Access &a) {
  if (auto finding = write(address, count, a))
    return finding;
  for (uint64_t k = address; k < address + count; ++k)
    bytes[k].copier = (a.thread + 1) | (a.async ? kBulk : 0);
  return std::nullopt;
}

void Shadow::finishCopy(uint64_t address, unsigned count, const Access &a) {
  for (uint64_t k = address; k < address + count; ++k) {
    bytes[k].copier = 0;
    mark(bytes[k], a);
  }
}

void Shadow::finishCopy(uint64_t address, unsigned count, unsigned line, const Phase &phase) {
  for (uint64_t k = address; k < address + count; ++k) {
    Byte &b = bytes[k];
    b.copier = 0;
    b.clock = phase.clock;
    b.line = line;
    b.warp = uint16_t(phase.writer);
    b.strong = false;
    b.async = phase.async;
    b.written = true;
  }
}

std::optional<Shadow::Finding> Shadow::startRead(uint64_t address, const Access &a) {
  if (auto finding = read(address, 16, a))
    return finding;
  readers.resize((bytes.size() + 15) / 16);
  Readers &r = readers[address / 16];
  ++r.count;
  r.line = a.line;
  r.warp = a.warp;
  r.isCopy = a.isCopy;
  return std::nullopt;
}

void Shadow::finishRead(uint64_t address, const Access &a) {
  --readers[address / 16].count;
  std::fill_n(readsOf(a.warp) + address, 16, Read{a.order.clockOf(a.warp), a.line, true, !a.isCopy});
}

void Shadow::setOpaque(uint64_t address, unsigned count, bool isOpaque) {
  for (uint64_t k = address; k < address + count; ++k) {
    bytes[k].copier = isOpaque ? kMbarrier : 0;
    bytes[k].written = false;
  }
}

} // namespace taylor::runtime::ptx

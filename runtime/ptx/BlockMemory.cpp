// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/BlockMemory.h"
#include "runtime/ptx/Report.h"
#include "runtime/ptx/Warp.h"
#include <algorithm>

namespace taylor::runtime::ptx {

const char *spaceName(Space s) {
  static const char *names[] = {"generic", "shared", "global", "param", "const", "local"};
  return names[unsigned(s)];
}

static std::string describe(bool write, uint64_t bytes, Space space, uint64_t address) {
  return (write ? "writes " : "reads ") + std::to_string(bytes) + " bytes at " + spaceName(space) +
         " address " + hexadecimal(address);
}

BlockMemory::BlockMemory(const Launch &launch)
    : shared(launch.sharedBytes()), launch(launch), checks(launch.options.checks),
      profiling(launch.options.profile) {}

void BlockMemory::reset() {
  std::fill(shared.begin(), shared.end(), std::byte(0xff));
  if (checks)
    shadow.reset(shared.size(), launch.warps());
}

std::byte *BlockMemory::locate(Warp &w, const Instruction &i, unsigned lane, Space &space, uint64_t &address,
                               unsigned bytes, bool write) {
  if (space == Space::Generic) {
    uint64_t window = address & ~kWindowMask;
    space = window == kSharedWindow      ? Space::Shared
            : window == kLocalWindow     ? Space::Local
            : window == kParameterWindow ? Space::Param
                                         : Space::Global;
    if (space != Space::Global)
      address &= kWindowMask;
  }
  auto what = [&] { return describe(write, bytes, space, address); };
  if (address & (bytes - 1)) // a power of two
    raise(w, i, FaultKind::Misaligned, lane, address,
          what() + ", which is no multiple of " + std::to_string(bytes));
  auto inside = [&](std::byte *data, size_t size) {
    if (address > size || size - address < bytes)
      raise(w, i, FaultKind::OutOfBounds, lane, address,
            what() + ", outside of its " + std::to_string(size) + " bytes");
    return data + address;
  };
  if (space == Space::Shared)
    return inside(shared.data(), shared.size());
  if (space == Space::Local)
    return inside(w.local.data() + lane * launch.kernel.localBytes, launch.kernel.localBytes);
  if (space == Space::Param) {
    if (write)
      raise(w, i, FaultKind::OutOfBounds, lane, address, what() + ", but parameters are constant");
    return inside(const_cast<std::byte *>(launch.parameters.data()), launch.parameters.size());
  }
  return locateGlobal(w, i, lane, address, bytes, write);
}

std::byte *BlockMemory::locateGlobal(const Warp &w, const Instruction &i, unsigned lane, uint64_t address,
                                     uint64_t bytes, bool write) {
  auto what = [&] { return describe(write, bytes, Space::Global, address); };
  // The last range that was hit, else the last that starts at or before the address.
  auto holds = [&](const MemoryRange &r) {
    auto base = reinterpret_cast<uintptr_t>(r.data);
    return address >= base && address - base < r.bytes && r.bytes - (address - base) >= bytes;
  };
  if (launch.ranges.empty() || !holds(launch.ranges[lastRange])) {
    auto after = std::upper_bound(
        launch.ranges.begin(), launch.ranges.end(), address,
        [](uint64_t a, const MemoryRange &r) { return a < reinterpret_cast<uintptr_t>(r.data); });
    if (after == launch.ranges.begin())
      raise(w, i, FaultKind::OutOfBounds, lane, address, what() + ", before every memory range");
    const MemoryRange &r = *(after - 1);
    if (!holds(r)) {
      uint64_t past = address - reinterpret_cast<uintptr_t>(r.data);
      raise(w, i, FaultKind::OutOfBounds, lane, address,
            what() + ", " + std::to_string(past) + " bytes after the start of '" + r.name + "', which has " +
                std::to_string(r.bytes) + " bytes");
    }
    lastRange = size_t(after - launch.ranges.begin()) - 1;
  }
  const MemoryRange &range = launch.ranges[lastRange];
  if (write && !range.writable)
    raise(w, i, FaultKind::OutOfBounds, lane, address,
          what() + ", but '" + range.name + "' may only be read");
  if (range.previous && !(w.hasPrevious >> lane & 1))
    raise(w, i, FaultKind::InFlight, lane, address,
          what() + ", but the previous kernel may still write '" + range.name +
              "': requires griddepcontrol.wait before it");
  return reinterpret_cast<std::byte *>(address);
}

void BlockMemory::checkShared(Warp &w, const Instruction &i, unsigned lane, uint64_t address, unsigned bytes,
                              bool write) {
  if (!checks)
    return;
  w.accessed |= 1u << lane;
  Shadow::Access access = w.accessOf(i, lane);
  if (auto f = write ? shadow.write(address, bytes, access) : shadow.read(address, bytes, access))
    raise(w, i, lane, write ? "writes" : "reads", *f);
}

void BlockMemory::countConflicts(const std::array<uint64_t, 32> &addresses, uint32_t mask, unsigned bytes) {
  if (!profiling)
    return;
  // A pass serves 32 words: all lanes at up to 4 bytes each, half of them at 8, a quarter at 16.
  unsigned words = std::max(1u, bytes / 4), together = 32 / words;
  for (unsigned from = 0; from < 32; from += together) {
    std::array<std::array<uint64_t, 32>, 32> inBank; // the different words of each bank
    std::array<uint8_t, 32> count{};
    unsigned most = 1;
    for (unsigned l = from; l < from + together; ++l)
      if (mask >> l & 1)
        for (unsigned k = 0; k < words; ++k) {
          uint64_t word = addresses[l] / 4 + k;
          auto &bank = inBank[word % 32];
          uint8_t &n = count[word % 32];
          if (std::find(bank.begin(), bank.begin() + n, word) == bank.begin() + n)
            bank[n++] = word;
          most = std::max<unsigned>(most, n);
        }
    profile.bankConflicts += most - 1;
  }
}

void BlockMemory::countBytes(Space space, bool write, uint64_t bytes) {
  if (!profiling)
    return;
  if (space == Space::Global)
    (write ? profile.globalWritten : profile.globalRead) += bytes;
  else if (space == Space::Shared)
    (write ? profile.sharedWritten : profile.sharedRead) += bytes;
}

} // namespace taylor::runtime::ptx

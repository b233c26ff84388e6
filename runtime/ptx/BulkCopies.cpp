// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/BulkCopies.h"
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Handlers.h"
#include "runtime/ptx/Report.h"

namespace taylor::runtime::ptx {
namespace {

/// One line of a box: what of it lies inside of the tensor.
struct TensorLine {
  uint64_t address;          ///< global, of the first byte inside
  unsigned at, begin, bytes; ///< of the line in the box; of what is inside in the line
};

/// f(line) for each line of a box, in the order in which they lie in shared memory.
template <typename F> void forLines(const TensorMap &map, const std::array<int64_t, 5> &from, F f) {
  unsigned lineBytes = map.lineBytes(), lines = map.boxBytes() / lineBytes;
  int64_t first = std::clamp<int64_t>(-from[0], 0, map.box[0]),
          last = std::clamp<int64_t>(int64_t(map.sizes[0]) - from[0], first, map.box[0]);
  for (unsigned n = 0; n < lines; ++n) {
    uint64_t address = map.address + uint64_t(from[0] + first) * map.elementBytes;
    bool isInside = true;
    unsigned rest = n;
    for (unsigned d = 1; d < map.rank; ++d) {
      int64_t at = from[d] + int64_t(rest % map.boxSize(d)) * map.steps[d];
      rest /= map.boxSize(d);
      isInside &= at >= 0 && uint64_t(at) < map.sizes[d];
      address += uint64_t(at) * map.strides[d - 1];
    }
    f(TensorLine{address, n * lineBytes, unsigned(first) * map.elementBytes,
                 isInside ? unsigned(last - first) * map.elementBytes : 0});
  }
}

/// Where byte `offset` of a box lies that starts at an address of shared memory.
uint32_t swizzled(const TensorMap &map, uint32_t shared, unsigned offset) {
  uint32_t address = shared + offset;
  return map.swizzle ? address ^ (address >> 3 & (map.swizzle - 16u)) : address;
}

/// The part of a line inside of the tensor, in pieces of at most 16 bytes that lie together: f(address,
/// global, bytes).
template <typename F> void forPieces(const TensorMap &map, uint32_t shared, const TensorLine &line, F f) {
  for (unsigned done = 0, bytes; done < line.bytes; done += bytes) {
    unsigned at = line.at + line.begin + done;
    bytes = std::min(16 - at % 16, line.bytes - done);
    f(swizzled(map, shared, at), line.address + done, bytes);
  }
}

} // namespace

void BulkCopies::clear(size_t warps) {
  loads.clear();
  stores.clear();
  committed.assign(warps, {});
}

/// What both directions have in common: the map, the box, the place in shared memory.
BulkCopies::BoxCopy BulkCopies::describe(Warp &w, const Instruction &i, unsigned lane,
                                         const Operand &mapAddress, const Operand &sharedAddress) const {
  Block &block = w.block;
  BoxCopy copy{.warp = &w, .at = &i, .lane = lane, .map = {}, .from = {}, .shared = 0};
  uint64_t address = w.raw(mapAddress, lane) + uint64_t(i.offset2);
  for (unsigned half = 0; half < 2; ++half) {
    Space space = Space::Generic;
    uint64_t at = address + 64 * half;
    std::byte *data = block.memory.locate(w, i, lane, space, at, 64, false);
    std::memcpy(reinterpret_cast<std::byte *>(&copy.map) + 64 * half, data, 64);
  }
  const TensorMap &map = copy.map;
  if (!map.isValid())
    raise(w, i, FaultKind::Malformed, lane, address,
          "expected a tensor map at " + hexadecimal(address) + ", but there is none");
  if (map.rank != i.vector)
    raise(w, i, FaultKind::Malformed, lane, address,
          "expected a tensor map of rank " + std::to_string(i.vector) + ", but got one of rank " +
              std::to_string(map.rank));
  for (unsigned d = 0; d < map.rank; ++d)
    copy.from[d] = w.get<int32_t>(i.operands[i.operands.size() - map.rank + d], lane);
  if (copy.from[0] * map.elementBytes % 16)
    raise(w, i, FaultKind::Misaligned, lane, 0,
          "expected a box at a multiple of 16 bytes along dimension 0, but got element " +
              std::to_string(copy.from[0]) + " of " + std::to_string(map.elementBytes) + " bytes");
  uint64_t shared = w.raw(sharedAddress, lane) + uint64_t(i.offset);
  if (bytesOf(sharedAddress.type) == 4)
    shared = uint32_t(shared);
  copy.shared = uint32_t(shared);
  if (shared % 128)
    raise(w, i, FaultKind::Misaligned, lane, shared,
          "expected a box at a multiple of 128 bytes of shared memory, but got " + hexadecimal(shared));
  if (shared > block.memory.shared.size() || block.memory.shared.size() - shared < map.boxBytes())
    raise(w, i, FaultKind::OutOfBounds, lane, shared,
          "copies a box of " + std::to_string(map.boxBytes()) + " bytes at shared address " +
              hexadecimal(shared) + ", outside of its " + std::to_string(block.memory.shared.size()) +
              " bytes");
  return copy;
}

/// Operands: shared address, map, mbarrier, coordinates.
void BulkCopies::load(Warp &w, const Instruction &i, uint32_t mask) {
  Block &block = w.block;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    BoxCopy copy = describe(w, i, l, i.operands[1], i.operands[0]);
    copy.mbarrier = block.mbarriers.find(w, i, l, i.operands[2], i.offset3, true);
    forLines(copy.map, copy.from, [&](const TensorLine &line) {
      if (line.bytes)
        block.memory.locateGlobal(w, i, l, line.address, line.bytes, false);
      block.memory.countBytes(Space::Global, false, line.bytes);
    });
    unsigned bytes = copy.map.boxBytes();
    Shadow::Access access = w.accessOf(i, l);
    access.async = access.isCopy = true;
    if (block.checks)
      if (auto f = block.memory.shadow.startCopy(copy.shared, bytes, access))
        raise(w, i, l, "copies to", *f);
    std::memset(block.memory.shared.data() + copy.shared, 0xff, bytes); // NaN in every float type
    block.memory.countBytes(Space::Shared, true, bytes);
    loads.push_back(std::move(copy));
  }
}

void BulkCopies::finishLoad(const BoxCopy &copy) {
  Block &block = copy.warp->block;
  unsigned bytes = copy.map.boxBytes();
  std::memset(block.memory.shared.data() + copy.shared, 0, bytes); // what lies outside of the tensor
  forLines(copy.map, copy.from, [&](const TensorLine &line) {
    forPieces(copy.map, copy.shared, line, [&](uint32_t to, uint64_t from, unsigned size) {
      std::memcpy(block.memory.shared.data() + to, reinterpret_cast<const std::byte *>(from), size);
    });
  });
  if (block.checks)
    block.memory.shadow.finishCopy(copy.shared, bytes, copy.at->line,
                                   block.mbarriers.phaseOf(copy.mbarrier, true));
  block.mbarriers.completeBytes(*copy.warp, *copy.at, copy.lane, copy.mbarrier, bytes);
}

/// Operands: map, shared address, coordinates.
void BulkCopies::store(Warp &w, const Instruction &i, uint32_t mask) {
  Block &block = w.block;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    BoxCopy copy = describe(w, i, l, i.operands[0], i.operands[1]);
    copy.group = committed[w.index][l];
    for (unsigned d = 0; d < copy.map.rank; ++d)
      if (copy.from[d] < 0)
        raise(w, i, FaultKind::OutOfBounds, l, 0,
              "expected a box at coordinates from 0, but got " + std::to_string(copy.from[d]) +
                  " of dimension " + std::to_string(d));
    forLines(copy.map, copy.from, [&](const TensorLine &line) {
      if (line.bytes)
        block.memory.locateGlobal(w, i, l, line.address, line.bytes, true);
      block.memory.countBytes(Space::Global, true, line.bytes);
    });
    unsigned bytes = copy.map.boxBytes();
    Shadow::Access access = w.accessOf(i, l);
    access.async = access.isCopy = true;
    if (block.checks)
      for (unsigned k = 0; k < bytes; k += 16)
        if (auto f = block.memory.shadow.startRead(copy.shared + k, access))
          raise(w, i, l, "copies from", *f);
    block.memory.countBytes(Space::Shared, false, bytes);
    stores.push_back(std::move(copy));
  }
}

void BulkCopies::readSource(BoxCopy &copy) {
  unsigned bytes = copy.map.boxBytes();
  copy.hasRead = true;
  copy.data.resize(bytes);
  for (unsigned k = 0; k < bytes; k += 16)
    std::memcpy(copy.data.data() + k,
                copy.warp->block.memory.shared.data() + swizzled(copy.map, copy.shared, k), 16);
}

void BulkCopies::writeTarget(BoxCopy &copy) {
  copy.hasWritten = true;
  forLines(copy.map, copy.from, [&](const TensorLine &line) {
    if (line.bytes)
      std::memcpy(reinterpret_cast<std::byte *>(line.address), copy.data.data() + line.at + line.begin,
                  line.bytes);
  });
}

/// The thread knows that shared memory was read.
void BulkCopies::release(BoxCopy &copy) {
  Block &block = copy.warp->block;
  copy.isAwaited = true;
  if (!block.checks)
    return;
  Shadow::Access access = copy.warp->accessOf(*copy.at, copy.lane);
  for (unsigned k = 0; k < copy.map.boxBytes(); k += 16)
    block.memory.shadow.finishRead(copy.shared + k, access);
}

void BulkCopies::commit(const Warp &w, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1)
    ++committed[w.index][firstLane(m)];
}

void BulkCopies::wait(Warp &w, const Instruction &i, uint32_t mask) {
  for (BoxCopy &copy : stores) {
    if (copy.warp != &w || !(mask >> copy.lane & 1) ||
        copy.group + uint64_t(i.count) >= committed[w.index][copy.lane])
      continue;
    if (!copy.hasRead)
      readSource(copy);
    if (!copy.isAwaited)
      release(copy);
    if (!i.readsOnly && !copy.hasWritten)
      writeTarget(copy);
  }
  std::erase_if(stores, [](const BoxCopy &copy) { return copy.isAwaited && copy.hasWritten; });
}

void BulkCopies::exit(const Warp &w, const Instruction &i, uint32_t mask) const {
  for (const BoxCopy &copy : stores)
    if (copy.warp == &w && (mask >> copy.lane & 1) && !copy.isAwaited)
      raise(w, i, FaultKind::InFlight, copy.lane, copy.shared,
            "exits while cp.async.bulk of thread " + std::to_string(w.threadOf(copy.lane)) + " at line " +
                std::to_string(copy.at->line) +
                " still reads shared memory: requires cp.async.bulk.wait_group.read before it");
}

size_t BulkCopies::underWay() const {
  return loads.size() +
         size_t(std::ranges::count_if(stores, [](const BoxCopy &copy) { return !copy.hasWritten; }));
}

void BulkCopies::complete(size_t index) {
  if (index < loads.size()) {
    BoxCopy copy = std::move(loads[index]);
    loads.erase(loads.begin() + long(index));
    return finishLoad(copy);
  }
  index -= loads.size();
  for (BoxCopy &copy : stores)
    if (!copy.hasWritten && index-- == 0)
      return copy.hasRead ? writeTarget(copy) : readSource(copy);
}

void BulkCopies::end(Block &block) {
  for (BoxCopy &copy : stores)
    if (!copy.hasWritten)
      writeTarget(copy);
  stores.clear();
  if (!loads.empty()) {
    const BoxCopy &copy = loads.front();
    raise(*copy.warp, *copy.at, FaultKind::InFlight, copy.lane, copy.shared,
          "still fills shared memory when the block ends: requires a wait for its mbarrier before that");
  }
}

Handler bulkHandler(const Instruction &i) {
  switch (i.op) {
  case Op::BulkLoad:
    return [](Warp &w, const Instruction &i, uint32_t mask) { w.block.bulkCopies.load(w, i, mask); };
  case Op::BulkStore:
    return [](Warp &w, const Instruction &i, uint32_t mask) { w.block.bulkCopies.store(w, i, mask); };
  case Op::BulkCommit:
    return [](Warp &w, const Instruction &, uint32_t mask) { w.block.bulkCopies.commit(w, mask); };
  case Op::BulkWait:
    return [](Warp &w, const Instruction &i, uint32_t mask) { w.block.bulkCopies.wait(w, i, mask); };
  default:
    return nullptr;
  }
}

} // namespace taylor::runtime::ptx

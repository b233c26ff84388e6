// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores and atomics in all state spaces (PTX ISA, "Data Movement and Conversion", "Parallel
// Synchronization").
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Handlers.h"
#include <atomic>

namespace taylor::runtime::ptx {

std::string hexadecimal(uint64_t x) {
  char text[24];
  snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(x));
  return text;
}

static const char *spaceName(Space s) {
  static const char *names[] = {"generic", "shared", "global", "param", "const", "local"};
  return names[unsigned(s)];
}

static std::string describe(bool write, uint64_t bytes, Space space, uint64_t address) {
  return (write ? "writes " : "reads ") + std::to_string(bytes) + " bytes at " + spaceName(space) +
         " address " + hexadecimal(address);
}

std::byte *Block::locate(Warp &w, const Instruction &i, unsigned lane, Space &space, uint64_t &address,
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

std::byte *Block::locateGlobal(Warp &w, const Instruction &i, unsigned lane, uint64_t address, uint64_t bytes,
                               bool write) {
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

void Block::checkShared(Warp &w, const Instruction &i, unsigned lane, uint64_t address, unsigned bytes,
                        bool write) {
  if (!checks)
    return;
  w.accessed |= 1u << lane;
  Shadow::Access access = accessOf(w, i, lane);
  if (auto f = write ? shadow.write(address, bytes, access) : shadow.read(address, bytes, access))
    raise(w, i, f->kind, lane, f->address,
          (write ? "writes" : "reads") + std::string(" shared address ") + hexadecimal(f->address) + ", " +
              f->what);
}

void Block::countConflicts(const std::array<uint64_t, 32> &addresses, uint32_t mask, unsigned bytes) {
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

void Block::countBytes(Space space, bool write, uint64_t bytes) {
  if (!profiling)
    return;
  if (space == Space::Global)
    (write ? profile.globalWritten : profile.globalRead) += bytes;
  else if (space == Space::Shared)
    (write ? profile.sharedWritten : profile.sharedRead) += bytes;
}

namespace {

/// A register's bits after loading a value of a narrower type: sign or zeros above.
uint64_t extended(Type t, uint64_t bits) {
  unsigned width = 8 * bytesOf(t);
  return isSigned(t) ? uint64_t(int64_t(bits << (64 - width)) >> (64 - width)) : bits;
}

/// Loads and stores; the operands are results then base, or base then values.
template <bool write> void access(Warp &w, const Instruction &i, uint32_t mask) {
  Block &block = w.block;
  unsigned size = bytesOf(i.type), bytes = size * i.vector;
  const Operand &base = i.operands[write ? 0 : i.vector];
  const Operand *values = &i.operands[write ? 1 : 0];
  std::array<uint64_t, 32> addresses{};
  uint32_t inShared = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    Space space = i.space;
    uint64_t address = w.raw(base, l) + uint64_t(i.offset);
    if (bytesOf(base.type) == 4)
      address = uint32_t(address);
    std::byte *data = block.locate(w, i, l, space, address, bytes, write);
    if (space == Space::Shared) {
      block.checkShared(w, i, l, address, bytes, write);
      addresses[l] = address;
      inShared |= 1u << l;
    }
    block.countBytes(space, write, bytes);
    for (unsigned k = 0; k < i.vector; ++k) {
      if (write) {
        uint64_t bits = w.raw(values[k], l);
        std::memcpy(data + k * size, &bits, size);
      } else {
        uint64_t bits = 0;
        std::memcpy(&bits, data + k * size, size);
        w.setRaw(values[k], l, extended(i.type, bits));
      }
    }
  }
  if (inShared)
    block.countConflicts(addresses, inShared, bytes);
}

template <typename T> T combined(Combine c, T old, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return c == Combine::Add ? old + a : a;
  } else {
    switch (c) {
    case Combine::Add:
      return T(std::make_unsigned_t<T>(old) + std::make_unsigned_t<T>(a));
    case Combine::Min:
      return std::min(old, a);
    case Combine::Max:
      return std::max(old, a);
    case Combine::Inc:
      return old >= a ? T(0) : T(old + 1);
    case Combine::Dec:
      return old == 0 || old > a ? a : T(old - 1);
    case Combine::And:
      return old & a;
    case Combine::Or:
      return old | a;
    case Combine::Xor:
      return old ^ a;
    case Combine::Exchange:
      return a;
    case Combine::CompareSwap:
      return old == a ? b : old;
    }
    return old;
  }
}

template <typename T> void atomic(Warp &w, const Instruction &i, uint32_t mask) {
  Block &block = w.block;
  const Operand *source = &i.operands[i.results];
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    Space space = i.space;
    uint64_t address = w.raw(source[0], l) + uint64_t(i.offset);
    if (bytesOf(source[0].type) == 4)
      address = uint32_t(address);
    std::byte *data = block.locate(w, i, l, space, address, sizeof(T), true);
    if (space == Space::Shared) {
      block.checkShared(w, i, l, address, sizeof(T), false);
      block.checkShared(w, i, l, address, sizeof(T), true);
    }
    block.countBytes(space, false, sizeof(T));
    block.countBytes(space, true, sizeof(T));
    T a = w.get<T>(source[1], l), b = i.combine == Combine::CompareSwap ? w.get<T>(source[2], l) : T();
    // Other blocks may run at the same time on other host threads.
    std::atomic_ref<Cell<T>> cell(*reinterpret_cast<Cell<T> *>(data));
    Cell<T> old = cell.load();
    while (!cell.compare_exchange_weak(old, toCell<T>(combined(i.combine, fromCell<T>(old), a, b)))) {
    }
    if (i.results)
      w.cells<T>(i.operands[0])[l] = old;
  }
}

Handler atomicHandler(const Instruction &i) {
  bool arithmetic = i.combine <= Combine::Max,
       counting = i.combine == Combine::Inc || i.combine == Combine::Dec;
  bool bits = i.combine >= Combine::And;
  if (i.space != Space::Shared && i.space != Space::Global && i.space != Space::Generic)
    return nullptr;
  switch (i.type) {
  case Type::U32:
    return arithmetic || counting ? atomic<uint32_t> : nullptr;
  case Type::S32:
    return arithmetic ? atomic<int32_t> : nullptr;
  case Type::U64:
    return arithmetic ? atomic<uint64_t> : nullptr;
  case Type::S64:
    return i.combine == Combine::Min || i.combine == Combine::Max ? atomic<int64_t> : nullptr;
  case Type::F32:
    return i.combine == Combine::Add ? atomic<float> : nullptr;
  case Type::F64:
    return i.combine == Combine::Add ? atomic<double> : nullptr;
  case Type::B32:
    return bits ? atomic<uint32_t> : nullptr;
  case Type::B64:
    return bits ? atomic<uint64_t> : nullptr;
  default:
    return nullptr;
  }
}

/// Shared, local and parameter addresses are offsets; their generic ones lie in a window.
void cvta(Warp &w, const Instruction &i, uint32_t mask) {
  uint64_t window = i.space == Space::Shared  ? kSharedWindow
                    : i.space == Space::Local ? kLocalWindow
                    : i.space == Space::Param ? kParameterWindow
                                              : 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    uint64_t a = w.raw(i.operands[1], l);
    if (window && i.to && (a & ~kWindowMask) != window)
      w.block.raise(w, i, FaultKind::OutOfBounds, l, a,
                    "expected an address in " + std::string(spaceName(i.space)) + " memory, but got " +
                        hexadecimal(a));
    w.setRaw(i.operands[0], l, i.to && window ? a & kWindowMask : a | window);
  }
}

void cpAsync(Warp &w, const Instruction &i, uint32_t mask) {
  Block &block = w.block;
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
        block.raise(w, i, FaultKind::OutOfBounds, l, from,
                    "expected a source of at most " + std::to_string(i.count) + " bytes, but got " +
                        std::to_string(bytes));
    }
    addresses[l] = to;
    w.copies.issue(w, i, l, to, from, bytes);
  }
  block.countConflicts(addresses, mask, unsigned(i.count));
}

void cpAsyncArrive(Warp &w, const Instruction &i, uint32_t mask) {
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    w.copies.arriveAfter(w, i, l, w.block.mbarriers.find(w, i, l, i.operands[0], i.offset, false));
  }
}

} // namespace

Handler memoryHandler(const Instruction &i) {
  switch (i.op) {
  case Op::Ld:
    return access<false>;
  case Op::St:
    return access<true>;
  case Op::Atom:
  case Op::Red:
    return atomicHandler(i);
  case Op::Cvta:
    return cvta;
  case Op::CpAsync:
    return cpAsync;
  case Op::CpAsyncArrive:
    return cpAsyncArrive;
  case Op::CpAsyncCommit:
    return [](Warp &w, const Instruction &, uint32_t mask) { w.copies.commit(mask); };
  case Op::GridWait: // the kernel before has ended long ago
    return [](Warp &w, const Instruction &, uint32_t mask) { w.hasPrevious |= mask; };
  case Op::CpAsyncWait:
    return [](Warp &w, const Instruction &i, uint32_t mask) {
      w.copies.wait(w, mask, uint64_t(i.count), i.all);
    };
  default:
    return nullptr;
  }
}

} // namespace taylor::runtime::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores and atomics in all state spaces (PTX ISA, "Data Movement and Conversion", "Parallel
// Synchronization").
#include "runtime/ptx/Block.h"
#include "runtime/ptx/Handlers.h"
#include "runtime/ptx/Report.h"
#include <atomic>

namespace taylor::runtime::ptx {
namespace {

/// A register's bits after loading a value of a narrower type: sign or zeros above.
uint64_t extended(Type t, uint64_t bits) {
  unsigned width = 8 * bytesOf(t);
  return isSigned(t) ? uint64_t(int64_t(bits << (64 - width)) >> (64 - width)) : bits;
}

/// Loads and stores; the operands are results then base, or base then values.
template <bool write> void access(Warp &w, const Instruction &i, uint32_t mask) {
  BlockMemory &memory = w.block.memory;
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
    std::byte *data = memory.locate(w, i, l, space, address, bytes, write);
    if (space == Space::Shared) {
      memory.checkShared(w, i, l, address, bytes, write);
      addresses[l] = address;
      inShared |= 1u << l;
    }
    memory.countBytes(space, write, bytes);
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
    memory.countConflicts(addresses, inShared, bytes);
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
  BlockMemory &memory = w.block.memory;
  const Operand *source = &i.operands[i.results];
  for (uint32_t m = mask; m; m &= m - 1) {
    unsigned l = firstLane(m);
    Space space = i.space;
    uint64_t address = w.raw(source[0], l) + uint64_t(i.offset);
    if (bytesOf(source[0].type) == 4)
      address = uint32_t(address);
    std::byte *data = memory.locate(w, i, l, space, address, sizeof(T), true);
    if (space == Space::Shared) {
      memory.checkShared(w, i, l, address, sizeof(T), false);
      memory.checkShared(w, i, l, address, sizeof(T), true);
    }
    memory.countBytes(space, false, sizeof(T));
    memory.countBytes(space, true, sizeof(T));
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
      raise(w, i, FaultKind::OutOfBounds, l, a,
            "expected an address in " + std::string(spaceName(i.space)) + " memory, but got " +
                hexadecimal(a));
    w.setRaw(i.operands[0], l, i.to && window ? a & kWindowMask : a | window);
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
  case Op::GridWait: // the kernel before has ended long ago
    return [](Warp &w, const Instruction &, uint32_t mask) { w.hasPrevious |= mask; };
  default:
    return nullptr;
  }
}

} // namespace taylor::runtime::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A warp: registers as [register][lane], where its lanes stand, how they part, wait and gather, and the work
// of theirs that is under way.
#ifndef TAYLOR_RUNTIME_PTX_WARP_H
#define TAYLOR_RUNTIME_PTX_WARP_H
#include "runtime/ptx/AsyncCopy.h"
#include "runtime/ptx/Products.h"
#include "runtime/ptx/Proxies.h"
#include "runtime/ptx/Scalar.h"
#include "runtime/ptx/Shadow.h"
#include <bit>
#include <cstring>

namespace taylor::runtime::ptx {

class Block;

/// How a type lies in a lane: 64 bits for 64-bit types, else 32 bits with zeros above.
template <typename T> using Cell = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <typename T> T fromCell(Cell<T> c) {
  if constexpr (std::is_integral_v<T>)
    return T(c);
  else if constexpr (sizeof(T) == 2)
    return T{uint16_t(c)};
  else
    return std::bit_cast<T>(c);
}
template <typename T> Cell<T> toCell(T x) {
  if constexpr (std::is_integral_v<T>)
    return Cell<T>(std::make_unsigned_t<T>(x));
  else if constexpr (sizeof(T) == 2)
    return x.bits;
  else
    return std::bit_cast<Cell<T>>(x);
}

/// Registers that others release, as something that lanes wait for; all others are addresses of mbarriers.
constexpr uint64_t kRegisterEvent = ~uint64_t(0);

struct Warp {
  Warp(Block &block, unsigned index, const Kernel &kernel);
  /// As it is before the first instruction of a block: constants and special registers have their values.
  void reset();

  /// The 32 lanes of an operand.
  template <typename T> Cell<T> *cells(const Operand &o) {
    return reinterpret_cast<Cell<T> *>(registers + o.at);
  }
  /// The value of an operand in a lane.
  template <typename T> T get(const Operand &o, unsigned lane) { return fromCell<T>(cells<T>(o)[lane]); }
  /// The bits of an operand of any width.
  uint64_t raw(const Operand &o, unsigned lane) {
    return bytesOf(o.type) == 8 ? cells<uint64_t>(o)[lane] : cells<uint32_t>(o)[lane];
  }
  /// Sets them.
  void setRaw(const Operand &o, unsigned lane, uint64_t bits) {
    if (bytesOf(o.type) == 8)
      cells<uint64_t>(o)[lane] = bits;
    else
      cells<uint32_t>(o)[lane] = uint32_t(bits);
  }
  /// Lanes in which a predicate is true.
  uint32_t predicate(const Operand &o) const { return o.negated ? ~masks[o.at] : masks[o.at]; }
  /// Sets it in the lanes of the mask.
  void setPredicate(const Operand &o, uint32_t mask, uint32_t values) {
    masks[o.at] = (masks[o.at] & ~mask) | (values & mask);
  }
  /// The number of a lane's thread in the block.
  unsigned threadOf(unsigned lane) const { return 32 * index + lane; }
  /// An access to shared memory, as its shadow judges it.
  Shadow::Access accessOf(const Instruction &i, unsigned lane) const {
    return {index, threadOf(lane), i.line, order, i.strong};
  }

  /// A barrier of the warp or of the block orders what these lanes did before (PTX ISA, "bar.warp.sync").
  void orderLanes(uint32_t lanes) {
    if (!(accessed &= ~lanes))
      synced = order.clockOf(index);
  }

  /// Picks the lanes with the least position among those that can run; false if there are none.
  bool regroup();
  /// Lanes that wait for nothing.
  uint32_t runnable() const { return live & ~atBarrier & ~atSync & ~atEvent; }
  /// Remembers where the active lanes stand; the next step chooses anew.
  void park();
  /// bra, brx: the lanes go to their targets, the other active ones on.
  void branch(const Instruction &, uint32_t mask);
  /// An instruction with a member mask, its last operand, waits until all its lanes have come; false if it
  /// waits.
  bool gather(const Instruction &, uint32_t mask);
  /// The lanes stay at their instruction until others of their warp come; the other active ones go on.
  void waitForLanes(uint32_t mask);
  /// The lanes go on after their instruction when `leaveBarrier` says so.
  void waitForBarrier(uint32_t mask, uint8_t number);
  /// The lanes that wait for this barrier may go on; false if there are none.
  bool leaveBarrier(uint8_t number);
  /// The lanes stay at their instruction until `wake`; the other active ones go on, and all do if none waits.
  void waitForEvents(uint32_t mask, const std::array<uint64_t, 32> &events);
  /// The lanes that wait for this event execute their instruction again.
  void wake(uint64_t event);

  Block &block;
  unsigned index;
  std::vector<uint64_t> storage; ///< of registers
  std::byte *registers;
  std::vector<uint32_t> masks; ///< predicates: one bit per lane
  std::vector<uint32_t> valid; ///< per register: lanes that have written it
  uint32_t exists = 0;         ///< lanes that belong to a thread
  uint32_t live = 0;           ///< that have not exited
  uint32_t atBarrier = 0;      ///< that wait for a barrier of the block
  uint32_t atSync = 0;         ///< that wait for other lanes of their warp
  uint32_t atEvent = 0;        ///< that wait for `event`
  uint32_t hasPrevious = 0;    ///< that have executed griddepcontrol.wait
  uint32_t active = 0;         ///< that execute the current instruction, before its guard
  uint32_t pc = 0;             ///< of the active lanes
  uint32_t limit = 0;          ///< the least position of the others
  bool isResumed = false;      ///< executes setmaxnreg again, for which it had to wait
  std::array<uint32_t, 32> pcs{};
  std::array<uint8_t, 32> barrier{}; ///< on which a lane of atBarrier waits
  /// On which a lane of atEvent waits: an mbarrier's address, or kRegisterEvent.
  std::array<uint64_t, 32> event{};
  Order order; ///< what it knows of the block's other warps
  /// Lanes whose accesses of shared memory since stretch `synced` no barrier has ordered with the others'.
  uint32_t accessed = 0;
  uint32_t synced = 0;
  AsyncCopies copies;
  Products products;
  std::vector<std::byte> local; ///< local memory, thread by thread

private:
  void fill();
  void stay(uint32_t mask);
};

/// The number of the least lane of a mask, which must have one.
inline unsigned firstLane(uint32_t mask) { return unsigned(std::countr_zero(mask)); }

/// The lanes of a mask that have this value.
template <typename T> uint32_t lanesWith(uint32_t mask, const std::array<T, 32> &values, T value) {
  uint32_t found = 0;
  for (uint32_t m = mask; m; m &= m - 1)
    if (values[firstLane(m)] == value)
      found |= m & -m;
  return found;
}

/// d[l] = f(sources[l]...) for the lanes of the mask. F has no state; R and S are the types of result and
/// sources.
template <typename F, typename R, typename... S> struct Lanes {
  static void run(Warp &w, const Instruction &i, uint32_t mask) {
    go(w, i, mask, std::index_sequence_for<S...>());
  }

private:
  template <size_t... k>
  static void go(Warp &w, const Instruction &i, uint32_t mask, std::index_sequence<k...>) {
    Cell<R> *d = w.cells<R>(i.operands[0]);
    auto sources = std::make_tuple(w.cells<S>(i.operands[1 + k])...);
    if (mask == ~0u) {
      for (unsigned l = 0; l < 32; ++l)
        d[l] = toCell<R>(F()(i, fromCell<S>(std::get<k>(sources)[l])...));
    } else {
      for (unsigned l = 0; l < 32; ++l)
        if (mask >> l & 1)
          d[l] = toCell<R>(F()(i, fromCell<S>(std::get<k>(sources)[l])...));
    }
  }
};
template <typename R, typename... S, typename F> Handler lanes(F) { return Lanes<F, R, S...>::run; }

/// A tag to choose a type at run time.
template <typename T> struct Tag {
  using type = T;
};

} // namespace taylor::runtime::ptx

#endif

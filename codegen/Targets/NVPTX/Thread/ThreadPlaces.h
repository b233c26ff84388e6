// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which thread the code is for, and where code stands that runs once.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_THREADPLACES_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_THREADPLACES_H

#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "codegen/Targets/NVPTX/Thread/Code.h"

namespace mlir::simt {

/// What a thread's number adds to a place, an i32.
struct ThreadOffset {
  Value value;
  int64_t bits = -1;   ///< bits of the value that may be set, where each comes from one bit of the thread's
                       ///< number; -1: not known
  int64_t divisor = 0; ///< divides the value; 0: the value is 0
};

/// Knows a thread's number among those that compute the same tiles, and the ends of what is computed once: at
/// the kernel's or the role's start, and after loops. Everything that emits code does so through it.
class ThreadPlaces {
public:
  /// Threads that compute the same tiles: those of a block, or of one of its roles.
  struct Team {
    Value thread;         ///< i32, a thread's number
    int64_t numWarps = 1; ///< that share a tile
    Value member;         ///< i32, of the consumers; null outside of them
  };

  /// `scalars`: of the kernel, by the program's value; they come to be while it is emitted.
  ThreadPlaces(tile::KernelOp kernel, OpBuilder &builder, const DenseMap<Value, Value> &scalars);
  ThreadPlaces(const ThreadPlaces &) = delete;

  Code at(Operation *op) { return Code(builder, op->getLoc()); }
  Code at(Location loc) { return Code(builder, loc); }
  /// What a scalar of the program is: an index has 64 bits.
  Value scalar(Value value) const { return scalars.lookup(value); }

  // The thread
  /// At the function's begin: reads the thread's number, and where the block's shared memory begins.
  void readThread(LLVM::GlobalOp shared);
  Value thread() const { return team.thread; }
  int64_t numWarps() const { return team.numWarps; }
  Value sharedBase() const { return base; }
  /// Waits for all threads of the block, or of the member.
  void emitBarrier(Location loc);
  /// The thread's place along an axis, by the digits of its number.
  ThreadOffset placeOf(ArrayRef<Digit> lanes, ArrayRef<Digit> warps, StringRef axis);
  ThreadOffset placeOf(LayoutAttr layout, StringRef axis) {
    return placeOf(layout.getLanes(), layout.getWarps(), axis);
  }
  /// Whether the thread is the one of its copies that writes; null: all are.
  Value isWriter(LayoutAttr layout);

  // What is computed once
  /// What holds for the whole kernel is computed before the builder's place; its code follows.
  void endStart();
  /// After all code of the kernel.
  void eraseMarks();
  /// Emits the code of a role at the builder's place, with a start of its own: what a role computes once
  /// takes no register of the other.
  LogicalResult emitRole(Team role, function_ref<LogicalResult()> emit);
  /// Runs `emit` where values of the whole kernel are computed.
  template <typename F> auto atStart(F emit) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(startEnd);
    return emit();
  }
  /// The same, but after the last loop before here, if here is in no loop: what only a kernel's last part
  /// needs takes no register before.
  template <typename F> auto atStartOfPart(F emit) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(getEndOfStart());
    return emit();
  }

  tile::KernelOp kernel;
  OpBuilder &builder;

private:
  /// The end of what is computed once after the loop that runs before what is emitted here; `startEnd` if
  /// there is none, or here is in a loop.
  Operation *getEndOfStart();

  const DenseMap<Value, Value> &scalars;
  Team team;
  Value base;
  Operation *startEnd = nullptr;
  DenseMap<Operation *, Operation *> startEnds; ///< of the parts after loops
};

} // namespace mlir::simt
#endif

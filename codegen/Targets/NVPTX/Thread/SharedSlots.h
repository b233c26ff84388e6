// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where buffers are in shared memory.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_SHAREDSLOTS_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_SHAREDSLOTS_H

#include "codegen/Targets/NVPTX/Thread/ThreadPlaces.h"

namespace mlir::simt {

/// A shared-memory slot: bytes from the start of shared memory.
struct SharedSlot {
  BufferType type;
  Value bytes; ///< i32
};

/// Knows the place of each buffer, slot and part of a slot of the program.
class SharedSlots {
public:
  explicit SharedSlots(ThreadPlaces &places) : places(places) {}

  SharedSlot slotOf(Value buffer) const { return slots.lookup(buffer); }
  LogicalResult emitAlloc(AllocOp op);
  void emitSlot(SlotOp op);
  void emitPart(PartOp op);
  /// The slot of a ring that a use has from here on; `number` is an i32.
  void setUse(Value use, RingOp ring, Value number);
  /// In a member's code: its buffers are `apart` bytes from those of the member before it.
  void moveToMember(Value member, int64_t apart, Location loc);

private:
  ThreadPlaces &places;
  DenseMap<Value, SharedSlot> slots;
};

} // namespace mlir::simt
#endif

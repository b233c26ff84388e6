// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/SharedSlots.h"

using namespace mlir;
using namespace mlir::simt;

LogicalResult SharedSlots::emitAlloc(AllocOp op) {
  if (!op.getOffset())
    return op.emitOpError("requires a place in shared memory; run taylor-simt-allocate-shared before");
  slots[op] = {op.getType(), places.at(op).i32(*op.getOffset())};
  return success();
}

void SharedSlots::emitSlot(SlotOp op) {
  Code code = places.at(op);
  SharedSlot whole = slotOf(op.getBuffer());
  Value index = code.narrow(places.scalar(op.getIndex()));
  slots[op] = {op.getType(), code.add(whole.bytes, code.mul(index, whole.type.getSlotBytes()))};
}

void SharedSlots::emitPart(PartOp op) {
  SharedSlot whole = slotOf(op.getBuffer());
  // In a swizzled buffer, those of one panel.
  int64_t bytes = whole.type.getElementBytes(), row = whole.type.getRow().getSize();
  int64_t rowBytes = whole.type.getSwizzle()            ? whole.type.getSwizzle()
                     : whole.type.getAxes().size() == 1 ? bytes
                                                        : row * bytes;
  slots[op] = {op.getType(), places.at(op).add(whole.bytes, int64_t(op.getFrom()) * rowBytes)};
}

void SharedSlots::setUse(Value use, RingOp ring, Value number) {
  Code code = places.at(use.getLoc());
  BufferType buffer = ring.getType().getBuffer();
  slots[use] = {buffer.getSlot(),
                code.add(code.i32(*ring.getOffset()), code.mul(number, buffer.getSlotBytes()))};
}

void SharedSlots::moveToMember(Value member, int64_t apart, Location loc) {
  Code code = places.at(loc);
  for (auto alloc : places.kernel.getBlock()->getOps<AllocOp>()) {
    SharedSlot &slot = slots[alloc];
    slot.bytes = code.add(slot.bytes, code.mul(member, apart));
  }
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses of a ring: waits and signals as mbarriers, and copies that signal (PTX ISA, "mbarrier",
// "cp.async.bulk.tensor"). The instructions are text, since MLIR's ops for them are such too.
#include "codegen/NVPTX/Thread/KernelEmitter.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace mlir::simt;

/// A warp's lanes, as a mask.
static constexpr int64_t kAllLanes = -1;

/// Address of a signal, an i32: of a slot, whether it is full or whether it is empty.
Value KernelEmitter::signalOf(RingOp ring, Value slot, bool isEmpty) {
  Code code(builder, ring.getLoc());
  Value base = LLVM::PtrToIntOp::create(builder, ring.getLoc(), builder.getI32Type(), sharedBase);
  int64_t place = int64_t(*ring.getSignals()) + (isEmpty ? RingType::kSignalBytes / 2 : 0);
  return code.add(code.add(base, place), code.mul(slot, RingType::kSignalBytes));
}

/// Until the phase of this parity is complete. A thread that waits is set aside for a while.
void KernelEmitter::waitForSignal(Location loc, Value signal, Value parity) {
  at(loc).assembly("{\n.reg .pred P1;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 P1, [$0], $1;\n"
                   "@P1 bra DONE;\nbra WAIT;\nDONE:\n}",
                   "r,r,~{memory}", {}, {signal, parity});
}

/// The slot and the phase of a use; the first use finds all slots empty.
LogicalResult KernelEmitter::emitUse(Operation *op, Value ring, Value number) {
  Code code = at(op);
  auto type = cast<RingType>(ring.getType());
  auto made = ring.getDefiningOp<RingOp>();
  int64_t count = type.getBuffer().getSlots();
  bool isProducer = isa<AcquireOp>(op);
  Value n = code.narrow(scalar(number));
  Value slot = code.rest(n, code.i32(count)),
        phase = code.bitAnd(code.divide(n, code.i32(count)), code.i32(1));
  if (isProducer)
    phase = code.bitXor(phase, code.i32(1));
  slots[op->getResult(0)] = {
      type.getBuffer().getSlot(),
      code.add(code.i32(*made.getOffset()), code.mul(slot, type.getBuffer().getSlotBytes()))};
  waitForSignal(op->getLoc(), signalOf(made, slot, isProducer), phase);
  return success();
}

Value KernelEmitter::isElected(Location loc) {
  return NVVM::ElectSyncOp::create(builder, loc, builder.getI1Type(), Value());
}

/// Whether started products read the ring, by the asynchronous proxy.
bool KernelEmitter::isReadByProducts(Value ring) {
  return llvm::any_of(ring.getUsers(), [](Operation *user) {
    return isa<WaitFullOp>(user) && llvm::any_of(user->getUsers(), llvm::IsaPred<StartOp>);
  });
}

/// Whether what the copy is of is not cut by its `until` within the array; null: it has none.
Value KernelEmitter::isWhole(CopyOp op) {
  if (!op.getEnd())
    return {};
  Code code = at(op);
  BufferType buffer = op.getBuffer().getType();
  auto tile = tile::TileType::get(builder.getContext(), buffer.getAxes(), buffer.getElementType());
  tile::ArrayType type = op.getArray().getType();
  Value whole;
  for (auto [i, axis] :
       llvm::enumerate(tile::getWindow(type, tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets()))) {
    if (type.getAxes()[i].name != op.getEndAxisAttr())
      continue;
    Value first = axis.offset ? code.narrow(scalar(axis.offset)) : code.i32(0);
    Value last = code.add(first, axis.size - 1), size = code.narrow(arrays[op.getArray()].sizes[i]);
    last = arith::MinSIOp::create(builder, op.getLoc(), last, code.sub(size, code.i32(1)));
    whole = code.both(whole, code.less(last, code.narrow(scalar(op.getEnd()))));
  }
  return whole;
}

/// One thread starts the copy, a box for each panel of the slot.
void KernelEmitter::emitBoxes(CopyOp op, const Box &box, Value full) {
  Code code = at(op);
  OpBuilder::InsertionGuard guard(builder);
  auto branch = scf::IfOp::create(builder, op.getLoc(), isElected(op.getLoc()), /*withElseRegion=*/false);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  Slot slot = slotOf(op.getBuffer());
  code.assembly("mbarrier.arrive.expect_tx.shared.b64 _, [$0], $1;", "r,r,~{memory}", {},
                {full, code.i32(slot.type.getSlotBytes())});
  auto found = llvm::find_if(boxes, [&](auto &entry) { return entry.first == box; });
  Value map = LLVM::PtrToIntOp::create(builder, op.getLoc(), builder.getI64Type(), found->second);
  Value base = LLVM::PtrToIntOp::create(builder, op.getLoc(), builder.getI32Type(), sharedBase);
  auto tile = tile::TileType::get(builder.getContext(), slot.type.getAxes(), slot.type.getElementType());
  auto window =
      tile::getWindow(op.getArray().getType(), tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets());
  SmallVector<Value> places; // the contiguous axis first
  for (const tile::WindowAxis &axis : llvm::reverse(window))
    places.push_back(axis.offset ? code.narrow(scalar(axis.offset)) : code.i32(0));
  std::string list, constraints = "r,l,r";
  for (size_t i = 0; i < places.size(); ++i) {
    list += (i ? ", $" : "$") + std::to_string(i + 3);
    constraints += ",r";
  }
  std::string text = "cp.async.bulk.tensor." + std::to_string(places.size()) +
                     "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {" + list +
                     "}], [$2];";
  int64_t panel = box.sizes.back(), panelBytes = slot.type.getNumRows() * slot.type.getSwizzle();
  for (int64_t i = 0; i * panel < slot.type.getRow().getSize(); ++i) {
    places.front() = code.i32(i * panel);
    SmallVector<Value> operands = {code.add(code.add(base, slot.bytes), i * panelBytes), map, full};
    llvm::append_range(operands, places);
    code.assembly(text, constraints + ",~{memory}", {}, operands);
  }
}

/// The warp copies by pieces. Where threads read them, they arrive when they have come, and the warp goes on;
/// where products do, it waits for them, since a fence must stand between.
LogicalResult KernelEmitter::emitPiecesOfUse(CopyOp op, Value full) {
  Code code = at(op);
  if (failed(emitPieces(op)))
    return failure();
  if (isReadByProducts(op.getRing())) {
    NVVM::CpAsyncCommitGroupOp::create(builder, op.getLoc());
    NVVM::CpAsyncWaitGroupOp::create(builder, op.getLoc(), 0u);
    code.assembly("fence.proxy.async.shared::cta;", "~{memory}", {}, {});
  } else {
    // One arrival more is expected from each lane, so that the last one below does not end the phase alone.
    code.assembly("cp.async.mbarrier.arrive.shared.b64 [$0];", "r,~{memory}", {}, {full});
  }
  NVVM::SyncWarpOp::create(builder, op.getLoc(), code.i32(kAllLanes));
  code.assembly("@$1 mbarrier.arrive.shared.b64 _, [$0];", "r,b,~{memory}", {},
                {full, code.lessUnsigned(thread, code.i32(1))});
  return success();
}

LogicalResult KernelEmitter::emitFill(CopyOp op) {
  Code code = at(op);
  auto ring = op.getRing().getDefiningOp<RingOp>();
  int64_t count = ring.getType().getBuffer().getSlots();
  Value full = signalOf(ring, code.rest(code.narrow(scalar(op.getNumber())), code.i32(count)), false);
  std::optional<Box> box = op.getBulk() ? getBox(op) : std::nullopt;
  if (!box)
    return emitPiecesOfUse(op, full);
  Value whole = isWhole(op);
  if (!whole) {
    emitBoxes(op, *box, full);
    return success();
  }
  auto branch = scf::IfOp::create(builder, op.getLoc(), whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  emitBoxes(op, *box, full);
  // Rarely: what pieces need is computed here, from a number that is known only here, and not at the start,
  // from where it would take the producer's few registers.
  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  llvm::SaveAndRestore ofHere(
      thread, code.assembly("mov.b32 $0, $1;", "=r,r,~{memory}", {builder.getI32Type()}, {thread}).front());
  llvm::SaveAndRestore start(startEnd, code.i32(0).getDefiningOp());
  builder.setInsertionPointAfter(startEnd);
  LogicalResult result = emitPiecesOfUse(op, full);
  startEnd->erase();
  return result;
}

/// One thread of each warp, which has waited for the warp's own part of all products.
void KernelEmitter::emitRelease(ReleaseOp op) {
  Code code = at(op);
  auto ring = op.getRing().getDefiningOp<RingOp>();
  int64_t count = ring.getType().getBuffer().getSlots();
  Value slot = code.rest(code.narrow(scalar(op.getNumber())), code.i32(count));
  Value isFirst = atStart([&] { return code.lessUnsigned(code.bitAnd(thread, code.i32(31)), code.i32(1)); });
  if (!isReadByProducts(op.getRing())) // lanes read by themselves
    NVVM::SyncWarpOp::create(builder, op.getLoc(), code.i32(kAllLanes));
  code.assembly("@$1 mbarrier.arrive.shared.b64 _, [$0];", "r,b,~{memory}", {},
                {signalOf(ring, slot, true), isFirst});
}

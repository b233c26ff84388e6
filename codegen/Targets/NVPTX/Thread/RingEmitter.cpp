// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The copies' instructions are text, since MLIR's ops for them are such too.
#include "codegen/Targets/NVPTX/Thread/RingEmitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::simt;

/// A warp's lanes, and as a mask.
static constexpr int64_t kWarp = 32, kAllLanes = -1;

/// The slot and the phase of a use; the first use finds all slots empty.
void RingEmitter::emitUse(Operation *op, Value ring, Value number) {
  Code code = places.at(op);
  auto type = cast<RingType>(ring.getType());
  auto made = ring.getDefiningOp<RingOp>();
  int64_t count = type.getBuffer().getSlots();
  bool isProducer = isa<AcquireOp>(op);
  Value n = code.narrow(places.scalar(number));
  Value slot = code.rest(n, code.i32(count)),
        phase = code.bitAnd(code.divide(n, code.i32(count)), code.i32(1));
  if (isProducer)
    phase = code.bitXor(phase, code.i32(1));
  slots.setUse(op->getResult(0), made, slot);
  signals.wait(op->getLoc(), signals.signalOf(made, slot, isProducer), phase);
}

static Value isElected(Code code) {
  return NVVM::ElectSyncOp::create(code.builder, code.loc, code.builder.getI1Type(), Value());
}

/// Whether started products read the ring, by the asynchronous proxy.
static bool isReadByProducts(Value ring) {
  return llvm::any_of(ring.getUsers(), [](Operation *user) {
    return isa<WaitFullOp>(user) && llvm::any_of(user->getUsers(), llvm::IsaPred<StartOp>);
  });
}

/// Whether what the copy is of is not cut by its `until` within the array; null: it has none.
Value RingEmitter::isWhole(CopyOp op) {
  if (!op.getEnd())
    return {};
  Code code = places.at(op);
  BufferType buffer = op.getBuffer().getType();
  auto tile = tile::TileType::get(code.builder.getContext(), buffer.getAxes(), buffer.getElementType());
  tile::ArrayType type = op.getArray().getType();
  Value whole;
  for (auto [i, axis] :
       llvm::enumerate(tile::getWindow(type, tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets()))) {
    if (type.getAxes()[i].name != op.getEndAxisAttr())
      continue;
    Value first = axis.offset ? code.narrow(places.scalar(axis.offset)) : code.i32(0);
    Value last = code.add(first, axis.size - 1), size = code.narrow(windows.valuesOf(op.getArray()).sizes[i]);
    last = arith::MinSIOp::create(code.builder, op.getLoc(), last, code.sub(size, code.i32(1)));
    whole = code.both(whole, code.less(last, code.narrow(places.scalar(op.getEnd()))));
  }
  return whole;
}

/// How many rows of the slot are before the copy's `until`.
Value RingEmitter::countRows(CopyOp op) {
  Code code = places.at(op);
  Value rows = code.narrow(places.scalar(op.getEnd()));
  for (auto [axis, offset] : llvm::zip(op.getArrayAxes().getAsRange<StringAttr>(), op.getOffsets()))
    if (axis == op.getEndAxisAttr())
      rows = code.sub(rows, code.narrow(places.scalar(offset)));
  return arith::MaxSIOp::create(code.builder, op.getLoc(), rows, code.i32(0));
}

/// One thread starts the copy, a box for each panel of the slot. `signal` counts its bytes.
void RingEmitter::emitBoxes(CopyOp op, const Box &box, Value signal) {
  Code code = places.at(op);
  OpBuilder::InsertionGuard guard(code.builder);
  auto branch = scf::IfOp::create(code.builder, op.getLoc(), isElected(code), /*withElseRegion=*/false);
  code.builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  SharedSlot slot = slots.slotOf(op.getBuffer());
  signals.arriveBefore(op.getLoc(), signal, slot.type.getSlotBytes());
  auto found = llvm::find_if(maps, [&](auto &entry) { return entry.first == box; });
  Value map = LLVM::PtrToIntOp::create(code.builder, op.getLoc(), code.builder.getI64Type(), found->second);
  Value base =
      LLVM::PtrToIntOp::create(code.builder, op.getLoc(), code.builder.getI32Type(), places.sharedBase());
  auto tile = tile::TileType::get(code.builder.getContext(), slot.type.getAxes(), slot.type.getElementType());
  auto window =
      tile::getWindow(op.getArray().getType(), tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets());
  SmallVector<Value> corner; // the contiguous axis first
  for (const tile::WindowAxis &axis : llvm::reverse(window))
    corner.push_back(axis.offset ? code.narrow(places.scalar(axis.offset)) : code.i32(0));
  std::string list, constraints = "r,l,r";
  for (size_t i = 0; i < corner.size(); ++i) {
    list += (i ? ", $" : "$") + std::to_string(i + 3);
    constraints += ",r";
  }
  std::string text = "cp.async.bulk.tensor." + std::to_string(corner.size()) +
                     "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [$0], [$1, {" + list +
                     "}], [$2];";
  int64_t panel = box.sizes.back(), panelBytes = slot.type.getNumRows() * slot.type.getSwizzle();
  for (int64_t i = 0; i * panel < slot.type.getRow().getSize(); ++i) {
    corner.front() = code.i32(i * panel);
    SmallVector<Value> operands = {code.add(code.add(base, slot.bytes), i * panelBytes), map, signal};
    llvm::append_range(operands, corner);
    code.assembly(text, constraints + ",~{memory}", {}, operands);
  }
}

/// The warp writes zeros to all rows of the slot from `first` on.
void RingEmitter::emitZeros(CopyOp op, Value first) {
  constexpr int64_t kPiece = 16;
  Code code = places.at(op);
  SharedSlot slot = slots.slotOf(op.getBuffer());
  int64_t rowBytes = slot.type.getSwizzle(), numRows = slot.type.getNumRows();
  int64_t lanesOfRow = rowBytes / kPiece, rowsAtOnce = kWarp / lanesOfRow;
  auto loop = scf::ForOp::create(code.builder, op.getLoc(), first, code.i32(numRows), code.i32(rowsAtOnce));
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPoint(loop.getBody()->getTerminator());
  // A swizzle changes places within rows.
  Value row = code.add(loop.getInductionVar(), code.divide(places.thread(), code.i32(lanesOfRow)));
  Value place =
      code.add(slot.bytes, code.add(code.mul(row, rowBytes),
                                    code.mul(code.rest(places.thread(), code.i32(lanesOfRow)), kPiece)));
  SmallVector<Value> zeros(4, code.i32(0));
  for (int64_t begin = 0; begin < slot.type.getSlotBytes(); begin += numRows * rowBytes)
    code.store(zeros, code.offset(places.sharedBase(), code.add(place, begin)), AddressSpace::shared, {32, 4},
               code.less(row, code.i32(numRows)));
}

/// A tile that `until` cuts within the array: the warp waits for its boxes, and writes zeros where they have
/// brought what is not to be read.
void RingEmitter::emitCutBoxes(CopyOp op, const Box &box, Value full) {
  Code code = places.at(op);
  auto ring = op.getRing().getDefiningOp<RingOp>();
  auto syncWarp = [&] { NVVM::SyncWarpOp::create(code.builder, op.getLoc(), code.i32(kAllLanes)); };
  // No one counts the phases of the producer's own signal.
  Value own = signals.ownSignalOf(ring);
  Value phase = signals.phaseOf(op.getLoc(), own);
  syncWarp();
  emitBoxes(op, box, own);
  signals.wait(op.getLoc(), own, phase);
  emitZeros(op, countRows(op));
  code.assembly("fence.proxy.async.shared::cta;", "~{memory}", {}, {});
  syncWarp();
  arriveOnce(op.getLoc(), full);
}

/// The warp's first lane.
void RingEmitter::arriveOnce(Location loc, Value signal) {
  Code code = places.at(loc);
  signals.arrive(loc, signal, code.lessUnsigned(places.thread(), code.i32(1)));
}

/// The warp copies by pieces. Where threads read them, they arrive when they have come, and the warp goes on;
/// where products do, it waits for them, since a fence must stand between.
void RingEmitter::emitPiecesOfUse(CopyOp op, Value full) {
  Code code = places.at(op);
  copier.emitPieces(op);
  if (isReadByProducts(op.getRing())) {
    NVVM::CpAsyncCommitGroupOp::create(code.builder, op.getLoc());
    NVVM::CpAsyncWaitGroupOp::create(code.builder, op.getLoc(), 0u);
    code.assembly("fence.proxy.async.shared::cta;", "~{memory}", {}, {});
  } else {
    // One arrival more is expected from each lane, so that the last one below does not end the phase alone.
    signals.arriveAfterCopies(op.getLoc(), full);
  }
  NVVM::SyncWarpOp::create(code.builder, op.getLoc(), code.i32(kAllLanes));
  arriveOnce(op.getLoc(), full);
}

void RingEmitter::emitFill(CopyOp op) {
  Code code = places.at(op);
  auto ring = op.getRing().getDefiningOp<RingOp>();
  int64_t count = ring.getType().getBuffer().getSlots();
  Value full =
      signals.signalOf(ring, code.rest(code.narrow(places.scalar(op.getNumber())), code.i32(count)), false);
  std::optional<Box> box = op.getBulk() ? getBox(op) : std::nullopt;
  if (!box)
    return emitPiecesOfUse(op, full);
  Value whole = isWhole(op);
  if (!whole) {
    emitBoxes(op, *box, full);
    return;
  }
  auto branch = scf::IfOp::create(code.builder, op.getLoc(), whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  emitBoxes(op, *box, full);
  code.builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  emitCutBoxes(op, *box, full);
}

/// One thread of each warp, which has waited for the warp's own part of all products.
void RingEmitter::emitRelease(ReleaseOp op) {
  Code code = places.at(op);
  auto ring = op.getRing().getDefiningOp<RingOp>();
  int64_t count = ring.getType().getBuffer().getSlots();
  Value slot = code.rest(code.narrow(places.scalar(op.getNumber())), code.i32(count));
  Value isFirst = places.atStart(
      [&] { return code.lessUnsigned(code.bitAnd(places.thread(), code.i32(31)), code.i32(1)); });
  if (!isReadByProducts(op.getRing())) // lanes read by themselves
    NVVM::SyncWarpOp::create(code.builder, op.getLoc(), code.i32(kAllLanes));
  signals.arrive(op.getLoc(), signals.signalOf(ring, slot, true), isFirst);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each operation of a kernel becomes. All threads of a block take the same way: scalars are uniform.
#include "codegen/Targets/NVPTX/Contract.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "codegen/Targets/NVPTX/Thread/ThreadEmitter.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

LogicalResult ThreadEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(emitOp(&op)))
      return failure();
  return success();
}

/// Every tile that a thread holds must say how.
static LogicalResult checkLayouts(Operation *op) {
  if (failed(requireLayouts(op)))
    return failure();
  for (Type type : llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes())) {
    auto tile = dyn_cast<TileType>(type);
    if (!tile)
      continue;
    LayoutAttr layout = layoutOf(tile);
    auto kernel = op->getParentOfType<tile::KernelOp>();
    int64_t threads = 32 * getNumWarps(kernel);
    if (layout.getNumThreads() != threads)
      return op->emitOpError() << "expected layouts for the " << threads
                               << " threads of the kernel's launch, but got " << layout.getNumThreads();
  }
  return success();
}

LogicalResult ThreadEmitter::emitOp(Operation *op) {
  if (failed(checkLayouts(op)))
    return failure();
  Code code = at(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForOp, scf::IfOp, tile::SizeOp, tile::RequestedOp>([&](auto) { return emitFrameOp(op); })
      .Case<tile::LookupOp>([&](auto lookup) {
        emitLookup(lookup);
        return success();
      })
      .Case<tile::LoadOp>([&](auto load) { return emitLoad(load); })
      .Case<tile::StoreOp>([&](auto store) { return emitStore(store); })
      .Case<tile::AccumulateOp>([&](auto accumulate) { return emitAccumulate(accumulate); })
      .Case<tile::SplatOp>([&](auto splat) { return emitSplat(splat); })
      .Case<tile::PositionOp>([&](auto position) { return emitPosition(position); })
      .Case<tile::MapOp>([&](auto map) { return emitMap(map); })
      .Case<tile::ReduceOp, ReduceWarpOp>([&](auto reduce) {
        return emitReduce(reduce, reduce.getKind(), reduce.getInput(), reduce.getResult());
      })
      .Case<tile::ScanOp>([&](auto scan) { return emitScan(scan); })
      .Case<tile::SliceOp>([&](auto slice) { return emitSlice(slice); })
      .Case<tile::ConcatOp>([&](auto concat) { return emitConcat(concat); })
      .Case<RelayoutOp>([&](auto relayout) { return emitRelayout(relayout); })
      .Case<AllocOp>([&](AllocOp alloc) -> LogicalResult {
        if (!alloc.getOffset())
          return alloc.emitOpError(
              "requires a place in shared memory; run taylor-simt-allocate-shared before");
        slots[alloc] = {alloc.getType(), code.i32(*alloc.getOffset())};
        return success();
      })
      .Case<SlotOp>([&](SlotOp slot) {
        SharedSlot whole = slotOf(slot.getBuffer());
        Value index = code.narrow(scalar(slot.getIndex()));
        slots[slot] = {slot.getType(), code.add(whole.bytes, code.mul(index, whole.type.getSlotBytes()))};
        return success();
      })
      .Case<PartOp>([&](PartOp part) {
        SharedSlot whole = slotOf(part.getBuffer());
        // In a swizzled buffer, those of one panel.
        int64_t bytes = whole.type.getElementBytes(), row = whole.type.getRow().getSize();
        int64_t rowBytes = whole.type.getSwizzle()            ? whole.type.getSwizzle()
                           : whole.type.getAxes().size() == 1 ? bytes
                                                              : row * bytes;
        slots[part] = {part.getType(), code.add(whole.bytes, int64_t(part.getFrom()) * rowBytes)};
        return success();
      })
      .Case<CopyOp>([&](auto copy) { return emitCopy(copy); })
      .Case<CommitOp>([&](auto) {
        NVVM::CpAsyncCommitGroupOp::create(builder, op->getLoc());
        return success();
      })
      .Case<WaitOp>([&](WaitOp wait) {
        NVVM::CpAsyncWaitGroupOp::create(builder, op->getLoc(), uint32_t(wait.getGroups()));
        return success();
      })
      .Case<FenceOp>([&](auto) {
        code.fence();
        return success();
      })
      .Case<BarrierOp>([&](auto) {
        emitBarrier(op->getLoc());
        return success();
      })
      .Case<RolesOp>([&](auto roles) { return emitRoles(roles); })
      .Case<RingOp>([&](RingOp ring) -> LogicalResult {
        if (!ring.getOffset() || !ring.getSignals())
          return ring.emitOpError(
              "requires a place in shared memory; run taylor-simt-allocate-shared before");
        return success();
      })
      .Case<AcquireOp, WaitFullOp>([&](auto use) { return emitUse(use, use.getRing(), use.getNumber()); })
      .Case<ReleaseOp>([&](auto release) {
        emitRelease(release);
        return success();
      })
      .Case<ReadOp>([&](auto read) { return emitRead(read); })
      .Case<WriteOp>([&](auto write) { return emitWrite(write); })
      .Case<DotOp>([&](auto dot) { return emitDot(dot); })
      .Case<StartOp>([&](auto start) { return emitStart(start); })
      .Case<AwaitOp>([&](auto await) { return emitAwait(await); })
      .Case<ProxyFenceOp>([&](auto) {
        code.assembly("fence.proxy.async.shared::cta;", "~{memory}", {}, {});
        return success();
      })
      .Case<OwnTilesOp>([&](auto own) {
        emitOwnTiles(own);
        return success();
      })
      .Case<PlaceOp>([&](auto place) {
        emitPlace(place);
        return success();
      })
      .Case<StartNextOp>([&](auto) {
        code.assembly("griddepcontrol.launch_dependents;", "~{memory}", {}, {});
        return success();
      })
      .Case<AwaitPreviousOp>([&](auto) {
        code.assembly("griddepcontrol.wait;", "~{memory}", {}, {});
        return success();
      })
      .Case<ExpandOp>([&](auto expand) { return emitExpand(expand); })
      .Case<ContractOp>([&](auto contract) { return emitContract(contract); })
      .Default([&](Operation *) -> LogicalResult {
        if (tile::isScalarOp(op))
          return emitFrameOp(op);
        return op->emitOpError(
            "unsupported op in a kernel of threads; expected ops of tile, simt, scf, arith and math");
      });
}

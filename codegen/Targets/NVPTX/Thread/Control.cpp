// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each operation of a kernel becomes. All threads of a block take the same way: scalars are uniform.
#include "codegen/Targets/NVPTX/Contract.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "codegen/Targets/NVPTX/Thread/Features.h"
#include "codegen/Targets/NVPTX/Thread/Product.h"
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
                               << " threads of 'simt.warps', but got " << layout.getNumThreads();
  }
  return success();
}

LogicalResult ThreadEmitter::emitOp(Operation *op) {
  if (failed(checkLayouts(op)))
    return failure();
  Code code = places.at(op);
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
      .Case<AllocOp>([&](auto alloc) { return slots.emitAlloc(alloc); })
      .Case<SlotOp>([&](auto slot) {
        slots.emitSlot(slot);
        return success();
      })
      .Case<PartOp>([&](auto part) {
        slots.emitPart(part);
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
        places.emitBarrier(op->getLoc());
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
      .Case<DotOp>([&](auto dot) { return ProductEmitter(places, tiles, slots, dot).emit(); })
      .Case<StartOp>([&](auto start) { return started.emitStart(start); })
      .Case<AwaitOp>([&](auto await) {
        started.emitAwait(await, *sizes);
        return success();
      })
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
      .Case<ExpandOp>(
          [&](auto expand) { return FeatureEmitter(places, tiles, slots, expand).expand(expand); })
      .Case<ContractOp>(
          [&](auto contract) { return FeatureEmitter(places, tiles, slots, contract).contract(contract); })
      .Default([&](Operation *) -> LogicalResult {
        if (tile::isScalarOp(op))
          return emitFrameOp(op);
        return op->emitOpError(
            "unsupported op in a kernel of threads; expected ops of tile, simt, scf, arith and math");
      });
}

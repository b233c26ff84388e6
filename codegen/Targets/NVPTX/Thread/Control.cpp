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
        scalars[lookup] = windows.emitLookup(lookup);
        return success();
      })
      .Case<tile::LoadOp>([&](auto load) { return windows.emitLoad(load), success(); })
      .Case<tile::StoreOp>([&](auto store) { return windows.emitStore(store), success(); })
      .Case<tile::AccumulateOp>(
          [&](auto accumulate) { return windows.emitAccumulate(accumulate), success(); })
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
      .Case<SlotOp>([&](auto slot) { return slots.emitSlot(slot), success(); })
      .Case<PartOp>([&](auto part) { return slots.emitPart(part), success(); })
      .Case<CopyOp>([&](auto copy) {
        return (copy.getRing() ? rings.emitFill(copy) : copier.emitCopy(copy)), success();
      })
      .Case<CommitOp>(
          [&](auto) { return NVVM::CpAsyncCommitGroupOp::create(builder, op->getLoc()), success(); })
      .Case<WaitOp>([&](WaitOp wait) {
        return NVVM::CpAsyncWaitGroupOp::create(builder, op->getLoc(), uint32_t(wait.getGroups())), success();
      })
      .Case<FenceOp>([&](auto) { return code.fence(), success(); })
      .Case<BarrierOp>([&](auto) { return places.emitBarrier(op->getLoc()), success(); })
      .Case<RolesOp>([&](auto roles) { return emitRoles(roles); })
      .Case<RingOp>([&](RingOp ring) -> LogicalResult {
        if (!ring.getOffset() || !ring.getSignals())
          return ring.emitOpError(
              "requires a place in shared memory; run taylor-simt-allocate-shared before");
        return success();
      })
      .Case<AcquireOp, WaitFullOp>(
          [&](auto use) { return rings.emitUse(use, use.getRing(), use.getNumber()), success(); })
      .Case<ReleaseOp>([&](auto release) { return rings.emitRelease(release), success(); })
      .Case<ReadOp>([&](auto read) { return bufferTiles.emitRead(read), success(); })
      .Case<WriteOp>([&](auto write) { return bufferTiles.emitWrite(write), success(); })
      .Case<DotOp>([&](auto dot) { return ProductEmitter(places, tiles, slots, dot).emit(); })
      .Case<StartOp>([&](auto start) { return started.emitStart(start); })
      .Case<AwaitOp>([&](auto await) { return started.emitAwait(await, *sizes), success(); })
      .Case<ProxyFenceOp>([&](auto) {
        code.assembly("fence.proxy.async.shared::cta;", "~{memory}", {}, {});
        return success();
      })
      .Case<OwnTilesOp>([&](auto own) { return emitOwnTiles(own), success(); })
      .Case<PlaceOp>([&](auto place) { return emitPlace(place), success(); })
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

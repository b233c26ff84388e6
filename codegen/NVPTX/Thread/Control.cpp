// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks, loops and scalars of a kernel. All threads of a block take the same way: scalars are uniform.
#include "codegen/NVPTX/Contract.h"
#include "codegen/NVPTX/Simt/PassOrder.h"
#include "codegen/NVPTX/Thread/KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

LogicalResult KernelEmitter::emitBlock(Block &block) {
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

LogicalResult KernelEmitter::emitOp(Operation *op) {
  if (failed(checkLayouts(op)))
    return failure();
  Code code = at(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForOp>([&](auto loop) { return emitFor(loop); })
      .Case<scf::IfOp>([&](auto branch) { return emitIf(branch); })
      .Case<tile::SizeOp>([&](tile::SizeOp size) {
        scalars[size] = sizes.lookup(size.getRole());
        return success();
      })
      .Case<tile::RequestedOp>([&](tile::RequestedOp requested) {
        Value address = LLVM::PtrToIntOp::create(builder, op->getLoc(), builder.getI64Type(),
                                                 arrays[requested.getArray()].address);
        scalars[requested] =
            arith::CmpIOp::create(builder, op->getLoc(), arith::CmpIPredicate::ne, address, code.i64(0));
        return success();
      })
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
        Slot whole = slotOf(slot.getBuffer());
        Value index = code.narrow(scalar(slot.getIndex()));
        slots[slot] = {slot.getType(), code.add(whole.bytes, code.mul(index, whole.type.getSlotBytes()))};
        return success();
      })
      .Case<PartOp>([&](PartOp part) {
        Slot whole = slotOf(part.getBuffer());
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
      .Default([&](Operation *) { return emitScalar(op); });
}

LogicalResult KernelEmitter::emitScalar(Operation *op) {
  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) || op->getNumRegions() ||
      op->getNumResults() != 1)
    return op->emitOpError(
        "unsupported op in a kernel of threads; expected ops of tile, simt, scf, arith and math");
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, scalar(operand));
  scalars[op->getResult(0)] = cloneScalar(builder, op, mapping, builder.getI64Type());
  return success();
}

Value mlir::simt::cloneScalar(OpBuilder &builder, Operation *op, const IRMapping &mapping, Type indexType) {
  Location loc = op->getLoc();
  auto converted = [&](Type type) { return type.isIndex() ? indexType : type; };
  Type type = converted(op->getResult(0).getType());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()); integer && integer.getType().isIndex())
      return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, integer.getInt()));
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Value value = mapping.lookup(op->getOperand(0));
    unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    if (from == to)
      return value;
    if (from > to)
      return arith::TruncIOp::create(builder, loc, type, value);
    if (isa<arith::IndexCastOp>(op))
      return arith::ExtSIOp::create(builder, loc, type, value);
    return arith::ExtUIOp::create(builder, loc, type, value);
  }
  IRMapping copy = mapping;
  Operation *clone = builder.clone(*op, copy);
  clone->getResult(0).setType(type);
  return clone->getResult(0);
}

//===----------------------------------------------------------------------===//
// Loops and branches: a tile among the carried values is all of its registers
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelEmitter::flatten(ValueRange values) {
  SmallVector<Value> flat;
  for (Value value : values) {
    if (isa<TileType>(value.getType()))
      llvm::append_range(flat, tileOf(value).parts);
    else
      flat.push_back(scalar(value));
  }
  return flat;
}

void KernelEmitter::bind(ValueRange values, ValueRange flat) {
  for (Value value : values) {
    auto tile = dyn_cast<TileType>(value.getType());
    if (!tile) {
      scalars[value] = flat.front();
      flat = flat.drop_front();
      continue;
    }
    Registers registers{elementTypeOf(tile.getElementType()), false, {}};
    int64_t count = layoutOf(tile).getNumRegisters();
    registers.paired = isPaired(registers.element, count);
    count /= registers.paired ? 2 : 1;
    registers.parts = llvm::to_vector(flat.take_front(count));
    flat = flat.drop_front(count);
    tiles[value] = registers;
  }
}

LogicalResult KernelEmitter::emitFor(scf::ForOp op) {
  auto loop = scf::ForOp::create(builder, op.getLoc(), scalar(op.getLowerBound()), scalar(op.getUpperBound()),
                                 scalar(op.getStep()), flatten(op.getInitArgs()));
  OpBuilder::InsertionGuard guard(builder);
  Block *body = loop.getBody();
  // The builder has made a terminator where nothing is carried.
  if (!body->empty())
    body->back().erase();
  builder.setInsertionPointToStart(body);
  scalars[op.getInductionVar()] = loop.getInductionVar();
  bind(op.getRegionIterArgs(), loop.getRegionIterArgs());
  if (failed(emitBlock(*op.getBody())))
    return failure();
  scf::YieldOp::create(builder, op.getLoc(), flatten(op.getBody()->getTerminator()->getOperands()));
  bind(op.getResults(), loop.getResults());
  return success();
}

LogicalResult KernelEmitter::emitIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Type type : op.getResultTypes()) {
    auto tile = dyn_cast<TileType>(type);
    if (!tile) {
      types.push_back(scalarTypeOf(type));
      continue;
    }
    Type element = elementTypeOf(tile.getElementType());
    int64_t count = layoutOf(tile).getNumRegisters();
    bool paired = isPaired(element, count);
    types.append(paired ? count / 2 : count, paired ? VectorType::get(2, element) : element);
  }
  auto branch = scf::IfOp::create(builder, op.getLoc(), types, scalar(op.getCondition()),
                                  /*addThenBlock=*/true, /*addElseBlock=*/!op.getElseRegion().empty());
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] : llvm::zip(op->getRegions(), branch->getRegions())) {
    if (from.empty())
      continue;
    if (!to.front().empty())
      to.front().back().erase();
    builder.setInsertionPointToStart(&to.front());
    if (failed(emitBlock(from.front())))
      return failure();
    scf::YieldOp::create(builder, op.getLoc(), flatten(from.front().getTerminator()->getOperands()));
  }
  bind(op.getResults(), branch.getResults());
  return success();
}

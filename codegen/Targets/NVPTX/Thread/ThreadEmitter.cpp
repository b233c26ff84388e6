// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel's entry, and what each of its operations becomes. All threads of a block, or of a role, take the
// same way: scalars are uniform.
#include "codegen/Targets/NVPTX/Thread/ThreadEmitter.h"
#include "codegen/Targets/Frame/Scalars.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/Simt/PassOrder.h"
#include "codegen/Targets/NVPTX/Thread/Features.h"
#include "codegen/Targets/NVPTX/Thread/ProductEmitter.h"
#include "dialect/Refusal.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

/// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": local memory of a thread.
static constexpr int64_t kMostLocalBytes = 524288;
/// Threads of a role.
static constexpr int64_t kRoleThreads = 128, kWarp = 32;

//===----------------------------------------------------------------------===//
// The entry
//===----------------------------------------------------------------------===//

ThreadEmitter::ThreadEmitter(tile::KernelOp kernel, OpBuilder &builder, LLVM::GlobalOp shared,
                             int64_t cacheBytes)
    : KernelFrame(kernel, builder), shared(shared), places(kernel, builder, scalars), tiles(places),
      slots(places), grid(kernel, cacheBytes), windows(places, tiles), bufferTiles(places, tiles, slots),
      copier(places, windows, slots), signals(places), rings(places, windows, slots, signals, copier),
      maps(places, tiles), rearranger(places, tiles), started(places, tiles, slots) {
  types.addConversion([](TileType tile, SmallVectorImpl<Type> &registers) {
    Type element = elementTypeOf(tile.getElementType());
    int64_t count = layoutOf(tile).getNumRegisters();
    bool paired = isPaired(element, count);
    registers.append(paired ? count / 2 : count, paired ? VectorType::get(2, element) : element);
    return success();
  });
}

FailureOr<LLVM::LLVMFuncOp> ThreadEmitter::makeFunction(ModuleOp module, ArrayRef<Value> used) {
  MLIRContext *context = builder.getContext();
  Type i64 = builder.getI64Type(),
       pointer = LLVM::LLVMPointerType::get(context, unsigned(AddressSpace::global));
  SmallVector<Type> parameters(std::size(tile::kSizeRoles), i64);
  for (Value array : used) {
    parameters.push_back(pointer);
    if (isa<tile::TensorOp>(array.getDefiningOp()))
      parameters.append(cast<tile::ArrayType>(array.getType()).getAxes().size(), i64);
  }
  if (failed(checkParameters(kernel)))
    return failure();
  SmallVector<Box> boxes = getBoxes(kernel);
  parameters.append(boxes.size(), LLVM::LLVMPointerType::get(context));
  builder.setInsertionPointToEnd(module.getBody());
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters);
  auto function = LLVM::LLVMFuncOp::create(builder, kernel.getLoc(), getEntryName(kernel), type);
  auto mapType = LLVM::LLVMArrayType::get(builder.getI8Type(), kMapBytes);
  for (size_t i = parameters.size() - boxes.size(); i < parameters.size(); ++i) {
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(mapType));
    function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(kMapAlignment));
  }
  int64_t threads = getNumThreads(kernel);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({int32_t(threads)}));
  if (!kernel.getBlock()->getOps<RolesOp>().empty()) // without it ptxas ignores setmaxnreg
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(1));
  function->setAttr(kEntryAttr, describeEntry(kernel));
  return function;
}

LogicalResult ThreadEmitter::emit(ModuleOp module) {
  SmallVector<Value> used = getArguments(kernel);
  FailureOr<LLVM::LLVMFuncOp> made = makeFunction(module, used);
  if (failed(made))
    return failure();
  LLVM::LLVMFuncOp function = *made;
  Location loc = kernel.getLoc();
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  places.readThread(shared);
  ValueRange parameters = function.getArguments();
  unsigned numSizes = std::size(tile::kSizeRoles);
  sizes.emplace(builder, loc, parameters.take_front(numSizes), tile::SizeValues::Runs::block);
  sizes->makeLag();
  parameters = windows.readArrays(used, parameters.drop_front(numSizes), *sizes);
  for (auto [box, address] : llvm::zip_equal(getBoxes(kernel), parameters))
    rings.addMap(box, address);
  if (!isPersistent(kernel)) // otherwise each role takes places by itself
    setPlaces(kernel.getBlock()->getArguments(),
              NVVM::BlockIdXOp::create(builder, loc, builder.getI32Type()));
  places.endStart();
  if (failed(emitBlock(*kernel.getBlock())))
    return failure();
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  if (int64_t bytes = tiles.localBytes(); bytes > kMostLocalBytes)
    return taylor::refuse(kernel.emitOpError())
           << "unsupported on this target: " << bytes
           << " bytes of local memory for maps of many functions, where a thread may have " << kMostLocalBytes
           << "; split the specification, or choose smaller tiles";
  places.eraseMarks();
  return success();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

LogicalResult ThreadEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(emitOp(&op)))
      return failure();
  return success();
}

/// The numbers of a block's places in the grid: from its own on, as far apart as there are blocks.
void ThreadEmitter::emitOwnTiles(OwnTilesOp op) {
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  auto wide = [&](Value x) { return arith::ExtUIOp::create(builder, op.getLoc(), i64, x); };
  scalars[op.getFrom()] = wide(NVVM::BlockIdXOp::create(builder, op.getLoc(), i32));
  scalars[op.getStep()] = wide(NVVM::GridDimXOp::create(builder, op.getLoc(), i32));
  scalars[op.getTo()] = sizes->blocksOf(kernel);
}

void ThreadEmitter::setPlaces(ValueRange values, Value number) {
  for (auto [value, place] : llvm::zip_equal(values, grid.placesOf(places.at(kernel), number, *sizes)))
    scalars[value] = place;
}

/// The first four warps are the producer, of which one works; each further four are a member.
LogicalResult ThreadEmitter::emitRoles(RolesOp op) {
  if (!op.getApart())
    return op.emitOpError("requires places of its members' buffers; run taylor-simt-allocate-shared before");
  if (32 * places.numWarps() != kRoleThreads)
    return op.emitOpError() << "expected members of four warps, but got " << places.numWarps();
  Location loc = op.getLoc();
  Code code = places.at(op);
  signals.initialise(op);
  auto setRegisters = [&](int64_t count, bool more) {
    NVVM::SetMaxRegisterOp::create(builder, loc, uint32_t(count),
                                   more ? NVVM::SetMaxRegisterAction::increase
                                        : NVVM::SetMaxRegisterAction::decrease);
  };
  auto inThen = [&](scf::IfOp branch) { builder.setInsertionPoint(branch.thenBlock()->getTerminator()); };
  // The same in all lanes, and known to be.
  Value group = code.fetch(code.shiftRight(places.thread(), 7), code.i32(0)), all = places.thread();
  Value isProducer = code.lessUnsigned(group, code.i32(1));
  auto branch = scf::IfOp::create(builder, loc, isProducer, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  inThen(branch);
  setRegisters(op.getProducerRegisters(), false);
  Value warp = code.fetch(code.shiftRight(all, 5), code.i32(0));
  inThen(scf::IfOp::create(builder, loc, code.lessUnsigned(warp, code.i32(1)), /*withElseRegion=*/false));
  Value lane = code.bitAnd(all, code.i32(kWarp - 1));
  if (failed(places.emitRole({lane, 1, {}}, [&] { return emitBlock(op.getProducerBlock()); })))
    return failure();

  builder.setInsertionPoint(branch.elseBlock()->getTerminator());
  setRegisters(op.getConsumerRegisters(), true);
  Value thread = code.bitAnd(all, code.i32(kRoleThreads - 1)), member = code.sub(group, code.i32(1));
  scalars[op.getMember()] = arith::ExtUIOp::create(builder, loc, builder.getI64Type(), member);
  slots.moveToMember(member, *op.getApart(), loc);
  return places.emitRole({thread, places.numWarps(), member},
                         [&] { return emitBlock(op.getConsumerBlock()); });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

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
      .Case<tile::SplatOp>([&](auto splat) { return maps.emitSplat(splat), success(); })
      .Case<tile::PositionOp>([&](auto position) { return maps.emitPosition(position), success(); })
      .Case<tile::MapOp>([&](auto map) { return maps.emitMap(map); })
      .Case<tile::ReduceOp, ReduceWarpOp>([&](auto reduce) {
        return rearranger.emitReduce(reduce, reduce.getKind(), reduce.getInput(), reduce.getResult());
      })
      .Case<tile::ScanOp>([&](auto scan) { return rearranger.emitScan(scan); })
      .Case<tile::SliceOp>([&](auto slice) { return rearranger.emitSlice(slice); })
      .Case<tile::ConcatOp>([&](auto concat) { return rearranger.emitConcat(concat); })
      .Case<RelayoutOp>([&](auto relayout) { return rearranger.emitRelayout(relayout); })
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
      .Case<PlaceOp>([&](auto place) {
        return setPlaces(place.getPlaces(), code.narrow(scalar(place.getNumber()))), success();
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frame of a kernel: sizes, arrays, the loop over blocks, scalars and control flow.
#include "codegen/Targets/CPU/KernelEmitter.h"
#include "dialect/Tile/Extents.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "runtime/artifact.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

SizeValues mlir::tile::cpu::loadSizes(ImplicitLocOpBuilder &b, Value pointer) {
  SmallVector<Value> sizes;
  for (int32_t i = 0; i <= TAYLOR_DIM_OFFSET; ++i) {
    Value at = LLVM::GEPOp::create(b, pointer.getType(), b.getI64Type(), pointer, ArrayRef<LLVM::GEPArg>{i});
    sizes.push_back(LLVM::LoadOp::create(b, b.getI64Type(), at));
  }
  return SizeValues(b, b.getLoc(), sizes, SizeValues::Runs::host);
}

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value KernelEmitter::constant(int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value KernelEmitter::zeroOf(Type type) {
  return arith::ConstantOp::create(b, type, cast<TypedAttr>(b.getZeroAttr(type)));
}

Value KernelEmitter::asValue(Index index) {
  if (!index.value)
    return constant(index.constant);
  return index.constant ? Value(arith::AddIOp::create(b, index.value, constant(index.constant)))
                        : index.value;
}

Index KernelEmitter::add(Index x, Index y) {
  if (!x.value || !y.value)
    return Index(x.value ? x.value : y.value, x.constant + y.constant);
  return Index(arith::AddIOp::create(b, x.value, y.value), x.constant + y.constant);
}

Index KernelEmitter::subtract(Index x, Index y) {
  if (!y.value)
    return x + -y.constant;
  return Index(arith::SubIOp::create(b, asValue(Index(x.value)), y.value), x.constant - y.constant);
}

Index KernelEmitter::multiply(Index x, Index y) {
  if (x.value && !y.value)
    std::swap(x, y);
  if (x.value)
    return Index(arith::MulIOp::create(b, asValue(x), asValue(y)));
  if (!y.value || x.constant == 0)
    return x.constant * y.constant;
  if (x.constant == 1)
    return y;
  return Index(arith::MulIOp::create(b, y.value, constant(x.constant)), x.constant * y.constant);
}

Value KernelEmitter::gep(Value pointer, Type element, Index index) {
  if (index.value)
    pointer =
        LLVM::GEPOp::create(b, pointer.getType(), element, pointer, ArrayRef<LLVM::GEPArg>{index.value});
  // A constant index of a GEP has 32 bits.
  if (index.constant && int32_t(index.constant) == index.constant)
    return LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                               ArrayRef<LLVM::GEPArg>{int32_t(index.constant)});
  if (index.constant)
    return LLVM::GEPOp::create(b, pointer.getType(), element, pointer,
                               ArrayRef<LLVM::GEPArg>{constant(index.constant)});
  return pointer;
}

Value KernelEmitter::load(Type type, Value pointer) {
  return LLVM::LoadOp::create(b, type, pointer, getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8);
}

void KernelEmitter::store(Value value, Value pointer) {
  LLVM::StoreOp::create(b, value, pointer, getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth() / 8);
}

Value KernelEmitter::splat(Value scalar) {
  return b.createOrFold<vector::BroadcastOp>(vectorOf(scalar.getType()), scalar);
}

Value KernelEmitter::splatScalar(Value value) {
  Value scalar = scalars.lookup(value);
  if (value.getType().isIndex())
    scalar = arith::TruncIOp::create(b, b.getI32Type(), scalar);
  else if (value.getType().isBF16() || value.getType().isF16())
    scalar = arith::ExtFOp::create(b, b.getF32Type(), scalar);
  return splat(scalar);
}

Value KernelEmitter::both(Value x, Value y) {
  if (!x || !y)
    return x ? x : y;
  auto broadcastTo = [&](Value value, Value other) {
    return isa<VectorType>(other.getType()) && !isa<VectorType>(value.getType()) ? splat(value) : value;
  };
  return arith::AndIOp::create(b, broadcastTo(x, y), broadcastTo(y, x));
}

Value KernelEmitter::compare(arith::CmpIPredicate predicate, Index x, Index y) {
  return arith::CmpIOp::create(b, predicate, asValue(x), asValue(y));
}

Value KernelEmitter::iota() {
  SmallVector<int32_t> lanes(W);
  for (int64_t i = 0; i < W; ++i)
    lanes[i] = int32_t(i);
  auto type = cast<VectorType>(vectorOf(b.getI32Type()));
  return arith::ConstantOp::create(b, type, DenseElementsAttr::get(type, ArrayRef<int32_t>(lanes)));
}

Value KernelEmitter::address(const TileView &view, const Point &point) {
  Index offset = 0;
  for (auto &[axis, stride] : view.strides)
    offset = add(offset, multiply(stride, point.along(axis)));
  return gep(view.pointer, view.element, offset);
}

const TileView *KernelEmitter::findView(Value value, StringAttr lane, StringAttr pairs) {
  auto it = views.find(value);
  if (it == views.end())
    return nullptr;
  for (const TileView &view : it->second)
    if (view.pairs == pairs && (!lane || view.lane == lane))
      return &view;
  return nullptr;
}

TileView KernelEmitter::placeView(const ScratchPlace &place, StringAttr lane) {
  TileView view;
  view.pointer = gep(scratch, b.getI8Type(), plan.offsetOf(place));
  view.element = place.element;
  view.lane = lane;
  for (auto [axis, stride] : llvm::zip(place.order, place.strides))
    view.strides.push_back({axis, stride});
  return view;
}

void KernelEmitter::definePlace(Value value, StringAttr lane) {
  if (const ScratchPlace *place = plan.placeOf(value, lane))
    views[value].push_back(placeView(*place, lane));
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

/// Known where the value is a constant.
static SmallVector<Index> indicesOf(ArrayRef<Value> values) {
  return llvm::map_to_vector(values, [](Value value) {
    APInt constant;
    return matchPattern(value, m_ConstantInt(&constant)) ? Index(constant.getSExtValue()) : Index(value);
  });
}

void KernelEmitter::loadArrays(Value call) {
  Type pointerType = call.getType();
  auto field = [&](int32_t offset) {
    Value at = LLVM::GEPOp::create(b, pointerType, b.getI8Type(), call, ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(b, pointerType, at);
  };
  sizes.emplace(loadSizes(b, field(offsetof(TaylorCall, dims))));
  Value data = field(offsetof(TaylorCall, data)), strides = field(offsetof(TaylorCall, strides));
  Value workspace = field(offsetof(TaylorCall, workspace));
  llvm::SmallDenseSet<Value> used;
  kernel.walk([&](Operation *op) { used.insert(op->operand_begin(), op->operand_end()); });
  int32_t next = 0;
  // Bytes are added up where an array of the kernel comes after them, so that kernels of two functions with
  // the same arrays first are the same code.
  SmallVector<ArrayType> workspacesBefore;
  Value workspaceOffset;
  for (Operation &op : *cast<ProgramOp>(kernel->getParentOp()).getBlock()) {
    if (isa<KernelOp>(op))
      break;
    Value array = op.getResult(0);
    auto type = cast<ArrayType>(array.getType());
    int32_t number = isa<TensorOp>(op) ? next++ : 0;
    if (!used.contains(array)) {
      if (isa<WorkspaceOp>(op))
        workspacesBefore.push_back(type);
      continue;
    }
    SmallVector<Value> extents = sizes->of(type);
    ArrayOperand memory{Value(), {}, indicesOf(extents)};
    size_t rank = extents.size();
    if (isa<TensorOp>(op)) {
      Value at = LLVM::GEPOp::create(b, pointerType, pointerType, data, ArrayRef<LLVM::GEPArg>{number});
      memory.pointer = LLVM::LoadOp::create(b, pointerType, at);
      for (size_t j = 0; j < rank; ++j) {
        if (j + 1 == rank && type.getAxes()[j].extent.isStatic()) {
          memory.strides.push_back(1);
          continue;
        }
        Value from = LLVM::GEPOp::create(b, pointerType, b.getI64Type(), strides,
                                         ArrayRef<LLVM::GEPArg>{int32_t(number * TAYLOR_MAX_RANK + j)});
        memory.strides.push_back(Index(LLVM::LoadOp::create(b, b.getI64Type(), from)));
      }
    } else {
      for (ArrayType before : workspacesBefore) {
        Value bytes = sizes->workspaceBytes(before);
        workspaceOffset = workspaceOffset ? sizes->add(workspaceOffset, bytes) : bytes;
      }
      workspacesBefore = {type};
      memory.pointer = workspaceOffset ? gep(workspace, b.getI8Type(), Index(workspaceOffset)) : workspace;
      memory.strides = indicesOf(sizes->stridesOf(extents, sizes->workspacePitch(type)));
    }
    arrays[array] = memory;
  }
}

void KernelEmitter::emit(func::FuncOp function) {
  OpBuilder::InsertionGuard guard(b);
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToStart(entry);
  scratch = entry->getArgument(3);
  loadArrays(entry->getArgument(0));
  SmallVector<Value> grid = sizes->gridOf(kernel);
  bool usesTiles = plan.usesTiles();
  if (usesTiles)
    beginTiles();
  auto blocks = scf::ForOp::create(b, entry->getArgument(1), entry->getArgument(2), constant(1));
  if (usesTiles)
    endTiles();
  func::ReturnOp::create(b);
  b.setInsertionPointToStart(blocks.getBody());
  forPlacesInGrid(
      blocks.getInductionVar(), grid.size(), [&](unsigned i) { return grid[i]; },
      [&](unsigned i, Value place) { scalars[kernel.getBlock()->getArgument(i)] = place; }, *sizes);
  (void)emitBlock(*kernel.getBlock());
}

LogicalResult KernelEmitter::emitBlock(Block &block) {
  for (const Step &step : plan.stepsOf(&block)) {
    switch (step.kind) {
    case Step::Scalar:
      if (auto lookup = dyn_cast<LookupOp>(step.op)) {
        scalars[lookup] = emitLookup(lookup);
        break;
      }
      [[fallthrough]];
    case Step::Control:
      if (failed(emitFrameOp(step.op)))
        return failure();
      break;
    case Step::Window:
      emitWindow(cast<LoadOp>(step.op));
      break;
    case Step::Pack:
      emitPack(step.pack);
      break;
    case Step::SweepStep:
      emitSweep(*step.sweep);
      break;
    case Step::Scan:
      emitScan(cast<ScanOp>(step.op));
      break;
    case Step::Concat:
      emitConcat(cast<ConcatOp>(step.op));
      break;
    case Step::Features:
      if (auto expand = dyn_cast<ExpandOp>(step.op))
        emitExpand(expand);
      else
        emitContract(cast<ContractOp>(step.op));
      break;
    }
  }
  return success();
}

Value KernelEmitter::emitLookup(LookupOp op) {
  const ArrayOperand &memory = arrays[op.getArray()];
  Type element = op.getArray().getType().getElementType();
  Index offset = 0;
  Value inside = arith::ConstantOp::create(b, b.getBoolAttr(true));
  for (auto [i, place] : llvm::enumerate(op.getPlace())) {
    Index at = scalars.lookup(place);
    offset = add(offset, multiply(at, memory.strides[i]));
    inside = both(inside, both(compare(arith::CmpIPredicate::sge, at, 0),
                               compare(arith::CmpIPredicate::slt, at, memory.extents[i])));
  }
  auto branch = scf::IfOp::create(b, TypeRange{b.getI64Type()}, inside, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value number = load(element, gep(memory.pointer, element, offset));
  scf::YieldOp::create(b, ValueRange{arith::FPToSIOp::create(b, b.getI64Type(), number)});
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, ValueRange{constant(0)});
  return branch.getResult(0);
}

void KernelEmitter::copyTile(Value from, TileView to) {
  auto type = cast<TileType>(from.getType());
  const TileView *source = findView(from, {});
  if (source && source->lane && to.lane && !findView(from, to.lane) && source->element == to.element)
    return transposeTile(type, TileView(*source), to);
  loopOver(type.getAxes(), {to.lane}, Point{to.lane, {}}, [&](const Point &row) {
    loopVectors(to.lane ? type.getSize(to.lane) : 1, [&](Index lane) {
      Point point = row.with(to.lane, lane);
      Locals locals;
      Value vector = fetch(from, point, locals);
      storeTile(to, vector, address(to, point));
    });
  });
}

void KernelEmitter::moveTile(Value from, Value to) {
  StringAttr lane = plan.laneOf(to);
  const ScratchPlace *place = plan.placeOf(from, lane);
  if (!place || !plan.sharePlace(*place, *plan.placeOf(to, lane)))
    copyTile(from, ownView(to));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frame of a kernel: sizes, arrays, the loop over blocks, scalars and control flow.
#include "codegen/CPU/KernelEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "runtime/AxisDim.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static Value i64(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI64IntegerAttr(value));
}

Value mlir::tile::cpu::emitSize(ImplicitLocOpBuilder &b, AxisRef role, ArrayRef<Value> dims) {
  static_assert(kLagMargin == TAYLOR_LAG_MARGIN, "the compiler and the runtime agree on the size of lag");
  if (role == AxisRole::Lag) {
    Value tokens = arith::AddIOp::create(b, dims[TAYLOR_DIM_T], dims[TAYLOR_DIM_U]);
    return arith::AddIOp::create(b, tokens, i64(b, 2 * kLagMargin));
  }
  return dims[taylor::dimOf(role).value_or(TAYLOR_DIM_OFFSET)];
}

Value mlir::tile::cpu::emitExtent(ImplicitLocOpBuilder &b, ExtentAttr extent, ArrayRef<Value> dims) {
  if (extent.isStatic())
    return i64(b, extent.getSize());
  if (extent.isParts()) {
    Value divisor;
    for (StringRef role : extent.getDivisors()) {
      Value size = emitSize(b, role, dims);
      divisor = divisor ? Value(arith::MulIOp::create(b, divisor, size)) : size;
    }
    divisor = arith::MaxSIOp::create(b, divisor, i64(b, 1));
    Value rounded = arith::AddIOp::create(b, divisor, i64(b, extent.getSize() - 1));
    return arith::DivUIOp::create(b, rounded, divisor);
  }
  Value size = emitSize(b, extent.getRole(), dims);
  if (extent.getSize() == 1)
    return size;
  Value rounded = arith::AddIOp::create(b, size, i64(b, extent.getSize() - 1));
  return arith::DivUIOp::create(b, rounded, i64(b, extent.getSize()));
}

SmallVector<Value> mlir::tile::cpu::emitDims(ImplicitLocOpBuilder &b, Value pointer) {
  SmallVector<Value> dims;
  Type pointerType = pointer.getType();
  for (int32_t i = 0; i <= TAYLOR_DIM_OFFSET; ++i) {
    Value at = LLVM::GEPOp::create(b, pointerType, b.getI64Type(), pointer, ArrayRef<LLVM::GEPArg>{i});
    dims.push_back(LLVM::LoadOp::create(b, b.getI64Type(), at));
  }
  return dims;
}

Value mlir::tile::cpu::emitRowPitch(ImplicitLocOpBuilder &b, ArrayType type, ArrayRef<Value> dims) {
  ArrayRef<Axis> axes = type.getAxes();
  Value size = emitExtent(b, axes.back().extent, dims);
  if (axes.size() < 2 || axes.back().extent.isStatic() || !axes[axes.size() - 2].extent.isStatic())
    return size;
  // An odd number of lines of the cache: rows of one column would else share a few of its sets.
  int64_t line = 64 / (type.getElementType().getIntOrFloatBitWidth() / 8);
  Value lines = arith::DivUIOp::create(b, arith::AddIOp::create(b, size, i64(b, line - 1)), i64(b, line));
  return arith::MulIOp::create(b, arith::OrIOp::create(b, lines, i64(b, 1)), i64(b, line));
}

Value mlir::tile::cpu::emitWorkspaceBytes(ImplicitLocOpBuilder &b, ArrayType type, ArrayRef<Value> dims) {
  Value bytes = i64(b, type.getElementType().getIntOrFloatBitWidth() / 8);
  ArrayRef<Axis> axes = type.getAxes();
  for (size_t i = 0; i < axes.size(); ++i)
    bytes = arith::MulIOp::create(
        b, bytes, i + 1 < axes.size() ? emitExtent(b, axes[i].extent, dims) : emitRowPitch(b, type, dims));
  bytes = arith::AddIOp::create(b, bytes, i64(b, 63));
  return arith::AndIOp::create(b, bytes, i64(b, -64));
}

//===----------------------------------------------------------------------===//
// Small things
//===----------------------------------------------------------------------===//

Value KernelEmitter::constant(int64_t value) { return i64(b, value); }

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

Value KernelEmitter::address(const View &view, const Point &point) {
  Index offset = 0;
  for (auto &[axis, stride] : view.strides)
    offset = add(offset, multiply(stride, point.along(axis)));
  return gep(view.pointer, view.element, offset);
}

const View *KernelEmitter::findView(Value value, StringAttr lane, StringAttr pairs) {
  auto it = views.find(value);
  if (it == views.end())
    return nullptr;
  for (const View &view : it->second)
    if (view.pairs == pairs && (!lane || view.lane == lane))
      return &view;
  return nullptr;
}

View KernelEmitter::placeView(const Place &place, StringAttr lane) {
  View view;
  view.pointer = gep(scratch, b.getI8Type(), plan.offsetOf(place));
  view.element = place.element;
  view.lane = lane;
  for (auto [axis, stride] : llvm::zip(place.order, place.strides))
    view.strides.push_back({axis, stride});
  return view;
}

void KernelEmitter::definePlace(Value value, StringAttr lane) {
  if (const Place *place = plan.placeOf(value, lane))
    views[value].push_back(placeView(*place, lane));
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

void KernelEmitter::loadArrays(Value call) {
  Type pointerType = call.getType();
  auto field = [&](int32_t offset) {
    Value at = LLVM::GEPOp::create(b, pointerType, b.getI8Type(), call, ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(b, pointerType, at);
  };
  dims = emitDims(b, field(offsetof(TaylorCall, dims)));
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
    ArrayMemory memory;
    for (const Axis &axis : type.getAxes())
      memory.extents.push_back(axis.extent.isStatic() ? Index(axis.getSize())
                                                      : Index(emitExtent(b, axis.extent, dims)));
    size_t rank = type.getAxes().size();
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
        Value bytes = emitWorkspaceBytes(b, before, dims);
        workspaceOffset = workspaceOffset ? Value(arith::AddIOp::create(b, workspaceOffset, bytes)) : bytes;
      }
      workspacesBefore = {type};
      memory.pointer = workspaceOffset ? gep(workspace, b.getI8Type(), Index(workspaceOffset)) : workspace;
      memory.strides.resize(rank);
      Index stride = 1;
      for (size_t j = rank; j-- > 0;) {
        memory.strides[j] = stride;
        bool isStatic = type.getAxes()[j].extent.isStatic();
        stride = j + 1 == rank && !isStatic ? Index(emitRowPitch(b, type, dims))
                                            : multiply(stride, memory.extents[j]);
      }
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
  SmallVector<Value> extents;
  for (unsigned i = 0; i < kernel.getGrid().size(); ++i)
    extents.push_back(emitExtent(b, kernel.getExtent(i), dims));
  bool usesTiles = plan.usesTiles();
  if (usesTiles)
    beginTiles();
  auto blocks = scf::ForOp::create(b, entry->getArgument(1), entry->getArgument(2), constant(1));
  if (usesTiles)
    endTiles();
  func::ReturnOp::create(b);
  b.setInsertionPointToStart(blocks.getBody());
  Value rest = blocks.getInductionVar();
  for (size_t i = extents.size(); i-- > 0;) {
    Value coordinate = rest;
    if (i > 0) {
      coordinate = arith::RemUIOp::create(b, rest, extents[i]);
      rest = arith::DivUIOp::create(b, rest, extents[i]);
    }
    scalars.map(kernel.getBlock()->getArgument(unsigned(i)), coordinate);
  }
  emitBlock(*kernel.getBlock());
}

void KernelEmitter::emitBlock(Block &block) {
  for (const Step &step : plan.stepsOf(&block)) {
    switch (step.kind) {
    case Step::Scalar:
      emitScalar(step.op);
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
    case Step::Control:
      if (auto loop = dyn_cast<scf::ForOp>(step.op))
        emitFor(loop);
      else
        emitIf(cast<scf::IfOp>(step.op));
      break;
    }
  }
}

Value KernelEmitter::emitLookup(LookupOp op) {
  const ArrayMemory &memory = arrays[op.getArray()];
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

/// Clones a scalar op; an index has 64 bits from here on.
void KernelEmitter::emitScalar(Operation *op) {
  Value result = op->getResult(0);
  if (auto size = dyn_cast<SizeOp>(op))
    return scalars.map(result, emitSize(b, size.getRole(), dims));
  if (auto requested = dyn_cast<RequestedOp>(op)) {
    Value pointer = arrays[requested.getArray()].pointer;
    Value null = LLVM::ZeroOp::create(b, pointer.getType());
    return scalars.map(result, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, pointer, null));
  }
  if (auto lookup = dyn_cast<LookupOp>(op))
    return scalars.map(result, emitLookup(lookup));
  Type type = result.getType().isIndex() ? b.getI64Type() : result.getType();
  if (auto attribute = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<IntegerAttr>(attribute.getValue());
    TypedAttr value =
        result.getType().isIndex() ? b.getI64IntegerAttr(number.getInt()) : attribute.getValue();
    return scalars.map(result, arith::ConstantOp::create(b, type, value));
  }
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalars.lookup(operand));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    unsigned from = operands[0].getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    Value x = operands[0];
    if (from < to)
      x = isa<arith::IndexCastOp>(op) ? Value(arith::ExtSIOp::create(b, type, x))
                                      : Value(arith::ExtUIOp::create(b, type, x));
    else if (from > to)
      x = arith::TruncIOp::create(b, type, x);
    return scalars.map(result, x);
  }
  OperationState state(b.getLoc(), op->getName(), operands, {type}, op->getAttrs());
  scalars.map(result, b.create(state)->getResult(0));
}

void KernelEmitter::copyTile(Value from, View to) {
  auto type = cast<TileType>(from.getType());
  const View *source = findView(from, {});
  if (source && source->lane && to.lane && !findView(from, to.lane) && source->element == to.element)
    return transposeTile(type, View(*source), to);
  loopOver(type.getAxes(), {to.lane}, Point{to.lane, {}}, [&](const Point &row) {
    loopVectors(to.lane ? type.getSize(to.lane) : 1, [&](Index lane) {
      Point point = row.with(to.lane, lane);
      Locals locals;
      Value vector = fetch(from, point, locals);
      storeTile(to, vector, address(to, point));
    });
  });
}

void KernelEmitter::emitFor(scf::ForOp op) {
  SmallVector<Value> inits;
  for (auto [argument, result, init] : llvm::zip(op.getRegionIterArgs(), op.getResults(), op.getInitArgs())) {
    if (!isa<TileType>(init.getType())) {
      inits.push_back(scalars.lookup(init));
      continue;
    }
    StringAttr lane = plan.laneOf(argument);
    definePlace(argument, lane);
    definePlace(result, lane);
    const Place *from = plan.placeOf(init, lane);
    if (!from || !plan.sharePlace(*from, *plan.placeOf(argument, lane)))
      copyTile(init, ownView(argument));
  }
  auto loop = scf::ForOp::create(b, scalars.lookup(op.getLowerBound()), scalars.lookup(op.getUpperBound()),
                                 scalars.lookup(op.getStep()), inits);
  scalars.map(op.getInductionVar(), loop.getInductionVar());
  unsigned next = 0;
  for (auto [argument, result] : llvm::zip(op.getRegionIterArgs(), op.getResults()))
    if (!isa<TileType>(argument.getType())) {
      scalars.map(argument, loop.getRegionIterArg(next));
      scalars.map(result, loop.getResult(next++));
    }
  OpBuilder::InsertionGuard guard(b);
  if (inits.empty())
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToEnd(loop.getBody());
  emitBlock(*op.getBody());
  SmallVector<Value> yielded;
  for (auto [argument, value] :
       llvm::zip(op.getRegionIterArgs(), op.getBody()->getTerminator()->getOperands())) {
    if (!isa<TileType>(argument.getType())) {
      yielded.push_back(scalars.lookup(value));
      continue;
    }
    StringAttr lane = plan.laneOf(argument);
    const Place *from = plan.placeOf(value, lane);
    if (value != argument && (!from || !plan.sharePlace(*from, *plan.placeOf(argument, lane))))
      copyTile(value, ownView(argument));
  }
  if (!inits.empty())
    scf::YieldOp::create(b, yielded);
}

void KernelEmitter::emitIf(scf::IfOp op) {
  SmallVector<Type> types;
  for (Value result : op.getResults()) {
    if (isa<TileType>(result.getType()))
      definePlace(result, plan.laneOf(result));
    else
      types.push_back(result.getType().isIndex() ? b.getI64Type() : result.getType());
  }
  auto branch = scf::IfOp::create(b, types, scalars.lookup(op.getCondition()), !op.getElseRegion().empty());
  auto emitRegion = [&](Block &from, Block &to) {
    OpBuilder::InsertionGuard guard(b);
    if (types.empty())
      b.setInsertionPoint(to.getTerminator());
    else
      b.setInsertionPointToEnd(&to);
    emitBlock(from);
    SmallVector<Value> yielded;
    for (auto [result, value] : llvm::zip(op.getResults(), from.getTerminator()->getOperands())) {
      if (isa<TileType>(result.getType()))
        copyTile(value, ownView(result));
      else
        yielded.push_back(scalars.lookup(value));
    }
    if (!types.empty())
      scf::YieldOp::create(b, yielded);
  };
  emitRegion(*op.thenBlock(), *branch.thenBlock());
  if (!op.getElseRegion().empty())
    emitRegion(*op.elseBlock(), *branch.elseBlock());
  unsigned next = 0;
  for (Value result : op.getResults())
    if (!isa<TileType>(result.getType()))
      scalars.map(result, branch.getResult(next++));
}

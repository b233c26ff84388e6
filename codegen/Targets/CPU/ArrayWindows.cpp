// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows of arrays: read in place where they lie whole and contiguous, copied with zeros beyond the bounds
// where not.
#include "codegen/Targets/CPU/ArrayWindows.h"

#include "codegen/Targets/CPU/VectorOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "runtime/artifact.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;
using arith::CmpIPredicate;

/// Known where the value is a constant.
static SmallVector<Index> indicesOf(ArrayRef<Value> values) {
  return llvm::map_to_vector(values, [](Value value) {
    APInt constant;
    return matchPattern(value, m_ConstantInt(&constant)) ? Index(constant.getSExtValue()) : Index(value);
  });
}

void ArrayWindows::loadArrays(KernelOp kernel, Value call, SizeValues &sizes) {
  Type pointerType = call.getType();
  auto field = [&](int32_t offset) {
    Value at = LLVM::GEPOp::create(b, pointerType, b.getI8Type(), call, ArrayRef<LLVM::GEPArg>{offset});
    return LLVM::LoadOp::create(b, pointerType, at);
  };
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
    SmallVector<Value> extents = sizes.of(type);
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
        Value bytes = sizes.workspaceBytes(before);
        workspaceOffset = workspaceOffset ? sizes.add(workspaceOffset, bytes) : bytes;
      }
      workspacesBefore = {type};
      memory.pointer = workspaceOffset ? gep(workspace, b.getI8Type(), Index(workspaceOffset)) : workspace;
      memory.strides = indicesOf(sizes.stridesOf(extents, sizes.workspacePitch(type)));
    }
    arrays[array] = memory;
  }
}

Value ArrayWindows::emitLookup(LookupOp op) {
  const ArrayOperand &memory = arrays[op.getArray()];
  Type element = op.getArray().getType().getElementType();
  Index offset = 0;
  Value inside = arith::ConstantOp::create(b, b.getBoolAttr(true));
  for (auto [i, place] : llvm::enumerate(op.getPlace())) {
    Index at = tiles.scalar(place);
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

Window ArrayWindows::makeWindow(Value array, TileType tile, ArrayAttr arrayAxes, ArrayAttr tileAxes,
                                ValueRange offsets, Value end, StringAttr endAxis) {
  const ArrayOperand &memory = arrays[array];
  auto type = cast<ArrayType>(array.getType());
  Window window;
  window.element = type.getElementType();
  auto addStride = [&](StringAttr axis, Index stride) {
    for (auto &[name, sum] : window.strides)
      if (name == axis) {
        sum = add(sum, stride);
        return;
      }
    window.strides.push_back({axis, stride});
  };
  Index offset = 0;
  for (auto [i, axis] : llvm::enumerate(getWindow(type, tile, arrayAxes, tileAxes, offsets))) {
    Index first = axis.offset ? Index(tiles.scalar(axis.offset)) : Index(0);
    offset = add(offset, multiply(first, memory.strides[i]));
    Index extent = end && type.getAxes()[i].name == endAxis ? Index(tiles.scalar(end)) : memory.extents[i];
    if (axis.tileAxis.empty()) {
      // A coordinate of the grid is within the array by construction.
      if (isPlaceOfGrid(axis.offset, type.getAxes()[i].extent))
        continue;
      window.valid = both(window.valid, both(compare(CmpIPredicate::sge, first, 0),
                                             compare(CmpIPredicate::slt, first, extent)));
      continue;
    }
    StringAttr name = b.getStringAttr(axis.tileAxis), minus;
    addStride(name, memory.strides[i]);
    if (!axis.minusAxis.empty()) {
      minus = b.getStringAttr(axis.minusAxis);
      addStride(minus, multiply(memory.strides[i], -1));
    } else if (!axis.offset && !extent.value && axis.size <= extent.constant) {
      continue;
    }
    Index negative = axis.offset ? Index(arith::SubIOp::create(b, constant(0), asValue(first))) : Index(0);
    Index end = axis.offset ? Index(arith::SubIOp::create(b, asValue(extent), asValue(first))) : extent;
    window.bounds.push_back({name, minus, negative, end});
  }
  window.pointer = gep(memory.pointer, window.element, offset);
  return window;
}

void ArrayWindows::openWrite(Operation *op) {
  auto open = [&](auto write) {
    writes[op] = makeWindow(write.getArray(), write.getTile().getType(), write.getArrayAxes(),
                            write.getTileAxes(), write.getOffsets());
  };
  if (auto store = dyn_cast<StoreOp>(op))
    open(store);
  else
    open(cast<AccumulateOp>(op));
}

Value ArrayWindows::isWithin(const Window::Bound &bound, const Point &point) {
  Index index = point.along(bound.axis);
  if (bound.minus)
    index = subtract(index, point.along(bound.minus));
  return both(compare(CmpIPredicate::sge, index, bound.first), compare(CmpIPredicate::slt, index, bound.end));
}

Value ArrayWindows::rowValid(const Window &window, const Point &point) {
  Value valid = window.valid;
  for (const Window::Bound &bound : window.bounds)
    if (!bound.has(point.lane))
      valid = both(valid, isWithin(bound, point));
  return valid;
}

/// Lanes [first, end) of the vector at `point`, of an axis with `size` elements in the tile.
Value ArrayWindows::laneMask(const Window &window, const Point &point, int64_t size) {
  Index at = point.along(point.lane);
  auto clamp = [&](Index bound) {
    Value distance = arith::SubIOp::create(b, asValue(bound), asValue(at));
    distance = arith::MaxSIOp::create(b, distance, constant(0));
    distance = arith::MinSIOp::create(b, distance, constant(W));
    return splat(arith::TruncIOp::create(b, b.getI32Type(), distance));
  };
  Value mask;
  if (size % W)
    mask = arith::CmpIOp::create(b, CmpIPredicate::slt, iota(), clamp(size));
  for (const Window::Bound &bound : window.bounds) {
    if (!bound.has(point.lane))
      continue;
    // Indices along the lanes that the bound leaves: [first, end).
    Index first = bound.first, end = bound.end;
    if (bound.minus && bound.axis == point.lane) {
      first = add(first, point.along(bound.minus));
      end = add(end, point.along(bound.minus));
    } else if (bound.minus) {
      Index plus = point.along(bound.axis);
      std::tie(first, end) = std::pair(subtract(plus, end) + 1, subtract(plus, first) + 1);
    }
    mask = both(mask, arith::CmpIOp::create(b, CmpIPredicate::sge, iota(), clamp(first)));
    mask = both(mask, arith::CmpIOp::create(b, CmpIPredicate::slt, iota(), clamp(end)));
  }
  return mask;
}

static bool isBound(const Window &window, StringAttr axis) {
  return llvm::any_of(window.bounds, [&](const Window::Bound &bound) { return bound.has(axis); });
}

void ArrayWindows::copyVectors(const Window &window, const TileView &from, const TileView &to,
                               const Point &row, int64_t size) {
  loopVectors(size, [&](Index lane) {
    Point point = row.with(to.lane, lane);
    Value mask;
    if (isBound(window, to.lane))
      mask = laneMask(window, point, size);
    else if (!lane.value)
      mask = tailMask(point, lane.constant / W, size);
    Value vector = loadElements(vectorOf(from.element), address(from, point), mask);
    storeTile(to, fromStorage(vector, to.element), address(to, point));
  });
}

void ArrayWindows::copyElements(const Window &window, const TileView &from, const TileView &to,
                                const Point &row, int64_t size) {
  loopBlocks(size, 1, [&](Index i) {
    Point point = row.with(to.lane, i);
    auto read = [&] { return fromStorage(loadElements(from.element, address(from, point), {}), to.element); };
    if (!isBound(window, to.lane))
      return storeTile(to, read(), address(to, point));
    Value valid;
    for (const Window::Bound &bound : window.bounds)
      if (bound.has(to.lane))
        valid = both(valid, isWithin(bound, point));
    auto branch = scf::IfOp::create(
        b, valid, [&](OpBuilder &, Location) { scf::YieldOp::create(b, ValueRange{read()}); },
        [&](OpBuilder &, Location) {
          scf::YieldOp::create(b, ValueRange{zeroOf(registerType(to.element))});
        });
    storeTile(to, branch.getResult(0), address(to, point));
  });
}

void ArrayWindows::copyWindow(const Window &window, TileType tile, const TileView &to) {
  StringAttr lane = to.lane;
  int64_t size = lane ? tile.getSize(lane) : 1;
  Index laneStride = lane ? window.stride(lane) : Index(0);
  bool contiguous = lane && !laneStride.value && laneStride.constant == 1;
  TileView from;
  from.pointer = window.pointer;
  from.element = window.element;
  from.strides = window.strides;
  auto copyRow = [&](const Point &row) {
    if (contiguous)
      copyVectors(window, from, to, row, size);
    else
      copyElements(window, from, to, row, size);
  };
  loopOver(tile.getAxes(), {lane}, Point{lane, {}}, [&](const Point &row) {
    Value valid = rowValid(window, row);
    if (!valid)
      return copyRow(row);
    scf::IfOp::create(
        b, valid,
        [&](OpBuilder &, Location) {
          copyRow(row);
          scf::YieldOp::create(b);
        },
        [&](OpBuilder &, Location) {
          loopVectors(size, [&](Index first) {
            store(zeroOf(memoryType(vectorOf(to.element))), address(to, row.with(lane, first)));
          });
          scf::YieldOp::create(b);
        });
  });
}

void ArrayWindows::emitWindow(LoadOp op) {
  TileType tile = op.getType();
  StringAttr lane = plan.laneOf(op.getResult());
  const ScratchPlace &place = *plan.placeOf(op.getResult(), lane);
  TileView scratchView = tiles.placeView(place, lane);
  Window window = makeWindow(op.getArray(), tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets(),
                             op.getEnd(), op.getEndAxisAttr());
  if (op.getInside()) {
    window.bounds.clear();
    window.valid = {};
  }
  if (!plan.mayReadInPlace(op)) {
    copyWindow(window, tile, scratchView);
    tiles.addView(op.getResult(), scratchView);
    return;
  }
  // In place: every element within bounds, lanes contiguous.
  Value whole = window.valid;
  for (const Window::Bound &bound : window.bounds)
    whole = both(
        whole, both(compare(CmpIPredicate::sge, bound.minus ? 1 - tile.getSize(bound.minus) : 0, bound.first),
                    compare(CmpIPredicate::sle, tile.getSize(bound.axis), bound.end)));
  if (Index stride = window.stride(lane); stride.value)
    whole = both(whole, compare(CmpIPredicate::eq, stride, 1));
  TileView view = scratchView;
  if (!whole) {
    view.pointer = window.pointer;
    view.strides = window.strides;
    tiles.addView(op.getResult(), view);
    return;
  }
  SmallVector<Type> types = {window.pointer.getType()};
  SmallVector<Value> inMemory = {window.pointer}, inScratch = {scratchView.pointer};
  for (auto &[axis, stride] : view.strides) {
    if (axis == lane)
      continue;
    types.push_back(b.getI64Type());
    inMemory.push_back(asValue(window.stride(axis)));
    inScratch.push_back(asValue(stride));
  }
  auto branch = scf::IfOp::create(
      b, whole, [&](OpBuilder &, Location) { scf::YieldOp::create(b, inMemory); },
      [&](OpBuilder &, Location) {
        copyWindow(window, tile, scratchView);
        scf::YieldOp::create(b, inScratch);
      });
  view.pointer = branch.getResult(0);
  unsigned next = 1;
  for (auto &[axis, stride] : view.strides)
    if (axis != lane) {
      Index memory = window.stride(axis);
      bool same = !memory.value && !stride.value && memory.constant == stride.constant;
      Value chosen = branch.getResult(next++);
      if (!same)
        stride = Index(chosen);
    }
  tiles.addView(op.getResult(), view);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Whether a mask is a constant that has the first lane alone.
static bool isFirstLane(Value mask) {
  DenseElementsAttr lanes;
  return matchPattern(mask, m_Constant(&lanes)) && llvm::count(lanes.getValues<bool>(), true) == 1 &&
         *lanes.value_begin<bool>();
}

void ArrayWindows::writeContiguous(const Window &window, bool accumulate, Value vector, Value where,
                                   Value mask) {
  unsigned alignment = window.element.getIntOrFloatBitWidth() / 8;
  if (accumulate) {
    Value old = loadElements(vectorOf(window.element), where, mask);
    vector = combine(ReductionKind::sum, fromStorage(old, getElementTypeOrSelf(vector.getType())), vector);
  }
  Value stored = toStorage(vector, window.element);
  stored = asType(stored, memoryType(stored.getType()));
  // Of a vector of 16 bits that was truncated, LLVM 22 writes four bytes of a lane that is alone.
  if (mask && isFirstLane(mask))
    store(LLVM::ExtractElementOp::create(b, stored, asValue(Index(0))), where);
  else if (mask)
    LLVM::MaskedStoreOp::create(b, stored, where, mask, b.getI32IntegerAttr(alignment));
  else
    store(stored, where);
}

/// Element by element: lanes that do not lie side by side.
void ArrayWindows::writeScalars(const Window &window, bool accumulate, Value vector, Value where, Value mask,
                                Index stride) {
  loopBlocks(W, 1, [&](Index i) {
    auto write = [&] {
      Value at = gep(where, window.element, multiply(i, stride));
      Value x = LLVM::ExtractElementOp::create(b, vector, asValue(i));
      if (accumulate)
        x = combine(ReductionKind::sum, fromStorage(loadElements(window.element, at, {}), x.getType()), x);
      store(asType(toStorage(x, window.element), memoryType(window.element)), at);
    };
    if (mask)
      emitIf(LLVM::ExtractElementOp::create(b, mask, asValue(i)), write);
    else
      write();
  });
}

Value ArrayWindows::writeMask(Operation *op, const Window &window, const Point &point) {
  if (!point.lane) {
    // All lanes are equal; element 0 is the tile's one.
    SmallVector<bool> first(W, false);
    first[0] = true;
    auto type = cast<VectorType>(vectorOf(b.getI1Type()));
    return arith::ConstantOp::create(b, type, DenseElementsAttr::get(type, ArrayRef<bool>(first)));
  }
  int64_t size = cast<TileType>(op->getOperand(0).getType()).getSize(point.lane);
  if (isBound(window, point.lane))
    return laneMask(window, point, size);
  Index at = point.along(point.lane);
  return at.value ? Value() : tailMask(point, at.constant / W, size);
}

bool ArrayWindows::isPlain(const Window &window, StringAttr lane) const {
  if (!lane || isBound(window, lane))
    return false;
  Index stride = window.stride(lane);
  return !stride.value && stride.constant == 1;
}

/// Whether so many vectors from `point` on lie in the array; null where they surely do, or where that is not
/// asked: masks cost nothing, or the row ends within the vectors.
Value ArrayWindows::lanesValid(Operation *op, const Window &window, const Point &point, int64_t vectors) {
  if (!target.slowMaskedStores || !point.lane || !isBound(window, point.lane))
    return {};
  int64_t size = cast<TileType>(op->getOperand(0).getType()).getSize(point.lane);
  Index first = point.along(point.lane), past = add(first, vectors * W);
  if (!first.value && past.constant > size)
    return {};
  Value valid;
  for (const Window::Bound &bound : window.bounds) {
    if (!bound.has(point.lane))
      continue;
    if (bound.axis != point.lane || bound.minus)
      return {};
    valid = both(valid, both(compare(CmpIPredicate::sge, first, bound.first),
                             compare(CmpIPredicate::sle, past, bound.end)));
  }
  return valid;
}

/// Conditions once per row: a branch for each vector would part what the vectors of a row have in common,
/// which is loaded again after each.
void ArrayWindows::writeRow(Operation *op, ArrayRef<Value> vectors, const Point &point, bool valid) {
  const Window &window = writes[op];
  bool accumulate = isa<AccumulateOp>(op);
  TileView view;
  view.pointer = window.pointer;
  view.element = window.element;
  view.strides = window.strides;
  Index stride = point.lane ? window.stride(point.lane) : Index(1);
  auto writeAll = [&](bool contiguous, bool whole) {
    for (auto [v, vector] : llvm::enumerate(vectors)) {
      Point there = point.moved(point.lane, int64_t(v) * W);
      Value where = address(view, there), mask = whole ? Value() : writeMask(op, window, there);
      if (contiguous)
        writeContiguous(window, accumulate, vector, where, mask);
      else
        writeScalars(window, accumulate, vector, where, mask, stride);
    }
  };
  auto writeVectors = [&] {
    if (Value whole = lanesValid(op, window, point, vectors.size()))
      emitIf(whole, [&] { writeAll(true, true); }, [&] { writeAll(true, false); });
    else
      writeAll(true, false);
  };
  auto write = [&] {
    if (stride.value)
      emitIf(compare(CmpIPredicate::eq, stride, 1), writeVectors, [&] { writeAll(false, false); });
    else if (stride.constant == 1)
      writeVectors();
    else
      writeAll(false, false);
  };
  if (Value condition = valid ? Value() : rowValid(window, point))
    emitIf(condition, write);
  else
    write();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows of arrays: read in place where they lie whole and contiguous, copied with zeros beyond the bounds
// where not.
#include "codegen/Targets/CPU/KernelEmitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;
using arith::CmpIPredicate;

Window KernelEmitter::makeWindow(Value array, TileType tile, ArrayAttr arrayAxes, ArrayAttr tileAxes,
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
    Index first = axis.offset ? Index(scalars.lookup(axis.offset)) : Index(0);
    offset = add(offset, multiply(first, memory.strides[i]));
    Index extent = end && type.getAxes()[i].name == endAxis ? Index(scalars.lookup(end)) : memory.extents[i];
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

Value KernelEmitter::isWithin(const Window::Bound &bound, const Point &point) {
  Index index = point.along(bound.axis);
  if (bound.minus)
    index = subtract(index, point.along(bound.minus));
  return both(compare(CmpIPredicate::sge, index, bound.first), compare(CmpIPredicate::slt, index, bound.end));
}

Value KernelEmitter::rowValid(const Window &window, const Point &point) {
  Value valid = window.valid;
  for (const Window::Bound &bound : window.bounds)
    if (!bound.has(point.lane))
      valid = both(valid, isWithin(bound, point));
  return valid;
}

/// Lanes [first, end) of the vector at `point`, of an axis with `size` elements in the tile.
Value KernelEmitter::laneMask(const Window &window, const Point &point, int64_t size) {
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

/// From the array's element type to the register's.
Value KernelEmitter::fromStorage(Value memory, Type element) {
  Type from = getElementTypeOrSelf(memory.getType());
  Type to = registerType(element);
  if (from == to)
    return memory;
  Type wanted = isa<VectorType>(memory.getType()) ? vectorOf(to) : to;
  if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, wanted, memory);
  return arith::TruncFOp::create(b, wanted, memory);
}

Value KernelEmitter::toStorage(Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  if (auto widened = value.getDefiningOp<arith::ExtFOp>();
      widened && getElementTypeOrSelf(widened.getIn().getType()) == element)
    return widened.getIn();
  if (element.isBF16()) {
    bool isVector = isa<VectorType>(value.getType());
    if (from.isF64())
      value = arith::TruncFOp::create(b, isVector ? vectorOf(b.getF32Type()) : Type(b.getF32Type()), value);
    if (!isVector || !target.hasBF16)
      return emitRoundToBF16(b, value);
  }
  Type wanted = isa<VectorType>(value.getType()) ? vectorOf(element) : element;
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, wanted, value);
  return arith::TruncFOp::create(b, wanted, value);
}

/// 16-bit floats cross memory as integers: LLVM takes bf16 apart with library calls where the target has
/// none.
static Type memoryType(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() != 16)
    return type;
  Type i16 = IntegerType::get(type.getContext(), 16);
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(i16)) : i16;
}

/// The value, or its bits.
static Value asType(ImplicitLocOpBuilder &b, Value value, Type type) {
  return value.getType() == type ? value : Value(arith::BitcastOp::create(b, type, value));
}

Value KernelEmitter::loadElements(Type type, Value where, Value mask) {
  Type inMemory = memoryType(type);
  if (!mask)
    return asType(b, load(inMemory, where), type);
  unsigned alignment = getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
  return asType(b, LLVM::MaskedLoadOp::create(b, inMemory, where, mask, zeroOf(inMemory), alignment), type);
}

Value KernelEmitter::loadTile(const TileView &view, Value where, bool isVector) {
  return fromStorage(loadElements(isVector ? vectorOf(view.element) : view.element, where, {}), view.element);
}

void KernelEmitter::storeTile(const TileView &view, Value vector, Value where) {
  if (getElementTypeOrSelf(vector.getType()).isInteger(1))
    vector = arith::ExtUIOp::create(b, vectorOf(view.element), vector);
  vector = toStorage(vector, view.element);
  store(asType(b, vector, memoryType(vector.getType())), where);
}

static bool isBound(const Window &window, StringAttr axis) {
  return llvm::any_of(window.bounds, [&](const Window::Bound &bound) { return bound.has(axis); });
}

void KernelEmitter::copyVectors(const Window &window, const TileView &from, const TileView &to,
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

void KernelEmitter::copyElements(const Window &window, const TileView &from, const TileView &to,
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

void KernelEmitter::copyWindow(const Window &window, TileType tile, const TileView &to) {
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

void KernelEmitter::emitWindow(LoadOp op) {
  TileType tile = op.getType();
  StringAttr lane = plan.laneOf(op.getResult());
  const ScratchPlace &place = *plan.placeOf(op.getResult(), lane);
  TileView scratchView = placeView(place, lane);
  Window window = makeWindow(op.getArray(), tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets(),
                             op.getEnd(), op.getEndAxisAttr());
  if (op.getInside()) {
    window.bounds.clear();
    window.valid = {};
  }
  if (!plan.mayReadInPlace(op)) {
    copyWindow(window, tile, scratchView);
    views[op.getResult()].push_back(scratchView);
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
    views[op.getResult()].push_back(view);
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
  views[op.getResult()].push_back(view);
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

void KernelEmitter::writeContiguous(const Window &window, bool accumulate, Value vector, Value where,
                                    Value mask) {
  unsigned alignment = window.element.getIntOrFloatBitWidth() / 8;
  if (accumulate) {
    Value old = loadElements(vectorOf(window.element), where, mask);
    vector = combine(ReductionKind::sum, fromStorage(old, getElementTypeOrSelf(vector.getType())), vector);
  }
  Value stored = toStorage(vector, window.element);
  stored = asType(b, stored, memoryType(stored.getType()));
  // Of a vector of 16 bits that was truncated, LLVM 22 writes four bytes of a lane that is alone.
  if (mask && isFirstLane(mask))
    store(LLVM::ExtractElementOp::create(b, stored, asValue(Index(0))), where);
  else if (mask)
    LLVM::MaskedStoreOp::create(b, stored, where, mask, b.getI32IntegerAttr(alignment));
  else
    store(stored, where);
}

/// Element by element: lanes that do not lie side by side.
void KernelEmitter::writeScalars(const Window &window, bool accumulate, Value vector, Value where, Value mask,
                                 Index stride) {
  loopBlocks(W, 1, [&](Index i) {
    auto write = [&] {
      Value at = gep(where, window.element, multiply(i, stride));
      Value x = LLVM::ExtractElementOp::create(b, vector, asValue(i));
      if (accumulate)
        x = combine(ReductionKind::sum, fromStorage(loadElements(window.element, at, {}), x.getType()), x);
      store(asType(b, toStorage(x, window.element), memoryType(window.element)), at);
    };
    if (mask)
      emitIf(LLVM::ExtractElementOp::create(b, mask, asValue(i)), write);
    else
      write();
  });
}

void KernelEmitter::emitIf(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  auto region = [&](function_ref<void()> body) {
    return [this, body](OpBuilder &, Location) {
      body();
      scf::YieldOp::create(b);
    };
  };
  if (otherwise)
    scf::IfOp::create(b, condition, region(then), region(otherwise));
  else
    scf::IfOp::create(b, condition, region(then));
}

Value KernelEmitter::writeMask(Operation *op, const Window &window, const Point &point) {
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

bool KernelEmitter::isPlain(const Window &window, StringAttr lane) const {
  if (!lane || isBound(window, lane))
    return false;
  Index stride = window.stride(lane);
  return !stride.value && stride.constant == 1;
}

/// Whether so many vectors from `point` on lie in the array; null where they surely do, or where that is not
/// asked: masks cost nothing, or the row ends within the vectors.
Value KernelEmitter::lanesValid(Operation *op, const Window &window, const Point &point, int64_t vectors) {
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
/// which is loaded again behind each.
void KernelEmitter::writeRow(Operation *op, ArrayRef<Value> vectors, const Point &point, bool valid) {
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

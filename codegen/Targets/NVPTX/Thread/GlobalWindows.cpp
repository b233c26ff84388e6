// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows of arrays in global memory: the thread's first element once, the others at multiples of strides.
#include "codegen/Targets/NVPTX/Thread/GlobalWindows.h"
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/NVPTX/ScalarFacts.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include <numeric>

using namespace mlir;
using namespace mlir::simt;
using tile::ArrayType;
using tile::Axis;
using tile::ExtentAttr;
using tile::TileType;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

ValueRange GlobalWindows::readArrays(ArrayRef<Value> used, ValueRange parameters,
                                     const tile::SizeValues &sizes) {
  auto take = [&] {
    Value first = parameters.front();
    parameters = parameters.drop_front();
    return first;
  };
  for (Value array : used) {
    auto type = cast<ArrayType>(array.getType());
    ArrayRef<Axis> axes = type.getAxes();
    ArrayValues values;
    values.address = take();
    values.sizes = sizes.of(type);
    int64_t elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
    if (isa<tile::TensorOp>(array.getDefiningOp())) {
      for (unsigned i = 0; i < axes.size(); ++i)
        values.strides.push_back(take());
      values.isContiguous = !axes.empty() && axes.back().extent.isStatic();
      values.alignment = isAligned16(type) ? 16 : elementBytes;
    } else {
      int64_t rowBytes = elementBytes;
      values.strides = sizes.stridesOf(values.sizes);
      values.isContiguous = true;
      if (!axes.empty() && axes.back().extent.isStatic())
        rowBytes *= axes.back().getSize();
      values.alignment = std::gcd(rowBytes, int64_t(16));
    }
    arrays[array] = values;
  }
  findExchangedArrays();
  return parameters;
}

void GlobalWindows::findExchangedArrays() {
  struct Uses {
    int reads = 0, writes = 0;
  };
  llvm::MapVector<Value, Uses> uses;
  places.kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<tile::LoadOp>(op))
      ++uses[load.getArray()].reads;
    else if (auto copy = dyn_cast<CopyOp>(op))
      ++uses[copy.getArray()].reads;
    else if (auto store = dyn_cast<tile::StoreOp>(op))
      ++uses[store.getArray()].writes;
    else if (auto accumulate = dyn_cast<tile::AccumulateOp>(op))
      ++uses[accumulate.getArray()].writes;
  });
  for (auto &[array, counts] : uses)
    arrays[array].isExchanged = counts.writes > 1 || (counts.writes && counts.reads);
}

void GlobalWindows::awaitOthers(Value array, Location loc) {
  if (valuesOf(array).isExchanged)
    places.emitBarrier(loc);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Whether `offset` is the place of the block along this extent: it lies within an axis of the same extent.
static bool isPlaceOfBlock(Value offset, ExtentAttr extent) {
  if (auto place = offset.getDefiningOp<PlaceOp>()) {
    auto around = place->getParentOfType<tile::KernelOp>();
    return around.getExtent(cast<OpResult>(offset).getResultNumber()) == extent;
  }
  return tile::isPlaceOfGrid(offset, extent);
}

/// Whether `size` elements from `offset` (null: 0) on lie within the extent, whatever the sizes.
static bool isInside(Value offset, int64_t size, ExtentAttr extent) {
  if (offset && size == 1 && isPlaceOfBlock(offset, extent))
    return true;
  APInt constant(64, 0);
  if (!extent.isStatic() || (offset && !matchPattern(offset, m_ConstantInt(&constant))))
    return false;
  int64_t first = offset ? constant.getSExtValue() : 0;
  return first >= 0 && first + size <= extent.getSize();
}

WindowAccess GlobalWindows::openWindow(Value array, TileType tile, ArrayAttr arrayAxes, ArrayAttr tileAxes,
                                       ValueRange offsets,
                                       llvm::function_ref<ThreadOffset(StringRef)> placeOf, Value end,
                                       StringAttr endAxis) {
  auto type = cast<ArrayType>(array.getType());
  const ArrayValues &values = valuesOf(array);
  Code code = places.at(array.getLoc());
  WindowAccess window;
  window.elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  Value uniform = code.i64(0), own;
  for (auto [i, axis] : llvm::enumerate(tile::getWindow(type, tile, arrayAxes, tileAxes, offsets))) {
    bool isUnit = values.isContiguous && i + 1 == type.getAxes().size();
    bool isDiagonal = !axis.minusAxis.empty();
    WindowAccess::AccessAxis access{
        axis.tileAxis, axis.minusAxis, isUnit ? Value() : values.strides[i], {}, {}, false};
    auto scaled = [&](Value elements) { return isUnit ? elements : code.mul(elements, access.stride); };
    Value offset = axis.offset ? places.scalar(axis.offset) : Value();
    Value first = offset ? code.narrow(offset) : code.i32(0);
    if (offset)
      uniform = code.add(uniform, scaled(offset));
    if (!axis.tileAxis.empty()) {
      Value plus = placeOf(axis.tileAxis).value, minus = isDiagonal ? placeOf(axis.minusAxis).value : Value();
      auto placeInAxis = [&] { return minus ? code.sub(plus, minus) : plus; };
      first = code.add(first, placeInAxis());
      Value part = places.atStartOfPart([&] {
        Value place = placeInAxis();
        Type i64 = code.builder.getI64Type();
        Value wide = isDiagonal
                         ? arith::ExtSIOp::create(code.builder, array.getLoc(), i64, place).getResult()
                         : arith::ExtUIOp::create(code.builder, array.getLoc(), i64, place).getResult();
        return scaled(wide);
      });
      own = own ? places.atStartOfPart([&] { return code.add(own, part); }) : part;
    }
    ExtentAttr extent = type.getAxes()[i].extent;
    bool endsBefore = end && type.getAxes()[i].name == endAxis;
    if (isDiagonal || endsBefore || !isInside(axis.offset, axis.size, extent)) {
      Value size = code.narrow(endsBefore ? places.scalar(end) : values.sizes[i]);
      if (axis.tileAxis.empty()) {
        window.inside = code.both(window.inside, code.lessUnsigned(first, size));
      } else {
        access.belowToo = isDiagonal || (axis.offset && !isNonNegative(axis.offset));
        access.size = size;
        access.first = first;
      }
    }
    window.axes.push_back(access);
  }
  window.pointer = values.address;
  if (own)
    window.pointer =
        places.atStartOfPart([&] { return code.offset(values.address, code.mul(own, window.elementBytes)); });
  window.pointer = code.offset(window.pointer, code.mul(uniform, window.elementBytes));
  return window;
}

Value GlobalWindows::pointerAt(const WindowAccess &window, llvm::function_ref<int64_t(StringRef)> offsetOf) {
  Code code = places.at(places.kernel);
  Value moved;
  int64_t constant = 0;
  for (const WindowAccess::AccessAxis &axis : window.axes) {
    int64_t offset = WindowAccess::offsetAlong(axis, offsetOf) * int64_t(window.elementBytes);
    if (!axis.stride)
      constant += offset;
    else if (offset)
      moved = moved ? code.add(moved, code.mul(axis.stride, offset)) : code.mul(axis.stride, offset);
  }
  Value pointer = moved ? code.offset(window.pointer, moved) : window.pointer;
  return code.offset(pointer, constant);
}

Value GlobalWindows::guardAt(const WindowAccess &window, llvm::function_ref<int64_t(StringRef)> offsetOf) {
  Code code = places.at(places.kernel);
  Value guard = window.inside;
  for (const WindowAccess::AccessAxis &axis : window.axes) {
    if (!axis.size)
      continue;
    int64_t offset = WindowAccess::offsetAlong(axis, offsetOf);
    // Where no element is below the array, its end is compared with a constant.
    Value inside = axis.belowToo ? code.lessUnsigned(code.add(axis.first, offset), axis.size)
                                 : code.less(code.i32(offset), code.sub(axis.size, axis.first));
    guard = code.both(guard, inside);
  }
  return guard;
}

int64_t GlobalWindows::neighbours(Value array, LayoutAttr layout, TileType tile, ArrayAttr arrayAxes,
                                  ArrayAttr tileAxes, ValueRange offsets) {
  auto type = cast<ArrayType>(array.getType());
  const ArrayValues &values = valuesOf(array);
  if (type.getAxes().empty() || !values.isContiguous || !type.getAxes().back().extent.isStatic())
    return 1;
  tile::WindowAxis axis = tile::getWindow(type, tile, arrayAxes, tileAxes, offsets).back();
  int64_t bytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  if (axis.tileAxis.empty() || !axis.minusAxis.empty())
    return 1;
  // The first of them is a multiple, too, of what divides offset and size.
  int64_t divisor = std::gcd(leadingRegisters(layout, axis.tileAxis), type.getAxes().back().getSize());
  divisor = std::gcd(divisor, divisorOf(axis.offset));
  int64_t count = 1;
  while (2 * count * bytes <= 16 && divisor % (2 * count) == 0 && values.alignment % (2 * count * bytes) == 0)
    count *= 2;
  return count;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Whether only maps read a tile of one number per diagonal. They load each where they need it: all at once
/// would be a score tile more in registers.
static bool isLoadedByReaders(tile::LoadOp op) {
  auto isDiagonal = [](const tile::WindowAxis &axis) { return !axis.minusAxis.empty(); };
  bool isWritten = llvm::any_of(op.getArray().getUsers(), [&](Operation *user) {
    return isa<tile::StoreOp, tile::AccumulateOp>(user) &&
           user->getParentOfType<tile::KernelOp>() == op->getParentOfType<tile::KernelOp>();
  });
  return !isWritten && llvm::all_of(op->getUsers(), llvm::IsaPred<tile::MapOp>) &&
         llvm::any_of(tile::getWindow(op.getArray().getType(), op.getType(), op.getArrayAxes(),
                                      op.getTileAxes(), op.getOffsets()),
                      isDiagonal);
}

/// All threads read the one element.
Value GlobalWindows::emitLookup(tile::LookupOp op) {
  Code code = places.at(op);
  const ArrayValues &values = valuesOf(op.getArray());
  Type element = op.getArray().getType().getElementType();
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value offset = code.i64(0), inside;
  for (auto [i, place] : llvm::enumerate(op.getPlace())) {
    Value at = places.scalar(place);
    offset = code.add(offset, code.mul(at, values.strides[i]));
    if (!isPlaceOfBlock(place, op.getArray().getType().getAxes()[i].extent))
      inside = code.both(inside, code.lessUnsigned(at, values.sizes[i]));
  }
  Value pointer = code.offset(values.address, code.mul(offset, bytes));
  Value number =
      elementsOfWords(code, code.load(pointer, AddressSpace::global, wordsOf(1, bytes), inside), element)
          .front();
  return arith::FPToSIOp::create(code.builder, op.getLoc(), code.builder.getI64Type(), number);
}

void GlobalWindows::emitLoad(tile::LoadOp op) {
  Code code = places.at(op);
  Value array = op.getArray();
  LayoutAttr layout = layoutOf(op.getType());
  Type storage = op.getArray().getType().getElementType(),
       element = elementTypeOf(op.getType().getElementType());
  awaitOthers(array, op.getLoc());
  WindowAccess window = openWindow(
      array, op.getType(), op.getArrayAxes(), op.getTileAxes(), op.getOffsets(),
      [&](StringRef axis) { return places.placeOf(layout, axis); }, op.getEnd(), op.getEndAxisAttr());
  if (op.getInside()) {
    window.inside = {};
    for (WindowAccess::AccessAxis &axis : window.axes)
      axis.size = {};
  }
  int64_t together =
      neighbours(array, layout, op.getType(), op.getArrayAxes(), op.getTileAxes(), op.getOffsets());
  Words words = wordsOf(together, window.elementBytes);
  bool alone = llvm::any_of(layout.getRegisters(), [&](const Digit &digit) {
    return leavesOddWords(digit.count, window.elementBytes);
  });
  auto loadFrom = [=, this](int64_t i) {
    auto offsetOf = [&](StringRef axis) { return layout.getOffset(i, axis); };
    SmallVector<Value> values = elementsOfWords(
        code,
        code.load(pointerAt(window, offsetOf), AddressSpace::global, words, guardAt(window, offsetOf), alone),
        storage);
    if (isa<FloatType>(element))
      for (Value &value : values)
        value = code.convert(value, element);
    return values;
  };
  if (isLoadedByReaders(op)) {
    tiles.setLoad(op, [=](int64_t i) { return loadFrom(i).front(); });
    return;
  }
  SmallVector<Value> values;
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; i += together)
    llvm::append_range(values, loadFrom(i));
  tiles.setTile(op, values);
}

/// Adds to global memory without waiting for the result.
static void addTo(Code code, Value pointer, Value value, Value guard) {
  Type type = value.getType();
  if (type.isF32() || type.isF64()) {
    std::string text = "red.global.add.", constraints = type.isF32() ? "l,f" : "l,d";
    text += type.isF32() ? "f32 [$0], $1;" : "f64 [$0], $1;";
    SmallVector<Value> operands = {pointer, value};
    if (guard) {
      text = "@$2 " + text;
      constraints += ",b";
      operands.push_back(guard);
    }
    code.assembly(text, constraints, {}, operands);
    return;
  }
  // 16-bit sums are the thread's alone.
  Words words = wordsOf(1, type.getIntOrFloatBitWidth() / 8);
  Type wide = code.builder.getF32Type();
  Value old = elementsOfWords(code, code.load(pointer, AddressSpace::global, words, guard), type).front(),
        sum;
  if (isa<FloatType>(type))
    sum = code.convert(
        arith::AddFOp::create(code.builder, code.loc, code.convert(old, wide), code.convert(value, wide)),
        type);
  else
    sum = arith::AddIOp::create(code.builder, code.loc, old, value);
  code.store(wordsOfElements(code, {sum}, words), pointer, AddressSpace::global, words, guard);
}

template <typename Op> void GlobalWindows::emitToGlobal(Op op, bool accumulate) {
  Code code = places.at(op);
  TileType tile = op.getTile().getType();
  Value array = op.getArray();
  LayoutAttr layout = layoutOf(tile);
  Type storage = op.getArray().getType().getElementType();
  awaitOthers(array, op.getLoc());
  WindowAccess window = openWindow(array, tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets(),
                                   [&](StringRef axis) { return places.placeOf(layout, axis); });
  window.inside = code.both(window.inside, places.isWriter(layout));
  int64_t together =
      accumulate ? 1 : neighbours(array, layout, tile, op.getArrayAxes(), op.getTileAxes(), op.getOffsets());
  Words words = wordsOf(together, window.elementBytes);
  ThreadRegisters registers = tiles.tileOf(op.getTile());
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; i += together) {
    auto offsetOf = [&](StringRef axis) { return layout.getOffset(i, axis); };
    SmallVector<Value> elements;
    for (int64_t k = 0; k < together; ++k) {
      Value value = tiles.element(registers, i + k, op.getLoc());
      elements.push_back(isa<FloatType>(storage) ? code.convert(value, storage) : value);
    }
    Value pointer = pointerAt(window, offsetOf), guard = guardAt(window, offsetOf);
    if (accumulate)
      addTo(code, pointer, elements.front(), guard);
    else
      code.store(wordsOfElements(code, elements, words), pointer, AddressSpace::global, words, guard);
  }
}

void GlobalWindows::emitStore(tile::StoreOp op) { emitToGlobal(op, false); }
void GlobalWindows::emitAccumulate(tile::AccumulateOp op) { emitToGlobal(op, true); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The layouts that programs use: fragments of matrix instructions, and blocks for what is local to elements.
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::simt;
using tile::Axis;
using tile::TileType;

namespace {

/// Hands out the digits of each axis, smallest stride first.
class Digits {
public:
  explicit Digits(MLIRContext *context) : context(context) {}

  void add(StringRef axis, int64_t size) { rest[axis] = {1, size}; }
  int64_t left(StringRef axis) const { return rest.lookup(axis).size; }
  /// Up to `count` elements of the axis, as a digit of a register number.
  void inRegisters(StringRef axis, int64_t count) {
    Digit digit = take(axis, count);
    if (count > 1)
      registers.push_back(digit);
  }
  /// One bit of a lane or warp number; a copy where the axis has nothing even left.
  void inLanes(StringRef axis) { lanes.push_back(bit(axis)); }
  void inWarps(StringRef axis) { warps.push_back(bit(axis)); }
  /// Bits that choose nothing.
  void replicate() { lanes.resize(5); }
  LayoutAttr finish(int64_t numWarps) {
    lanes.resize(5);
    warps.resize(llvm::Log2_64(numWarps));
    return LayoutAttr::get(context, lanes, warps, registers);
  }

  SmallVector<Digit> lanes, warps, registers;

private:
  struct Rest {
    int64_t stride = 1, size = 1;
  };
  Digit take(StringRef axis, int64_t count) {
    Rest &left = rest[axis];
    Digit digit{StringAttr::get(context, axis), left.stride, count};
    left = {left.stride * count, left.size / count};
    return digit;
  }
  Digit bit(StringRef axis) { return left(axis) % 2 == 0 ? take(axis, 2) : Digit(); }

  MLIRContext *context;
  llvm::StringMap<Rest> rest;
};

} // namespace

LayoutAttr mlir::simt::getFragmentLayout(MLIRContext *context, const FragmentShape &shape, int64_t warps) {
  Digits digits(context);
  StringRef rows = shape.rows, columns = shape.columns;
  digits.add(rows, shape.numRows);
  digits.add(columns, shape.numColumns);
  digits.inRegisters(columns, 2);
  digits.inLanes(columns);
  digits.inLanes(columns);
  for (int i = 0; i < 3; ++i)
    digits.inLanes(rows);
  if (digits.left(rows) % 2 == 0)
    digits.inRegisters(rows, 2);
  int64_t columnWarps = std::min(shape.columnWarps, digits.left(columns));
  auto spreadColumns = [&] {
    for (int64_t warp = 1; warp < columnWarps; warp *= 2)
      digits.inWarps(columns);
  };
  // A warp's columns lie side by side if they begin at a power of two, and else between those of the others:
  // only then is a swizzled place its warp's and lane's part with bits flipped, and not an address of its
  // own.
  bool interleaves = !llvm::isPowerOf2_64(digits.left(columns) / columnWarps);
  if (interleaves)
    spreadColumns();
  SmallVector<Digit> warpsOfColumns = std::exchange(digits.warps, {});
  digits.inRegisters(columns, digits.left(columns) / (interleaves ? 1 : columnWarps));
  // Warps that find no rows of their own hold copies.
  int64_t rowWarps = shape.rowWarps;
  while (digits.left(rows) % rowWarps)
    rowWarps /= 2;
  if (!shape.warpsFirst)
    digits.inRegisters(rows, digits.left(rows) / rowWarps);
  for (int64_t warp = 1; warp < rowWarps; warp *= 2)
    digits.inWarps(rows);
  digits.inRegisters(rows, digits.left(rows));
  digits.warps.resize(llvm::Log2_64(shape.rowWarps));
  llvm::append_range(digits.warps, warpsOfColumns);
  if (!interleaves)
    spreadColumns();
  return digits.finish(warps);
}

LayoutAttr mlir::simt::getBlockedLayout(TileType tile, StringRef contiguous, int64_t vector,
                                        int64_t lanesAlong, int64_t warps) {
  Digits digits(tile.getContext());
  for (const Axis &axis : tile.getAxes())
    digits.add(axis.getName(), axis.getSize());
  int64_t along = tile.getSize(contiguous);
  if (along) {
    while (along % vector)
      vector /= 2;
    digits.inRegisters(contiguous, vector);
    for (int64_t covered = vector; digits.lanes.size() < 5 && digits.left(contiguous) % 2 == 0 &&
                                   (lanesAlong == 0 || 2 * covered <= lanesAlong);
         covered *= 2)
      digits.inLanes(contiguous);
  }
  // Then along the other axes, first in lanes, then in warps.
  for (const Axis &axis : tile.getAxes()) {
    StringRef name = axis.getName();
    if (name == contiguous)
      continue;
    while (digits.lanes.size() < 5 && digits.left(name) % 2 == 0)
      digits.inLanes(name);
    while (int64_t(1) << digits.warps.size() < warps && digits.left(name) % 2 == 0) {
      digits.replicate();
      digits.inWarps(name);
    }
  }
  // What is left of the contiguous axis may still be spread over warps, unless it has to stay with its lanes.
  if (lanesAlong == 0)
    while (along && int64_t(1) << digits.warps.size() < warps && digits.left(contiguous) % 2 == 0) {
      digits.replicate();
      digits.inWarps(contiguous);
    }
  for (const Axis &axis : tile.getAxes())
    digits.inRegisters(axis.getName(), digits.left(axis.getName()));
  return digits.finish(warps);
}

LayoutAttr mlir::simt::getSerialLayout(TileType tile, StringRef axis, int64_t warps) {
  Digits digits(tile.getContext());
  for (const Axis &other : tile.getAxes())
    digits.add(other.getName(), other.getSize());
  digits.inRegisters(axis, tile.getSize(axis));
  for (const Axis &other : tile.getAxes()) {
    StringRef name = other.getName();
    while (digits.lanes.size() < 5 && digits.left(name) % 2 == 0)
      digits.inLanes(name);
    while (int64_t(1) << digits.warps.size() < warps && digits.left(name) % 2 == 0) {
      digits.replicate();
      digits.inWarps(name);
    }
    digits.inRegisters(name, digits.left(name));
  }
  return digits.finish(warps);
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

/// Digits along the axis whose strides are changed by `change`; what it returns with count 1 is left out.
static LayoutAttr changeDigits(LayoutAttr layout, StringRef axis,
                               function_ref<Digit(Digit, bool inRegister)> change) {
  auto changeAll = [&](ArrayRef<Digit> digits, bool inRegister) {
    SmallVector<Digit> changed;
    for (Digit digit : digits) {
      if (digit.isAlong(axis))
        digit = change(digit, inRegister);
      if (!inRegister || digit.count != 1)
        changed.push_back(digit);
    }
    return changed;
  };
  return LayoutAttr::get(layout.getContext(), changeAll(layout.getLanes(), false),
                         changeAll(layout.getWarps(), false), changeAll(layout.getRegisters(), true));
}

LayoutAttr mlir::simt::cutLayout(LayoutAttr layout, const AxisSlice &slice) {
  // Digits below the slice's stride, and those of its size and above, must be registers: there a thread has
  // all values of the digit and keeps some.
  bool fits = true;
  LayoutAttr cut = changeDigits(layout, slice.axis, [&](Digit digit, bool inRegister) {
    int64_t end = digit.stride * digit.count, reach = slice.size * slice.stride;
    if (digit.stride >= slice.stride && end <= reach) {
      fits &= digit.stride % slice.stride == 0;
      digit.stride /= slice.stride;
      return digit;
    }
    fits &= inRegister;
    if (end <= slice.stride || digit.stride >= reach) {
      digit.count = 1;
      return digit;
    }
    // A digit that the slice cuts in two: of stride first, then of size.
    int64_t first = std::max<int64_t>(slice.stride / digit.stride, 1);
    int64_t last = std::min(digit.count, reach / digit.stride);
    fits &=
        last % first == 0 && (first == 1 || slice.stride % digit.stride == 0) && reach % digit.stride == 0;
    fits &= slice.offset / slice.stride * slice.stride % digit.stride == 0;
    digit.count = last / first;
    digit.stride = std::max<int64_t>(digit.stride / slice.stride, 1);
    return digit;
  });
  // The offset is chosen by registers alone: along digits that are kept whole it is 0.
  for (const Digit &digit : llvm::concat<const Digit>(layout.getLanes(), layout.getWarps()))
    if (digit.isAlong(slice.axis))
      fits &= slice.offset / digit.stride % 2 == 0 || digit.stride < slice.stride;
  return fits ? cut : LayoutAttr();
}

LayoutAttr mlir::simt::extendLayout(LayoutAttr layout, const AxisSlice &slice, int64_t size) {
  int64_t reach = slice.size * slice.stride;
  if (size % reach)
    return {};
  LayoutAttr wide = changeDigits(layout, slice.axis, [&](Digit digit, bool) {
    digit.stride *= slice.stride;
    return digit;
  });
  StringAttr axis = StringAttr::get(layout.getContext(), slice.axis);
  SmallVector<Digit> registers;
  if (slice.stride > 1)
    registers.push_back({axis, 1, slice.stride});
  llvm::append_range(registers, wide.getRegisters());
  if (size > reach) {
    if (!registers.empty() && registers.back().axis == axis &&
        registers.back().stride * registers.back().count == reach)
      registers.back().count *= size / reach;
    else
      registers.push_back({axis, reach, size / reach});
  }
  return LayoutAttr::get(layout.getContext(), wide.getLanes(), wide.getWarps(), registers);
}

std::optional<FragmentAxes> mlir::simt::getFragmentAxes(LayoutAttr layout) {
  ArrayRef<Digit> lanes = layout.getLanes();
  auto is = [](const Digit &digit, StringAttr axis, int64_t stride) {
    return axis && digit.axis == axis && digit.stride == stride;
  };
  StringAttr columns = lanes[0].axis, rows = lanes[2].axis;
  if (rows == columns || !is(lanes[0], columns, 2) || !is(lanes[1], columns, 4) || !is(lanes[2], rows, 1) ||
      !is(lanes[3], rows, 2) || !is(lanes[4], rows, 4))
    return std::nullopt;
  return FragmentAxes{rows, columns};
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arrays of a call, and windows of them that become tiles or that tiles are written to.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_ARRAYWINDOWS_H
#define TAYLOR_CODEGEN_TARGETS_CPU_ARRAYWINDOWS_H
#include "codegen/Targets/CPU/TileElements.h"
#include "codegen/Targets/Frame/SizeValues.h"

namespace mlir::tile::cpu {

/// Memory of an array in this call.
struct ArrayOperand {
  Value pointer;
  SmallVector<Index> strides, extents; // in elements, one per axis
};

/// A window of an array, seen from the tile.
struct Window {
  struct Bound {
    StringAttr axis;
    StringAttr minus; // null, or the axis that is subtracted where two lie along one of the array
    Index first, end; // indices along the axis (differences of two) that lie within the array
    bool has(StringAttr name) const { return axis == name || (minus && minus == name); }
  };
  Value pointer;                                     // where element 0 of all axes is, or would be
  Type element;                                      // in memory
  SmallVector<std::pair<StringAttr, Index>> strides; // of the tile's axes, in elements; each once
  SmallVector<Bound, 2> bounds;                      // of axes that may leave the array
  Value valid; // i1; null: the axes that the tile lacks are surely within the array
  Index stride(StringAttr axis) const {
    for (auto &[name, stride] : strides)
      if (name == axis)
        return stride;
    return 0;
  }
};

/// Reads windows in place where they lie whole and contiguous, and copies them with zeros beyond the array's
/// bounds where not; writes rows of tiles to arrays.
class ArrayWindows : VectorCode {
public:
  explicit ArrayWindows(TileElements &tiles) : VectorCode(tiles), plan(tiles.plan), tiles(tiles) {}

  /// Loads what `call` (TaylorCall) says of the arrays that the kernel uses.
  void loadArrays(KernelOp kernel, Value call, SizeValues &sizes);
  Value addressOf(Value array) const { return arrays.lookup(array).pointer; }
  Value emitLookup(LookupOp op);
  void emitWindow(LoadOp op);

  /// The window of a store or accumulation, from here on.
  void openWrite(Operation *op);
  /// Whether a row at `point` lies in the array that the op writes to; null: surely.
  Value rowValid(Operation *op, const Point &point) { return rowValid(writes[op], point); }
  /// Whether vectors along the lane are written without a condition on their elements.
  bool isPlain(Operation *op, StringAttr lane) { return isPlain(writes[op], lane); }
  /// Writes a row's vectors from `point` on. `valid`: the row is known to lie in the array.
  void writeRow(Operation *op, ArrayRef<Value> vectors, const Point &point, bool valid);

private:
  /// `end`: where the array ends along `endAxis`, if it does so earlier.
  Window makeWindow(Value array, TileType tile, ArrayAttr arrayAxes, ArrayAttr tileAxes, ValueRange offsets,
                    Value end = {}, StringAttr endAxis = {});
  void copyWindow(const Window &window, TileType tile, const TileView &to);
  /// Copy one row of a window, `size` elements along `to`'s lane, with zeros beyond the window's bounds.
  void copyVectors(const Window &window, const TileView &from, const TileView &to, const Point &row,
                   int64_t size);
  void copyElements(const Window &window, const TileView &from, const TileView &to, const Point &row,
                    int64_t size);
  /// Whether an element is within a bound.
  Value isWithin(const Window::Bound &bound, const Point &point);
  Value rowValid(const Window &window, const Point &point);
  Value laneMask(const Window &window, const Point &point, int64_t size);
  bool isPlain(const Window &window, StringAttr lane) const;
  Value lanesValid(Operation *op, const Window &window, const Point &point, int64_t vectors);
  void writeContiguous(const Window &window, bool accumulate, Value vector, Value where, Value mask);
  void writeScalars(const Window &window, bool accumulate, Value vector, Value where, Value mask,
                    Index stride);
  /// Lanes of the vector at `point` that lie in the array and in the tile; null: all.
  Value writeMask(Operation *op, const Window &window, const Point &point);

  const KernelPlan &plan;
  TileElements &tiles;
  DenseMap<Value, ArrayOperand> arrays;
  DenseMap<Operation *, Window> writes;
};

} // namespace mlir::tile::cpu
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arrays of a kernel, and windows of them that become tiles or that tiles are written to.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_GLOBALWINDOWS_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_GLOBALWINDOWS_H

#include "codegen/Targets/Frame/SizeValues.h"
#include "codegen/Targets/NVPTX/Thread/ThreadTiles.h"

namespace mlir::simt {

/// Address of an array, and elements from one to the next along each axis.
struct ArrayValues {
  Value address;              ///< in global memory
  SmallVector<Value> strides; ///< i64
  SmallVector<Value> sizes;   ///< i64
  bool isContiguous = false;  ///< the last stride is 1
  int64_t alignment = 1;      ///< bytes that the address and all other strides are a multiple of
  bool isExchanged = false;   ///< threads read what others wrote
};

/// The thread's view of a window of an array, for one layout.
struct WindowAccess {
  /// Along an axis of the array.
  struct AccessAxis {
    StringRef tileAxis;    ///< empty: one element
    StringRef minusAxis;   ///< subtracted, where two axes lie along one of the array; empty: none
    Value stride;          ///< i64, null: 1
    Value size, first;     ///< i32: of the array, of the thread's first element; null where all is inside
    bool belowToo = false; ///< the first element may be negative
  };
  /// Elements along an axis of the array from the thread's first one, given those along the tile's.
  static int64_t offsetAlong(const AccessAxis &axis, llvm::function_ref<int64_t(StringRef)> offsetOf) {
    if (axis.tileAxis.empty())
      return 0;
    return offsetOf(axis.tileAxis) - (axis.minusAxis.empty() ? 0 : offsetOf(axis.minusAxis));
  }
  Value pointer; ///< at the thread's first element
  Value inside;  ///< whether single elements are inside; null: yes
  SmallVector<AccessAxis> axes;
  unsigned elementBytes = 4;
};

/// Knows the arrays' addresses, sizes and strides: where a thread's elements of a window are, and which of
/// them the array has.
class GlobalWindows {
public:
  GlobalWindows(ThreadPlaces &places, ThreadTiles &tiles) : places(places), tiles(tiles) {}

  /// Takes the arrays' parameters, and returns those that follow them.
  ValueRange readArrays(ArrayRef<Value> used, ValueRange parameters, const tile::SizeValues &sizes);
  const ArrayValues &valuesOf(Value array) const { return arrays.find(array)->second; }
  /// A barrier before an access, where other threads may have accessed the same elements.
  void awaitOthers(Value array, Location loc);

  // Windows
  /// `placeOf` gives the thread's place along an axis of the tile. `end`: where the array ends along
  /// `endAxis`, if it does so earlier.
  WindowAccess openWindow(Value array, tile::TileType tile, ArrayAttr arrayAxes, ArrayAttr tileAxes,
                          ValueRange offsets, llvm::function_ref<ThreadOffset(StringRef)> placeOf,
                          Value end = {}, StringAttr endAxis = {});
  /// Address of, and condition for, the element at constant distances from the thread's first.
  Value pointerAt(const WindowAccess &window, llvm::function_ref<int64_t(StringRef)> offsetOf);
  Value guardAt(const WindowAccess &window, llvm::function_ref<int64_t(StringRef)> offsetOf);

  // Operations
  /// The number, an i64.
  Value emitLookup(tile::LookupOp op);
  void emitLoad(tile::LoadOp op);
  void emitStore(tile::StoreOp op);
  void emitAccumulate(tile::AccumulateOp op);

private:
  void findExchangedArrays();
  /// Neighbours in memory that registers r, r + 1, .. hold, for any r that is a multiple: at most 16 bytes.
  int64_t neighbours(Value array, LayoutAttr layout, tile::TileType tile, ArrayAttr arrayAxes,
                     ArrayAttr tileAxes, ValueRange offsets);
  template <typename Op> void emitToGlobal(Op op, bool accumulate);

  ThreadPlaces &places;
  ThreadTiles &tiles;
  DenseMap<Value, ArrayValues> arrays;
};

} // namespace mlir::simt
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel as the code of one thread: tiles become registers, buffers become addresses. See README.md.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_THREADEMITTER_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_THREADEMITTER_H

#include "codegen/Targets/Frame/KernelFrame.h"
#include "codegen/Targets/Frame/Scalars.h"
#include "codegen/Targets/NVPTX/Contract.h"
#include "codegen/Targets/NVPTX/Thread/SharedSlots.h"
#include "codegen/Targets/NVPTX/Thread/Started.h"
#include "codegen/Targets/NVPTX/Thread/ThreadTiles.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <optional>

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
  struct Axis {
    StringRef tileAxis;    ///< empty: one element
    StringRef minusAxis;   ///< subtracted, where two axes lie along one of the array; empty: none
    Value stride;          ///< i64, null: 1
    Value size, first;     ///< i32: of the array, of the thread's first element; null where all is inside
    bool belowToo = false; ///< the first element may be negative
  };
  /// Elements along an axis of the array from the thread's first one, given those along the tile's.
  static int64_t offsetAlong(const Axis &axis, llvm::function_ref<int64_t(StringRef)> offsetOf) {
    if (axis.tileAxis.empty())
      return 0;
    return offsetOf(axis.tileAxis) - (axis.minusAxis.empty() ? 0 : offsetOf(axis.minusAxis));
  }
  Value pointer; ///< at the thread's first element
  Value inside;  ///< whether single elements are inside; null: yes
  SmallVector<Axis> axes;
  unsigned elementBytes = 4;
};

/// Emits one tile.kernel as an llvm.func.
class ThreadEmitter : tile::KernelFrame {
public:
  /// `cacheBytes`: what the second-level cache holds; 0: no limit.
  ThreadEmitter(tile::KernelOp kernel, OpBuilder &builder, LLVM::GlobalOp shared, int64_t cacheBytes);
  /// The function, at the end of the module; failure after a diagnostic.
  LogicalResult emit(ModuleOp module);

private:
  // Kernel.cpp: parameters, sizes, strides, the place in the grid
  FailureOr<LLVM::LLVMFuncOp> makeFunction(ModuleOp module, ArrayRef<Value> arrays);
  void readParameters(LLVM::LLVMFuncOp function, ArrayRef<Value> arrays);
  void findExchangedArrays();

  // GridOrder.cpp
  void placeInGrid();
  /// The places of a number, an i32, in the grid: an i64 for each extent.
  SmallVector<Value> placesOf(Value number);
  void emitOwnTiles(OwnTilesOp op);
  void emitPlace(PlaceOp op);
  Value headsOfSection(tile::LongestAttr longest, Value heads);

  // Control.cpp: blocks, and what a tile is to loops and branches: all of its registers
  LogicalResult emitBlock(Block &block) override;
  LogicalResult emitOp(Operation *op);
  Value addressOf(Value array) override { return arrays[array].address; }
  SmallVector<Value> valuesOf(Value tile) override { return tiles.tileOf(tile).parts; }
  void setValues(Value tile, ValueRange values) override { tiles.setParts(tile, values); }

  // Elementwise.cpp
  LogicalResult emitMap(tile::MapOp op);
  /// What the region of a map reads of an operand for one register of the result.
  FailureOr<Value> argumentOf(tile::MapOp op, Value input, int64_t number);
  /// Whether the registers of a map are a loop: it has elementary functions, and the kernel more of them than
  /// the code generator should see unrolled. Tiles are in local memory then, which alone has places that a
  /// loop can count.
  bool isLoop(tile::MapOp op);
  LogicalResult emitMapAsLoop(tile::MapOp op, llvm::function_ref<SmallVector<Value>(ArrayRef<Value>)> body);
  FailureOr<Value> localOperand(tile::MapOp op, Value input, unsigned number);
  LogicalResult emitSplat(tile::SplatOp op);
  LogicalResult emitPosition(tile::PositionOp op);

  // Rearrange.cpp
  LogicalResult emitReduce(Operation *op, tile::ReductionKind kind, Value input, Value result);
  LogicalResult emitScan(tile::ScanOp op);
  LogicalResult emitSlice(tile::SliceOp op);
  LogicalResult emitConcat(tile::ConcatOp op);
  LogicalResult emitRelayout(RelayoutOp op);
  Value combine(tile::ReductionKind kind, Value a, Value b);

  // Global.cpp
  void emitLookup(tile::LookupOp op);
  LogicalResult emitLoad(tile::LoadOp op);
  LogicalResult emitStore(tile::StoreOp op);
  LogicalResult emitAccumulate(tile::AccumulateOp op);
  /// `placeOf` gives the thread's place along an axis of the tile. `end`: where the array ends along
  /// `endAxis`, if it does so earlier.
  WindowAccess openWindow(Value array, tile::TileType tile, ArrayAttr arrayAxes, ArrayAttr tileAxes,
                          ValueRange offsets, llvm::function_ref<ThreadOffset(StringRef)> placeOf,
                          Value end = {}, StringAttr endAxis = {});
  /// Address of, and condition for, the element at constant places beside the thread's first.
  Value pointerAt(const WindowAccess &window, llvm::function_ref<int64_t(StringRef)> offsetOf);
  Value guardAt(const WindowAccess &window, llvm::function_ref<int64_t(StringRef)> offsetOf);
  /// Neighbours in memory that registers r, r + 1, .. hold, for any r that is a multiple: at most 16 bytes.
  int64_t neighbours(Value array, LayoutAttr layout, tile::TileType tile, ArrayAttr arrayAxes,
                     ArrayAttr tileAxes, ValueRange offsets);
  template <typename Op> LogicalResult emitToGlobal(Op op, bool accumulate);

  // Copy.cpp
  LogicalResult emitCopy(CopyOp op);
  LogicalResult emitPieces(CopyOp op);

  // Roles.cpp
  LogicalResult emitRoles(RolesOp op);
  void initialiseRings();

  // Ring.cpp
  LogicalResult emitUse(Operation *op, Value ring, Value number);
  LogicalResult emitFill(CopyOp op);
  LogicalResult emitPiecesOfUse(CopyOp op, Value full);
  void emitBoxes(CopyOp op, const Box &box, Value signal);
  void emitCutBoxes(CopyOp op, const Box &box, Value full);
  void emitZeros(CopyOp op, Value first);
  Value isWhole(CopyOp op);
  Value countRows(CopyOp op);
  void emitRelease(ReleaseOp op);
  Value signalOf(RingOp ring, Value slot, bool isEmpty);
  void waitForSignal(Location loc, Value signal, Value parity);
  void arriveOnce(Location loc, Value signal);
  bool isReadByProducts(Value ring);
  Value isElected(Location loc);

  // Shared.cpp
  LogicalResult emitRead(ReadOp op);
  LogicalResult emitWrite(WriteOp op);

  LLVM::GlobalOp shared;
  int64_t cacheBytes;
  ThreadPlaces places;
  ThreadTiles tiles;
  SharedSlots slots;
  StartedProducts started;
  SmallVector<std::pair<Box, Value>> boxes; ///< address of the tensor map of each
  /// The memory of operands that maps copy there.
  std::map<std::tuple<const void *, int64_t, unsigned>, Value> localOperands;
  std::optional<int64_t>
      functions; ///< their weight in the kernel's maps, for all registers; known when a map asks
  llvm::DenseMap<Value, ArrayValues> arrays;
};

} // namespace mlir::simt
#endif

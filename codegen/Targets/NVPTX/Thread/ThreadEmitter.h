// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel as the code of one thread: tiles become registers, buffers become addresses. See README.md.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_THREADEMITTER_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_THREADEMITTER_H

#include "codegen/Targets/Frame/KernelFrame.h"
#include "codegen/Targets/Frame/Scalars.h"
#include "codegen/Targets/NVPTX/Contract.h"
#include "codegen/Targets/NVPTX/Thread/BufferTiles.h"
#include "codegen/Targets/NVPTX/Thread/RingEmitter.h"
#include "codegen/Targets/NVPTX/Thread/Started.h"
#include "codegen/Targets/NVPTX/Thread/ThreadTiles.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <optional>

namespace mlir::simt {

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
  Value addressOf(Value array) override { return windows.valuesOf(array).address; }
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

  // Roles.cpp
  LogicalResult emitRoles(RolesOp op);

  LLVM::GlobalOp shared;
  int64_t cacheBytes;
  ThreadPlaces places;
  ThreadTiles tiles;
  SharedSlots slots;
  BufferTiles bufferTiles;
  GlobalWindows windows;
  PieceCopier copier;
  RingSignals signals;
  RingEmitter rings;
  StartedProducts started;
  /// The memory of operands that maps copy there.
  std::map<std::tuple<const void *, int64_t, unsigned>, Value> localOperands;
  std::optional<int64_t>
      functions; ///< their weight in the kernel's maps, for all registers; known when a map asks
};

} // namespace mlir::simt
#endif

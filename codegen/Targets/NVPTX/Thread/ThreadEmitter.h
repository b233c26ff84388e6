// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel as the code of one thread: tiles become registers, buffers become addresses. See README.md.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_THREADEMITTER_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_THREADEMITTER_H

#include "codegen/Targets/Frame/KernelFrame.h"
#include "codegen/Targets/NVPTX/Thread/BufferTiles.h"
#include "codegen/Targets/NVPTX/Thread/GridOrder.h"
#include "codegen/Targets/NVPTX/Thread/MapEmitter.h"
#include "codegen/Targets/NVPTX/Thread/Rearranger.h"
#include "codegen/Targets/NVPTX/Thread/RingEmitter.h"
#include "codegen/Targets/NVPTX/Thread/Started.h"

namespace mlir::simt {

/// Emits one tile.kernel as an llvm.func: its entry, its blocks, and each operation by who knows it.
class ThreadEmitter : tile::KernelFrame {
public:
  /// `cacheBytes`: what the second-level cache holds; 0: no limit.
  ThreadEmitter(tile::KernelOp kernel, OpBuilder &builder, LLVM::GlobalOp shared, int64_t cacheBytes);
  /// The function, at the end of the module; failure after a diagnostic.
  LogicalResult emit(ModuleOp module);

private:
  FailureOr<LLVM::LLVMFuncOp> makeFunction(ModuleOp module, ArrayRef<Value> arrays);
  LogicalResult emitBlock(Block &block) override;
  LogicalResult emitOp(Operation *op);
  LogicalResult emitRoles(RolesOp op);
  void emitOwnTiles(OwnTilesOp op);
  /// The program's scalars that are the places of a number, an i32, in the grid.
  void setPlaces(ValueRange values, Value number);

  // What a tile is to loops and branches: all of its registers
  Value addressOf(Value array) override { return windows.valuesOf(array).address; }
  SmallVector<Value> valuesOf(Value tile) override { return tiles.tileOf(tile).parts; }
  void setValues(Value tile, ValueRange values) override { tiles.setParts(tile, values); }

  LLVM::GlobalOp shared;
  ThreadPlaces places;
  ThreadTiles tiles;
  SharedSlots slots;
  GridOrder grid;
  GlobalWindows windows;
  BufferTiles bufferTiles;
  PieceCopier copier;
  RingSignals signals;
  RingEmitter rings;
  MapEmitter maps;
  Rearranger rearranger;
  StartedProducts started;
};

} // namespace mlir::simt
#endif

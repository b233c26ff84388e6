// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is local to elements: maps, splats, positions.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_MAPEMITTER_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_MAPEMITTER_H

#include "codegen/Targets/NVPTX/Thread/ThreadTiles.h"
#include <optional>

namespace mlir::simt {

/// Knows whether the registers of a map are a loop: it has elementary functions, and the kernel more of them
/// than the code generator should see unrolled. Tiles are in local memory then, which alone has places that a
/// loop can count.
class MapEmitter {
public:
  MapEmitter(ThreadPlaces &places, ThreadTiles &tiles) : places(places), tiles(tiles) {}

  LogicalResult emitMap(tile::MapOp op);
  void emitSplat(tile::SplatOp op);
  void emitPosition(tile::PositionOp op);

private:
  bool isLoop(tile::MapOp op);
  LogicalResult emitMapAsLoop(tile::MapOp op, llvm::function_ref<SmallVector<Value>(ArrayRef<Value>)> body);
  /// What the region of a map reads of an operand for one register of the result.
  FailureOr<Value> argumentOf(tile::MapOp op, Value input, int64_t number);
  FailureOr<Value> localOperand(tile::MapOp op, Value input, unsigned number);

  ThreadPlaces &places;
  ThreadTiles &tiles;
  /// The memory of operands that maps copy there.
  std::map<std::tuple<const void *, int64_t, unsigned>, Value> localOperands;
  /// The weight of functions in the kernel's maps, for all registers; known when a map asks.
  std::optional<int64_t> functions;
};

} // namespace mlir::simt
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles from and to buffers.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_BUFFERTILES_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_BUFFERTILES_H

#include "codegen/Targets/NVPTX/Thread/SharedSlots.h"
#include "codegen/Targets/NVPTX/Thread/ThreadTiles.h"

namespace mlir::simt {

/// Knows which registers of a tile lie together in a buffer, and moves them at once.
class BufferTiles {
public:
  BufferTiles(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots)
      : places(places), tiles(tiles), slots(slots) {}

  void emitRead(ReadOp op);
  void emitWrite(WriteOp op);

private:
  ThreadPlaces &places;
  ThreadTiles &tiles;
  SharedSlots &slots;
};

} // namespace mlir::simt
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that run while the thread goes on: simt.start and simt.await.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_STARTED_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_STARTED_H

#include "codegen/Targets/Frame/SizeValues.h"
#include "codegen/Targets/NVPTX/Thread/SharedSlots.h"
#include "codegen/Targets/NVPTX/Thread/ThreadTiles.h"

namespace mlir::simt {

/// Knows which registers the products read that were started and are not awaited.
class StartedProducts {
public:
  StartedProducts(ThreadPlaces &places, ThreadTiles &tiles, SharedSlots &slots)
      : places(places), tiles(tiles), slots(slots) {}

  LogicalResult emitStart(StartOp op);
  void emitAwait(AwaitOp op, const tile::SizeValues &sizes);

private:
  void pinBefore(AwaitOp op, const tile::SizeValues &sizes);

  ThreadPlaces &places;
  ThreadTiles &tiles;
  SharedSlots &slots;
  DenseMap<Value, SmallVector<Value>> inFlight; ///< operands in registers
};

} // namespace mlir::simt
#endif

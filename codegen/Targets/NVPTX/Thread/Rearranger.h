// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, scans, and tiles cut, joined and renumbered.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_REARRANGER_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_REARRANGER_H

#include "codegen/Targets/NVPTX/Thread/ThreadTiles.h"

namespace mlir::simt {

/// Knows which registers of one layout have the elements of another's, in the thread or in its warp.
class Rearranger {
public:
  Rearranger(ThreadPlaces &places, ThreadTiles &tiles) : places(places), tiles(tiles) {}

  /// tile.reduce and simt.reduce_warp.
  LogicalResult emitReduce(Operation *op, tile::ReductionKind kind, Value input, Value result);
  LogicalResult emitScan(tile::ScanOp op);
  LogicalResult emitSlice(tile::SliceOp op);
  LogicalResult emitConcat(tile::ConcatOp op);
  LogicalResult emitRelayout(RelayoutOp op);

private:
  Value combine(tile::ReductionKind kind, Value a, Value b);

  ThreadPlaces &places;
  ThreadTiles &tiles;
};

} // namespace mlir::simt
#endif

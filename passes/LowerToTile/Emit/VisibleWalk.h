// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk of a loop over what a block sees: in masked and full parts, or in one loop that masks where the
// mask cuts. Several ranges are an outer loop, so that the body is compiled once.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_VISIBLEWALK_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_VISIBLEWALK_H

#include "passes/LowerToTile/Emit/MaskedScores.h"

namespace taylor {

/// Emits loops over a visible range, tile by tile.
class VisibleWalk {
public:
  /// Emits one tile of a range that ends at `end`, and returns the next value of what is carried.
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value index, mlir::Value end, mlir::ValueRange carried, const Masking &masking)>;

  explicit VisibleWalk(TileEmitter &emitter) : emitter(emitter) {}

  /// Calls `body` for the masked parts of each range (tiles of `edge` tokens) and the full part (tiles of
  /// `step`), threading what is carried; or for all of it in one loop over tiles of `step`. `masking` is that
  /// of masked tiles.
  llvm::SmallVector<mlir::Value> emit(llvm::ArrayRef<VisibleRange> ranges, int64_t step, int64_t edge,
                                      mlir::ValueRange carried, const Masking &masking, Body body);

private:
  llvm::SmallVector<mlir::Value> emitRange(const VisibleRange &range, int64_t step, int64_t edge,
                                           mlir::ValueRange carried, const Masking &masking, Body body);
  llvm::SmallVector<mlir::Value> emitSingleLoop(const VisibleRange &range, int64_t step,
                                                mlir::ValueRange carried, Masking masking, Body body);

  TileEmitter &emitter;
};

/// What all loops over the pairs of one operation emit with: what each block sees, and score tiles without
/// and with the mask.
struct PairLoops {
  PairLoops(TileEmitter &emitter, PairwiseOp op)
      : ranges(op), tiles(emitter, op), masks(tiles, ranges), walk(emitter) {}
  PairLoops(const PairLoops &) = delete; // `masks` refers to `tiles` and `ranges`

  VisibleRanges ranges;
  ScoreTiles tiles;
  MaskedScores masks;
  VisibleWalk walk;
};

} // namespace taylor

#endif

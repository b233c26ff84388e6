// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums along diagonals, in a kernel whose blocks walk along them; score tiles are carried.
//
// Score tiles whose queries less their keys are one number hold the same lags at the same places, so a block
// adds them up place by place, and stores one tile:
//
//               u
//        +---+---+---+        shift = S (k - (blocks of keys) + 1), for k = -1, 0, 1, ..
//        | 0 | 1 |   |        tile (t0, t0 - shift): query t0 + i and key t0 - shift + j have lag index
//      t +---+---+---+            shift + U + i - j, after the margin
//        |   | 0 | 1 |        memory [part = S, .., lag]: the place (i, j) of walk k is element
//        +---+---+---+            part = j, lag = shift + U + i - j
//        |   |   | 0 |        of one walk alone, since i + shift tells them apart. What is read
//        +---+---+---+        is summed over parts, in order.
//
// Every element but the margins is written: for each j, i + shift takes all values from -S ceil(U / S) on.
// Sums over lags leave the margins out.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_PAIRDIAGONALS_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_PAIRDIAGONALS_H

#include "passes/LowerToTile/Emit/VisibleWalk.h"

namespace taylor {

/// Emits the walks of an operation that sums along diagonals alone.
class PairDiagonals {
public:
  PairDiagonals(TileEmitter &emitter, PairwiseOp op, llvm::ArrayRef<PairResult> results)
      : emitter(emitter), op(op), results(results), loops(emitter, op) {}

  /// The loops along diagonals, on the grid in `blocks`, of one batch and head; the frame's part is the
  /// number of the block.
  void emit(Frame &block, mlir::Value blocks);

private:
  /// One walk along diagonals: all score tiles whose queries less their keys are one number.
  void emitWalk(Frame &block, mlir::Value walk);

  TileEmitter &emitter;
  PairwiseOp op;
  llvm::ArrayRef<PairResult> results;
  PairLoops loops;
};

} // namespace taylor

#endif

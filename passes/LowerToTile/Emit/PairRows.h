// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums into rows: queries outside, keys inside. Sums are carried; a running maximum rescales what is carried.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_PAIRROWS_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_PAIRROWS_H

#include "passes/LowerToTile/Emit/VisibleWalk.h"

namespace taylor {

/// Emits the loop over keys of an operation that sums into rows alone.
class PairRows {
public:
  PairRows(TileEmitter &emitter, PairwiseOp op) : emitter(emitter), op(op), loops(emitter, op) {}

  /// The loop over keys for the frame's queries; the results become tiles of the frame.
  void emit(Frame &frame);

private:
  /// The running maximum after one tile, and the factor exp(before - after) that rescales what was carried.
  struct Rescaling {
    mlir::Value maximum, factor;
  };
  /// What a sum adds up at every visible key, where its closed form is known: a constant, over an interval.
  std::optional<double> countedConstant(PairSumAttr sum);
  mlir::Value emitCount(double constant, mlir::tile::TileType type, Frame &frame);
  /// What the running maximum begins at: its floor, or minus infinity.
  mlir::Value emitFirstMaximum(Frame &frame);
  Rescaling emitMaximum(Frame &pair, mlir::ValueRange products, mlir::Value before, const Masking &masking);
  bool dependsOnMaximum(int64_t yielded);
  VisibleRangeList visibleKeys(const Frame &rows);
  /// One score tile: the next value of what is carried, the maximum (if there is one) and the sums `looped`.
  llvm::SmallVector<mlir::Value> addToRows(Frame &pair, llvm::ArrayRef<int64_t> looped,
                                           mlir::ValueRange carried, const Masking &masking);

  TileEmitter &emitter;
  PairwiseOp op;
  PairLoops loops;
};

} // namespace taylor

#endif

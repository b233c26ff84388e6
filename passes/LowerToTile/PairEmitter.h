// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over score tiles: a pairwise operation at one block.
//
//   rows only:     queries outside, keys inside; sums are carried; a running maximum rescales what is carried
//   with columns:  keys outside, queries inside; sums into columns are carried, sums into rows go to memory
//
// Both split their inner loop in masked and full parts (VisibleRanges).
#ifndef TAYLOR_PASSES_LOWERTOTILE_PAIREMITTER_H
#define TAYLOR_PASSES_LOWERTOTILE_PAIREMITTER_H

#include "passes/LowerToTile/TileEmitter.h"
#include "passes/LowerToTile/VisibleRanges.h"

namespace taylor {

/// What becomes of one result of a pairwise operation with sums into columns.
struct PairResult {
  /// Sums into rows and totals are accumulated here. Null for columns.
  mlir::Value memory;
  /// Whether anybody asks for it, an i1; null: always.
  mlir::Value requested;
};

class PairEmitter {
public:
  PairEmitter(TileEmitter &emitter, PairwiseOp op);

  /// Whether all results are sums into rows.
  static bool isRowsOnly(PairwiseOp op);

  /// Emits the loop over keys for the frame's queries; the results become tiles of the frame.
  void emitRows(Frame &frame);

  /// Emits the loops over keys and queries of one batch and group (or head). `finish` is called where sums
  /// into columns are complete, with them as tiles of its frame: once per head, once per group. Where the
  /// keys are cut in `parts`, the frame's part takes every parts-th block of keys: with a causal mask the
  /// first ones have more queries.
  void emitColumns(Frame &block, mlir::Value parts, llvm::ArrayRef<PairResult> results,
                   llvm::function_ref<void(Frame &frame)> finish);

private:
  ArrayType typeOf(int64_t array) { return mlir::cast<ArrayType>(op.getArrays()[array].getType()); }
  /// Which arrays take part with axis t, with u, with h.
  void emitOperands(Frame &frame, llvm::function_ref<bool(ArrayType)> which);
  llvm::SmallVector<mlir::Value> emitProducts(Frame &pair);
  /// Inlines the conditions that hold at a visible pair of real tokens; null if nothing is to be masked.
  mlir::Value emitMask(ScalarProgram &program, Frame &pair, bool masked, bool edgeOfQueries);
  /// One tile per yielded scalar in `wanted`, over [t, u], 0 at invisible pairs; `maximum` may be null.
  llvm::SmallVector<mlir::Value> emitWeights(Frame &pair, mlir::ValueRange products, mlir::Value maximum,
                                             bool masked, bool edgeOfQueries);
  mlir::tile::TileType pairType(const Frame &pair);
  /// Calls `body` for the masked parts of a range (tiles of `edge` tokens) and the full part (tiles of
  /// `step`), threading what is carried.
  llvm::SmallVector<mlir::Value> emitSegments(
      const VisibleRange &range, int64_t step, int64_t edge, mlir::ValueRange carried,
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange, bool masked)>
          body);
  void zeroRows(Frame &block, llvm::ArrayRef<PairResult> results);
  void forHeads(Frame &block, llvm::function_ref<void(Frame &head)> body);
  bool loopsOverHeads(const Frame &block);
  bool dependsOnMaximum(int64_t yielded);
  void guarded(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value guarded(mlir::Value condition, mlir::Value carried,
                      llvm::function_ref<mlir::Value(mlir::Value)> body);

  TileEmitter &emitter;
  PairwiseOp op;
  VisibleRanges ranges;
};

} // namespace taylor

#endif

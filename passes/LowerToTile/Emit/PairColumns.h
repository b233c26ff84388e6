// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums into columns, and whatever else an operation gives: keys outside, queries inside. Sums into columns
// are carried, others go to memory.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_PAIRCOLUMNS_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_PAIRCOLUMNS_H

#include "passes/LowerToTile/Emit/VisibleWalk.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"

namespace taylor {

/// Emits the loops of an operation with sums into columns, at one block of a kernel.
class PairColumns {
public:
  PairColumns(TileEmitter &emitter, PairwiseOp op, llvm::ArrayRef<PairResult> results)
      : emitter(emitter), op(op), results(results), keysOnGrid(hasKeysOnGrid(op, emitter.sizes)),
        loops(emitter, op) {}

  /// The loops over keys and queries of one batch and group (or head). `finish` is called where sums into
  /// columns are complete, with them as tiles of its frame: once per head, once per group.
  ///
  /// Where keys are on the grid, the frame's part is the number of the block of keys. Else the keys are cut
  /// in `parts`, and the frame's part takes every parts-th block of them: with a causal mask the first ones
  /// have more queries.
  void emit(Frame &block, mlir::Value parts, llvm::function_ref<void(Frame &frame)> finish);
  /// Zeros where sums into rows are accumulated, for the frame's queries.
  void zeroRows(Frame &rows);

private:
  /// What the loops share.
  struct Columns {
    llvm::function_ref<void(Frame &frame)> finish;
    llvm::SmallVector<int64_t> ofGroup, ofHead; // carried: sums over a group's heads, and sums of each head
  };
  void zeroKind(PairOutput kind, Frame &frame);
  /// Zeros where rows and totals of this block are accumulated.
  void zeroMemory(Frame &block);
  VisibleRangeList visibleQueries(const Frame &columns);
  /// What `which` of the arrays hold at a block's keys: 0 from the last key on that a query sees.
  void emitKeyOperands(Frame &keys, llvm::function_ref<bool(ArrayType)> which);
  /// One score tile: the next value of each carried sum; sums into rows and diagonals go to memory.
  llvm::SmallVector<mlir::Value> addToColumns(const Columns &columns, Frame &pair, mlir::ValueRange carried,
                                              const Masking &masking);
  void addToMemory(const Frame &pair, mlir::ValueRange weights, mlir::Value visible);
  /// The next value of a carried sum where anyone asks for its result.
  mlir::Value addRequested(const PairResult &result, mlir::Value carried,
                           llvm::function_ref<mlir::Value(mlir::Value)> body);
  /// All queries of one head (or group) for one block of keys; returns the group's sums.
  llvm::SmallVector<mlir::Value> emitHead(const Columns &columns, Frame &head, mlir::ValueRange groupSums);
  /// All queries of all heads for one block of keys.
  void emitKeys(const Columns &columns, Frame &keys);
  /// Hands complete sums into columns to `columns.finish`; totals go to memory.
  void finish(const Columns &columns, llvm::ArrayRef<int64_t> complete, mlir::ValueRange sums,
              const Frame &frame);
  /// Calls `body` for each head of the block's group where the operation has heads, else for the block.
  llvm::SmallVector<mlir::Value>
  forHeads(Frame &block, mlir::ValueRange carried,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(Frame &head, mlir::ValueRange carried)> body);
  bool loopsOverHeads(const Frame &block);

  TileEmitter &emitter;
  PairwiseOp op;
  llvm::ArrayRef<PairResult> results;
  bool keysOnGrid;
  PairLoops loops;
};

} // namespace taylor

#endif

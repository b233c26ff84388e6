// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over score tiles: a pairwise operation at one block.
//
//   rows only:     queries outside, keys inside; sums are carried; a running maximum rescales what is carried
//   with columns:  keys outside, queries inside; sums into columns are carried, others go to memory
//   diagonals:     along them, score tiles are carried
//
// Both split their inner loop in masked and full parts (VisibleRanges), or mask in one loop where the mask
// cuts.
#ifndef TAYLOR_PASSES_LOWERTOTILE_PAIREMITTER_H
#define TAYLOR_PASSES_LOWERTOTILE_PAIREMITTER_H

#include "passes/LowerToTile/MaskedProduct.h"
#include "passes/LowerToTile/PairTiles.h"
#include "passes/LowerToTile/TileEmitter.h"
#include "passes/LowerToTile/VisibleRanges.h"

namespace taylor {

/// What becomes of one result of a pairwise operation with sums into columns.
struct PairResult {
  /// Where it is summed (rows, diagonals) or stored (totals). Null for columns.
  mlir::Value memory;
  /// Whether anybody asks for it, an i1; null: always.
  mlir::Value requested;
};

class PairEmitter {
public:
  PairEmitter(TileEmitter &emitter, PairwiseOp op);

  /// Emits the loop over keys for the frame's queries; the results become tiles of the frame.
  void emitRows(Frame &frame);

  /// Emits the loops over keys and queries of one batch and group (or head). `finish` is called where sums
  /// into columns are complete, with them as tiles of its frame: once per head, once per group.
  ///
  /// Where keys are on the grid, the frame's part is the number of the block of keys. Else the keys are cut
  /// in `parts`, and the frame's part takes every parts-th block of them: with a causal mask the first ones
  /// have more queries.
  void emitColumns(Frame &block, mlir::Value parts, llvm::ArrayRef<PairResult> results,
                   llvm::function_ref<void(Frame &frame)> finish);
  /// Emits the loops along diagonals, on the grid in `blocks`, of one batch and head; the frame's part is the
  /// number of the block.
  void emitDiagonals(Frame &block, mlir::Value blocks, llvm::ArrayRef<PairResult> results);
  /// Zeros where sums into rows are accumulated, for the frame's queries.
  void zeroRows(Frame &rows, llvm::ArrayRef<PairResult> results);

private:
  /// What a score tile needs of the mask.
  struct Masking {
    /// Some pairs may be invisible, or no real tokens.
    bool masked = false;
    /// Where the tile is one of a loop over all tiles: an i1, whether any is. Null: unknown.
    mlir::Value cut;
    /// Queries may reach beyond the last one, and that matters.
    bool edgeOfQueries = false;
    /// A product to mask, so that nothing that is computed of it needs a mask.
    std::optional<MaskedProduct> product;
  };
  using TileBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::Value index, mlir::ValueRange carried, const Masking &masking)>;
  /// The running maximum after one tile, and the factor exp(before - after) that rescales what was carried.
  struct Rescaling {
    mlir::Value maximum, factor;
  };
  /// What the loops over columns share.
  struct Columns {
    llvm::ArrayRef<PairResult> results;
    llvm::function_ref<void(Frame &frame)> finish;
    llvm::SmallVector<int64_t> ofGroup, ofHead; // carried: sums over a group's heads, and sums of each head
    bool keysOnGrid;
  };

  // PairEmitter.cpp
  ArrayType typeOf(int64_t array) { return typeOf(op.getArrays()[array]); }
  static ArrayType typeOf(mlir::Value array) { return mlir::cast<ArrayType>(array.getType()); }
  /// Whether an array differs from one token to the next along t or u.
  static bool varies(ArrayType array, AxisRef token) { return array.has(token) || array.has(AxisRole::Lag); }
  /// Which arrays take part with axis t, with u, with h.
  void emitOperands(Frame &frame, llvm::function_ref<bool(ArrayType)> which);
  llvm::SmallVector<mlir::Value> emitProducts(Frame &pair);
  /// The scalars that a region over pairs begins with: products, then what `scalars` lists.
  llvm::SmallVector<mlir::Value> emitArguments(ScalarProgram &program, Frame &pair,
                                               mlir::ValueRange products);
  /// Inlines the conditions that hold at a visible pair of real tokens.
  mlir::Value emitMask(ScalarProgram &program, Frame &pair, bool edgeOfQueries);
  /// The scalar where the mask holds, else `outside`; a null mask holds everywhere.
  mlir::Value selectVisible(ScalarProgram &program, mlir::Value mask, mlir::Value scalar, double outside);
  /// Tiles over [t, u], `outside` at invisible pairs; where the tile is not cut they stay as they are.
  llvm::SmallVector<mlir::Value> maskTiles(Frame &pair, mlir::ValueRange tiles, double outside,
                                           const Masking &masking);
  /// Whether the causal diagonal alone cuts tiles, and masks may let a token spoil others of its tile. What
  /// is in memory counts as finite then: past the last token it is 0, and keys that no query sees are loaded
  /// as 0.
  bool endsKeyLoads() const { return ranges.isDiagonal() && !emitter.sizes.exactMasks; }
  /// Which product to mask for these sums. `isFinite` tells of an array whether what its tiles hold is
  /// finite.
  std::optional<MaskedProduct> chooseProduct(llvm::ArrayRef<int64_t> summed,
                                             llvm::function_ref<bool(ArrayType array)> isFinite);
  /// Masks the product that `masking` names, if it does; returns what is left to mask.
  Masking maskProduct(Frame &pair, llvm::SmallVectorImpl<mlir::Value> &products, const Masking &masking);
  /// One tile per yielded scalar in `wanted`, over [t, u], 0 at invisible pairs; `maximum` may be null.
  llvm::SmallVector<mlir::Value> emitWeights(Frame &pair, mlir::ValueRange products, mlir::Value maximum,
                                             const Masking &masking);
  /// Has loads of a tile end, along `token`, before what no row or column sees (`masks=zeros`). What the mask
  /// itself reads is loaded whole: a token whose document is 0, for example, would be one of document 0.
  void endLoads(Frame &pair, AxisRef token, mlir::Value end);
  /// The mask of a tile that it cuts, for what weights are contracted with; null where that is not asked for.
  mlir::Value emitVisible(Frame &pair, const Masking &masking);
  /// `before` plus the weight contracted over a token axis with `array`, or alone where that is null. Pairs
  /// count where `visible` holds; null: all.
  mlir::Value addContracted(mlir::Value before, mlir::Value weight, mlir::Value array,
                            llvm::ArrayRef<AxisRef> over, mlir::Value visible);
  mlir::tile::TileType pairType(const Frame &pair);
  /// Tiles of zeros for some of the results.
  llvm::SmallVector<mlir::Value> zerosOf(llvm::ArrayRef<int64_t> results, const Frame &frame);
  /// Calls `body` for the masked parts of a range (tiles of `edge` tokens) and the full part (tiles of
  /// `step`), threading what is carried; or for all of it in one loop over tiles of `step`. `masking` is that
  /// of masked tiles.
  llvm::SmallVector<mlir::Value> emitSegments(const VisibleRange &range, int64_t step, int64_t edge,
                                              mlir::ValueRange carried, const Masking &masking,
                                              TileBody body);
  llvm::SmallVector<mlir::Value> emitSingleLoop(const VisibleRange &range, int64_t step,
                                                mlir::ValueRange carried, Masking masking, TileBody body);

  // PairRows.cpp
  /// What a sum adds up at every visible key, where its closed form is known: a constant, over an interval.
  std::optional<double> countedConstant(PairSumAttr sum);
  mlir::Value emitCount(double constant, mlir::tile::TileType type, Frame &frame);
  /// What the running maximum begins at: its floor, or minus infinity.
  mlir::Value emitFirstMaximum(Frame &frame);
  VisibleRange visibleKeys(const Frame &rows);
  Rescaling emitMaximum(Frame &pair, mlir::ValueRange products, mlir::Value before, const Masking &masking);
  /// One score tile: the next value of what is carried, the maximum (if there is one) and the sums `looped`.
  llvm::SmallVector<mlir::Value> addToRows(Frame &pair, llvm::ArrayRef<int64_t> looped,
                                           mlir::ValueRange carried, const Masking &masking);
  bool dependsOnMaximum(int64_t yielded);

  // PairDiagonals.cpp
  /// One walk along diagonals: all score tiles whose queries less their keys are one number.
  void emitWalk(Frame &block, mlir::Value walk, llvm::ArrayRef<PairResult> results);

  // PairColumns.cpp
  void zeroKind(PairOutput kind, Frame &frame, llvm::ArrayRef<PairResult> results);
  /// Zeros where rows and totals of this block are accumulated.
  void zeroMemory(Frame &block, llvm::ArrayRef<PairResult> results);
  VisibleRange visibleQueries(const Frame &columns);
  /// What `which` of the arrays hold at a block's keys: 0 from the last key on that a query sees.
  void emitKeyOperands(Frame &keys, llvm::function_ref<bool(ArrayType)> which);
  /// The last key of a block that there is.
  mlir::Value lastKey(const Frame &columns);
  /// One score tile: the next value of each carried sum; sums into rows and diagonals go to
  /// memory.
  llvm::SmallVector<mlir::Value> addToColumns(const Columns &columns, Frame &pair, mlir::ValueRange carried,
                                              const Masking &masking);
  void addToMemory(const Columns &columns, const Frame &pair, mlir::ValueRange weights, mlir::Value visible);
  /// All queries of one head (or group) for one block of keys; returns the group's sums.
  llvm::SmallVector<mlir::Value> emitHead(const Columns &columns, Frame &head, mlir::ValueRange groupSums);
  /// All queries of all heads for one block of keys.
  void emitKeys(const Columns &columns, Frame &keys);
  /// Hands complete sums into columns to `columns.finish`; totals go to memory.
  void finish(const Columns &columns, llvm::ArrayRef<int64_t> results, mlir::ValueRange sums,
              const Frame &frame);
  /// Calls `body` for each head of the block's group where the operation has heads, else for the block.
  llvm::SmallVector<mlir::Value>
  forHeads(Frame &block, mlir::ValueRange carried,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(Frame &head, mlir::ValueRange carried)> body);
  bool loopsOverHeads(const Frame &block);
  void guarded(mlir::Value condition, llvm::function_ref<void()> body);
  mlir::Value guarded(mlir::Value condition, mlir::Value carried,
                      llvm::function_ref<mlir::Value(mlir::Value)> body);

  TileEmitter &emitter;
  PairwiseOp op;
  VisibleRanges ranges;
};

} // namespace taylor

#endif

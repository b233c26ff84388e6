// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the mask of an operation over pairs costs a score tile: conditions of pairs, the selects on products
// or on weights, and loads that end where no one sees.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_MASKEDSCORES_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_MASKEDSCORES_H

#include "passes/LowerToTile/Emit/ScoreTiles.h"
#include "passes/LowerToTile/VisibleRanges.h"

namespace taylor {

/// Product number `product`, set to `value` (0 or an infinity) at a pair, makes every weight of the pair 0,
/// and the argument of the running maximum minus infinity.
struct MaskedProduct {
  int64_t product;
  double value;
};

/// The masked product of an operation, if it has one, for those scalars of the weight region that are summed.
/// `isFinite` tells of an array of the operation whether all that a tile of it holds is finite, also where no
/// pair is visible.
///
/// Weights are followed from the product on by the rules of limits: exp(-inf) = 0, min(-inf, x) = -inf, -inf
/// * c for a number c, 0 * x for a finite x, and so on; what no rule knows may be anything. Sums and products
/// of finite numbers count as finite, exp of one does not. The running maximum m is finite: it begins at a
/// finite number (TileEmitter.h, leastOf), so exp(-inf - m) = 0 in rows that see no key too.
std::optional<MaskedProduct> findMaskedProduct(PairwiseOp op, llvm::ArrayRef<int64_t> summed,
                                               llvm::function_ref<bool(mlir::Value array)> isFinite);

/// What a score tile needs of the mask.
struct Masking {
  /// Some pairs may be invisible, or no real tokens.
  bool masked = false;
  /// Where the tile is one of a loop over all tiles: an i1, whether any is. Null: unknown.
  mlir::Value cut;
  /// Queries may reach beyond the last one, and that matters.
  bool edgeOfQueries = false;
  /// Where the block sees several ranges: bounds of that which the tile belongs to, along the axis that the
  /// loop walks. Tokens outside are masked. Null where there is one range.
  mlir::Value begin = {}, end = {};
  /// A product to mask, so that nothing that is computed of it needs a mask.
  std::optional<MaskedProduct> product;
};

/// Products and weights of score tiles that the mask cuts.
class MaskedScores {
public:
  MaskedScores(ScoreTiles &scores, const VisibleRanges &ranges)
      : emitter(scores.emitter), op(scores.op), scores(scores), ranges(ranges) {}

  /// Inlines the conditions that hold at a visible pair of real tokens.
  mlir::Value emitMask(ScalarProgram &program, Frame &pair, const Masking &masking);
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
  /// One tile per scalar that is yielded, over [t, u], 0 at invisible pairs; `maximum` may be null.
  llvm::SmallVector<mlir::Value> emitWeights(Frame &pair, mlir::ValueRange products, mlir::Value maximum,
                                             const Masking &masking);
  /// Has loads of a tile end, along `token`, before what no row or column sees (`masks=zeros`). What the mask
  /// itself reads is loaded whole: a token whose document is 0, for example, would be one of document 0.
  void endLoads(Frame &pair, AxisRef token, mlir::Value end);
  /// The mask of a tile that it cuts, for what weights are contracted with; null where that is not asked for.
  mlir::Value emitVisible(Frame &pair, const Masking &masking);

private:
  TileEmitter &emitter;
  PairwiseOp op;
  ScoreTiles &scores;
  const VisibleRanges &ranges;
};

} // namespace taylor

#endif

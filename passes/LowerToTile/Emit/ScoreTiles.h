// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all loops over pairs compute of one score tile: operands, products, and sums of weights.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_SCORETILES_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_SCORETILES_H

#include "passes/LowerToTile/Emit/TileEmitter.h"

namespace taylor {

/// What becomes of one result of a pairwise operation with sums into columns.
struct PairResult {
  /// Where it is summed (rows, diagonals) or stored (totals). Null for columns.
  mlir::Value memory;
  /// Whether anyone asks for it, an i1; null: always.
  mlir::Value requested;
};

/// Score tiles of one operation: what they are computed from and what they are added to, without its mask.
class ScoreTiles {
public:
  ScoreTiles(TileEmitter &emitter, PairwiseOp op) : emitter(emitter), op(op) {}

  /// Whether an array differs from one token to the next along t or u.
  static bool varies(ArrayType array, AxisRef token) { return array.has(token) || array.has(AxisRole::Lag); }
  /// Makes those of the arrays tiles of the frame that `which` names.
  void emitOperands(Frame &frame, llvm::function_ref<bool(ArrayType)> which);
  llvm::SmallVector<mlir::Value> emitProducts(Frame &pair);
  /// The scalars that a region over pairs begins with: products, then what `scalars` lists.
  llvm::SmallVector<mlir::Value> emitArguments(ScalarProgram &program, Frame &pair,
                                               mlir::ValueRange products);
  /// A tile over [t, u].
  mlir::tile::TileType pairType(const Frame &pair);
  /// `before` plus the weight contracted over a token axis with `array`, or alone where that is null. Pairs
  /// count where `visible` holds; null: all.
  mlir::Value addContracted(mlir::Value before, mlir::Value weight, mlir::Value array,
                            llvm::ArrayRef<AxisRef> over, mlir::Value visible);
  /// Tiles of zeros for some of the results.
  llvm::SmallVector<mlir::Value> zerosOf(llvm::ArrayRef<int64_t> results, const Frame &frame);
  /// Emits `body` under the condition that anyone asks for a result.
  void ifRequested(const PairResult &result, llvm::function_ref<void()> body);

  TileEmitter &emitter;
  PairwiseOp op;
};

} // namespace taylor

#endif

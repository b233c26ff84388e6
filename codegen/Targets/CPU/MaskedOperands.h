// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products that say which pairs count (tile.dot .. where).
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_MASKEDOPERANDS_H
#define TAYLOR_CODEGEN_TARGETS_CPU_MASKEDOPERANDS_H
#include "codegen/Targets/CPU/TileElements.h"

namespace mlir::tile::cpu {

/// Looks whether a masked product's operand is finite, and clears what is not where the mask does not hold.
class MaskedOperands : VectorCode {
public:
  explicit MaskedOperands(TileElements &tiles) : VectorCode(tiles), tiles(tiles) {}

  /// Emits the check of the operand that meets the product's weights.
  void check(DotOp dot) { finite = emitIsFinite(dot.getB()); }
  /// Whether the operand of the last check is finite, an i1.
  Value isFinite() const { return finite; }
  /// Elements of the vector where the product's mask holds at `point`, and where they are finite; others
  /// are 0.
  Value clearMasked(DotOp dot, StringAttr pairs, Value vector, const Point &point);
  /// A copy of a tile in which all that is not finite is 0.
  void copyCleared(TileType type, const TileView &from, const TileView &to);
  /// Adds what the cleared elements give where the mask holds.
  void addVisible(DotOp dot, const TileView &weights, const TileView &values, const TileView &sums);

private:
  struct FiniteScan;
  /// Whether all elements of a tile in memory are finite, an i1.
  Value emitIsFinite(Value tile);
  /// Lanes that are finite, of numbers or of bits of bf16.
  Value finiteLanes(Value vector);

  TileElements &tiles;
  Value finite;
};

} // namespace mlir::tile::cpu
#endif

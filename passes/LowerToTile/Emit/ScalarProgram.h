// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar regions over arrays become tile.map operations, one per set of axes.
//
// exp(-m[t]) * w[t,u] written as one map would take t x u exponentials. Here every scalar operation is done
// on the axes that its operands have, and no more: first a map over [t], then one over [t, u] that reads its
// result.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_SCALARPROGRAM_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_SCALARPROGRAM_H

#include "passes/LowerToTile/Emit/IndexEmitter.h"

namespace taylor {

/// A straight-line scalar program over tiles, built by inlining regions and by `builder()`, then emitted as
/// maps.
class ScalarProgram {
public:
  /// Tile operations are emitted at the insertion point of the emitter's builder; positions are those of
  /// `frame`.
  ScalarProgram(IndexEmitter &emitter, const Frame &frame);
  ~ScalarProgram();

  /// The scalar that stands for the elements of a tile.
  mlir::Value input(mlir::Value tile);
  /// Position along an axis, an index.
  mlir::Value position(AxisRef axis);
  /// Copies the operations of a region's block, taylor scalars replaced; returns what it yields.
  llvm::SmallVector<mlir::Value> inlineRegion(mlir::Region &region, mlir::ValueRange arguments);
  mlir::OpBuilder &builder() { return inner; }
  mlir::Location getLoc() const { return loc; }

  /// Emits the maps; one tile per result, each over the axes that it depends on (none: one element).
  llvm::SmallVector<mlir::Value> emit(mlir::ValueRange results);

private:
  class Emission;
  using AxisSet = llvm::SmallVector<mlir::StringAttr, 2>;
  /// Sorted names of the axes a scalar depends on.
  AxisSet axesOf(mlir::Value scalar);
  /// x / y, y on fewer axes than the quotient, becomes x * (1 / y), where the quotient is relaxed.
  void shareReciprocals();
  mlir::Value translate(mlir::Operation *op, mlir::ValueRange operands);

  IndexEmitter &emitter;
  const Frame &frame;
  mlir::OpBuilder &outer;
  mlir::Location loc;
  std::unique_ptr<mlir::Block> block;
  mlir::OpBuilder inner;
  llvm::SmallVector<mlir::Value> tiles;            // of the block's arguments
  llvm::DenseMap<mlir::Value, mlir::Value> inputs; // tile -> argument
  llvm::DenseMap<mlir::Value, AxisSet> axes;
  llvm::StringMap<mlir::Value> positions; // axis -> scalar
};

/// `tile` with every axis of `type`, repeated along those it lacks.
mlir::Value broadcastTile(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value tile,
                          mlir::tile::TileType type);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Panels of features of states: a state is taken panel by panel, from vectors that are expanded or from
// memory.
#ifndef TAYLOR_PASSES_LOWERTOTILE_EMIT_STATEPANELS_H
#define TAYLOR_PASSES_LOWERTOTILE_EMIT_STATEPANELS_H

#include "passes/LowerToTile/Emit/TileEmitter.h"

namespace taylor {

/// Makes, loads and contracts panels.
class StatePanels {
public:
  explicit StatePanels(TileEmitter &emitter) : emitter(emitter), builder(emitter.builder) {}

  /// Panels of features of a states operation, `size` features each.
  static int64_t panelsOf(StatesOp op, int64_t size);
  /// Features of a panel that a state is read in.
  int64_t readPanelOf(const Features &features);
  mlir::tile::FeaturesAttr attributeOf(const Features &features);

  /// The features of vectors from `start` on.
  mlir::Value expand(mlir::Value vectors, const Features &features, mlir::Value start, int64_t size,
                     llvm::ArrayRef<double> weights);
  /// The frame with the panel that starts there.
  Frame at(const Frame &frame, mlir::Value start);
  /// One panel of a state as a tile.
  mlir::Value load(mlir::Value memory, const Frame &frame, mlir::Value start, int64_t size);
  llvm::SmallVector<mlir::Value> zeros(mlir::ValueRange memory, int64_t size);
  /// The product over an axis, added to `sum` where there is one; `other` alone has channels or not.
  mlir::Value contract(mlir::Value panel, mlir::Value other, AxisRef over, mlir::Value sum = {});
  /// Element by element.
  mlir::Value multiply(mlir::Value a, mlir::Value b);

private:
  mlir::tile::TileType typeOf(mlir::Value memory, int64_t size);

  TileEmitter &emitter;
  mlir::OpBuilder &builder;
};

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiles in another order: copies, transposition, concatenation, running sums.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_TILEREARRANGER_H
#define TAYLOR_CODEGEN_TARGETS_CPU_TILEREARRANGER_H
#include "codegen/Targets/CPU/TileElements.h"

namespace mlir::tile::cpu {

class TileRearranger : VectorCode {
public:
  explicit TileRearranger(TileElements &tiles) : VectorCode(tiles), plan(tiles.plan), tiles(tiles) {}

  void copyTile(Value from, TileView to);
  void emitPack(Copy copy);
  void emitConcat(ConcatOp concat);
  void emitScan(ScanOp scan);

private:
  void emitPairs(Copy copy, const TileView &from, const TileView &to);
  void transposeTile(TileType type, const TileView &from, const TileView &to);
  void transposeBlock(const TileView &from, const TileView &to, const Point &point, StringAttr rows,
                      StringAttr lanes, Type unit);
  void transposeNarrow(const TileView &from, const TileView &to, const Point &point, StringAttr rows,
                       StringAttr lanes);

  const KernelPlan &plan;
  TileElements &tiles;
};

} // namespace mlir::tile::cpu
#endif

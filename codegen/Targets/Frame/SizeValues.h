// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes of a call as values of its code, and what extents, grids and arrays are for them.
#ifndef TAYLOR_CODEGEN_TARGETS_FRAME_SIZEVALUES_H
#define TAYLOR_CODEGEN_TARGETS_FRAME_SIZEVALUES_H

#include "codegen/Targets/Frame/Arithmetic.h"
#include "dialect/Tile/TileDialect.h"

namespace mlir::tile {

/// The sizes that a call brings, in the order of TaylorDim (runtime/artifact.h).
inline constexpr AxisRef kSizeRoles[] = {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead,
                                         AxisRole::Query, AxisRole::Key,  kOffset};

/// Values of i64. What follows from them is made at the builder's place.
class SizeValues : public Arithmetic {
public:
  /// Who runs the code. The host counts blocks and bytes before there is a block, and sizes may be 0. Where a
  /// block runs, no size of its grid is 0, and what the host has counted fits 64 bits.
  enum class Runs { host, block };
  /// `sizes` as kSizeRoles has them.
  SizeValues(OpBuilder &builder, Location loc, ValueRange sizes, Runs runs);

  Value size(AxisRef role) const;
  Value atLeastOne(Value size) const { return runs == Runs::block ? size : Arithmetic::atLeastOne(size); }
  /// Makes the size of role lag, for all who ask for it later. Without it each one makes its own.
  void makeLag();
  Value of(ExtentAttr extent) const;
  /// Of each axis.
  SmallVector<Value> of(ArrayType type) const;

  /// The extents of a kernel's grid, and their product.
  SmallVector<Value> gridOf(KernelOp kernel) const;
  Value blocksOf(KernelOp kernel) const;

  /// Elements from one to the next along each axis of an array in row-major order; `pitch` (null: the last
  /// size) from row to row.
  SmallVector<Value> stridesOf(ArrayRef<Value> sizes, Value pitch = {}) const;

  /// Workspace in one piece of memory, which each array has from a multiple of `kLineBytes` on: elements from
  /// row to row of an array, and its bytes.
  static constexpr int64_t kLineBytes = 64;
  Value workspacePitch(ArrayType type) const;
  Value workspaceBytes(ArrayType type) const;

private:
  Runs runs;
  AxisMap<Value> sizes;
};

/// Whether a scalar of the program is the block's place along this extent of its kernel's grid.
bool isPlaceOfGrid(Value scalar, ExtentAttr extent);

} // namespace mlir::tile
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks, read off the maps that apply them: where a tile is known to be constant.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_KERNELMASKS_H
#define TAYLOR_CODEGEN_TARGETS_CPU_KERNELMASKS_H
#include "dialect/Tile/TileDialect.h"

namespace mlir::tile::cpu {

/// plus - minus + sum of factor * value + constant <= 0, over indices of a tile's axes (null: absent) and the
/// kernel's scalars.
struct Constraint {
  StringAttr plus, minus;
  SmallVector<std::pair<Value, int64_t>> terms;
  int64_t constant = 0;
  bool operator==(const Constraint &other) const;
};

/// A tile that is `outside` wherever one of the constraints fails.
struct Mask {
  SmallVector<Constraint> constraints;
  FloatAttr outside;
};

/// Nothing where the value is not the result of a select by positions.
std::optional<Mask> maskOf(Value value);

} // namespace mlir::tile::cpu
#endif

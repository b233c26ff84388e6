// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a tile program on host memory: block by block, element by element, every number in its own type. Slow
// and obvious; it says what a tile program means, and targets are compared with it.
#ifndef TAYLOR_DIALECT_TILE_EVALUATOR_H
#define TAYLOR_DIALECT_TILE_EVALUATOR_H
#include "dialect/Tile/TileDialect.h"

namespace mlir::tile {

struct HostArray {
  void *data =
      nullptr; // element 0, of the array's storage type; null: an optional tensor that no one asks for
  llvm::SmallVector<int64_t> strides; // in elements, one per axis
};

/// Run-time sizes of the roles and the position of query 0.
struct Sizes {
  int64_t b = 1, h = 1, g = 1, t = 1, u = 1, offset = 0;
  int64_t of(AxisRef role) const;
};

/// Runs all kernels. `tensors` in the order of the program's tile.tensor ops. Every float
/// result is computed in fp64, inner products and sums included, and rounded once to its type. Workspace that
/// no kernel wrote reads as NaN. Fails with a diagnostic at an op that is not supported, and at one that
/// touches a null tensor.
LogicalResult evaluateProgram(ProgramOp program, const Sizes &sizes, llvm::ArrayRef<HostArray> tensors);

} // namespace mlir::tile
#endif

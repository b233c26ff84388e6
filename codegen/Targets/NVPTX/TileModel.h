// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile sizes of a GPU from its shared memory and registers.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_TILEMODEL_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_TILEMODEL_H

#include "codegen/Targets/NVPTX/Machines.h"
#include "dialect/Tile/TileSizes.h"

namespace mlir::simt {

/// Channels of keys and values, and bytes of an operand of a product, which is two of them where it is split
/// (taylor-split-products).
struct TileProblem {
  int64_t headDim = 64, valueDim = 64, bytes = 2;
  bool split = false;
  /// Sums into columns add to sums into rows in memory (--row-sums=atomic).
  bool atomicRows = false;
  /// For started products (SmallerTiles.h): kernels get roles where the target has them; sums into columns
  /// need so many registers that fewer queries pass by at once.
  bool hasRoles = false, narrowQueries = false;
};

/// Sizes with which operands fit in shared memory and accumulators in registers. Keys are on the grid and row
/// sums have a kernel of their own.
taylor::TileSizes chooseTileSizes(const Machine &target, const TileProblem &problem);

/// Sizes of the chunked form, in place of those of the parallel form: chunks of `chunk` queries (0: as
/// `TileSizes::chunk` says), panels of features whose states lie twice in a quarter of shared memory, tiles
/// of tokens whose vectors and their sums lie in half of it. With each of `retries` kernels that are local to
/// tokens take half as many, and from the second on those over pairs too, and panels half the features.
void chooseChunks(const Machine &target, const TileProblem &problem, int64_t chunk, int64_t retries,
                  taylor::TileSizes &sizes);
/// The same for few queries: the fewest rows that a product has, so that panels alone shrink with `retries`.
void chooseSteps(int64_t retries, taylor::TileSizes &sizes);

} // namespace mlir::simt
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of a target's table that the lowering reads; it reads no name of a target.
#ifndef TAYLOR_PASSES_LOWERTOTILE_TILESIZES_H
#define TAYLOR_PASSES_LOWERTOTILE_TILESIZES_H

#include <cstdint>

namespace taylor {

/// Sizes of tiles in tokens, and of grids.
struct TileSizes {
  /// Tokens of a block in kernels that are local to tokens.
  int64_t tokens = 64;
  /// Queries of a score tile.
  int64_t queries = 64;
  /// Keys of a score tile where the loop over keys is inside (sums into rows).
  int64_t keys = 128;
  /// The same where the mask cuts through: the smaller, the less is computed for nothing.
  int64_t edgeKeys = 64;
  /// Keys of a score tile where the loop over queries is inside (sums into columns).
  int64_t outerKeys = 128;
  /// Fewest blocks of a kernel that sums into columns: where batches and groups are fewer, each is cut in
  /// parts by keys.
  int64_t blocks = 4;
};

} // namespace taylor

#endif

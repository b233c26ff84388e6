// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of tiles from the sizes of a target's caches.
#ifndef TAYLOR_CODEGEN_CPU_TILEMODEL_H
#define TAYLOR_CODEGEN_CPU_TILEMODEL_H
#include "codegen/CPU/Targets.h"
#include "passes/LowerToTile/TileSizes.h"

namespace mlir::tile::cpu {

/// What a score tile works on: channels of keys (d) and of values (e), bytes of a number in registers (4; 8
/// for f64).
struct TileProblem {
  int64_t headDim = 64, valueDim = 64, bytes = 4;
};

/// Tiles that stay where the loops around them read them again:
///
///   queries       whole blocks of the product's lanes, about 64
///   rows.keys     a score tile fills L1: queries * keys numbers
///   columns.keys  a quarter of L2 holds what the loop over queries reads again for a block of keys: the keys
///                 and values, both of their sums, two score tiles, and the queries and cotangents of one
///                 tile
///
/// The optimum is flat (within 3 % from half to twice these sizes), so sizes are powers of two, within [64,
/// 256].
taylor::TileSizes chooseTileSizes(const Target &target, const TileProblem &problem);

/// The same for the chunked form: queries of a chunk (0: chosen here), panels of features.
void chooseChunks(const Target &target, const TileProblem &problem, int64_t chunk, taylor::TileSizes &sizes);

/// The same for few queries, one at a time: lanes are channels.
void chooseSteps(taylor::TileSizes &sizes);

/// The same sizes where products run on a matrix unit. Changes only numbers that concern tiles of scores.
void chooseMatrixTiles(taylor::TileSizes &sizes);

} // namespace mlir::tile::cpu
#endif

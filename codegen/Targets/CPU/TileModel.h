// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes of tiles from the sizes of a target's caches.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_TILEMODEL_H
#define TAYLOR_CODEGEN_TARGETS_CPU_TILEMODEL_H
#include "codegen/Targets/CPU/Processors.h"
#include "dialect/Tile/TileSizes.h"

namespace mlir::tile::cpu {

/// Tiles that stay where the loops around them read them again:
///
///   queries       whole blocks of the product's lanes, about 64
///   rows.keys     a score tile fills L1: queries * keys numbers
///   columns.keys  two tiles fill L1, the weights of a block of keys and their derivatives
///
/// for numbers of `bytes` in registers (4; 8 for f64). Sizes are powers of two, within [64, 256].
taylor::TileSizes chooseTileSizes(const Processor &target, int64_t bytes);

/// The same for the chunked form: queries of a chunk (0: chosen here), panels of features.
void chooseChunks(const Processor &target, int64_t bytes, int64_t chunk, taylor::TileSizes &sizes);

/// The same for few queries, one at a time: lanes are channels.
void chooseSteps(taylor::TileSizes &sizes);

/// The same sizes where products run on a matrix unit. Changes only numbers that concern tiles of scores.
void chooseMatrixTiles(taylor::TileSizes &sizes);

} // namespace mlir::tile::cpu
#endif

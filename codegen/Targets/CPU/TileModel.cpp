// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/CPU/TileModel.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

taylor::TileSizes mlir::tile::cpu::chooseTileSizes(const Processor &target, int64_t bytes) {
  auto fit = [](int64_t size) {
    return int64_t(llvm::bit_floor(uint64_t(std::clamp<int64_t>(size, 64, 256))));
  };
  taylor::TileSizes sizes;
  int64_t queries = llvm::alignTo(64, target.vectorBytes / bytes * target.productVectors);
  sizes.rows = {queries, fit(target.l1Bytes / (queries * bytes))};
  sizes.derivedRows = sizes.rows;
  sizes.edgeKeys = std::min<int64_t>(sizes.rows.keys, 64);
  sizes.exactMasks = true;
  // A pair's weight and its derivative, both in L1. More keys would add the gradients of queries in memory
  // less often; but what these tiles push out of L1 costs more (README.md).
  sizes.columns = {queries, fit(target.l1Bytes / (2 * queries * bytes))};
  sizes.foldExponents = sizes.sharesMaps = true;
  return sizes;
}

void mlir::tile::cpu::chooseChunks(const Processor &target, int64_t bytes, int64_t chunk,
                                   taylor::TileSizes &sizes) {
  sizes.chunk = chunk;
  // Measured (README.md); the time changes by 2 % from half the chunk to twice as much.
  sizes.balance = 5;
  sizes.farBalance = target.farBalance;
  sizes.nearBytes = target.l2Bytes / 8;
  sizes.tokens = sizes.rows.queries;
  // A chunk holds whole blocks of keys, and may be as short as one of queries.
  sizes.columns.keys = sizes.rows.queries;
  // A panel that is read once per row of the state fills half of L1; one that is written is a few blocks of
  // rows, so that what is summed stays in registers over the tokens.
  int64_t rows = target.l1Bytes / 2 / (sizes.rows.queries * bytes);
  sizes.readFeatures = std::max<int64_t>(rows / 8 * 8, 8);
  sizes.stateFeatures = 24;
}

void mlir::tile::cpu::chooseSteps(taylor::TileSizes &sizes) {
  sizes.tokens = sizes.stepTokens = 1;
  sizes.heads = 16;
  sizes.lineBytes = 64;
  sizes.rows.queries = sizes.derivedRows.queries = 1;
  sizes.loopOperands = taylor::LoopOperands::Computed;
  // What each panel does in addition to its rows, a sum across lanes among it, is as much for 24 rows as
  // for 48.
  sizes.stateFeatures = 48;
}

void mlir::tile::cpu::chooseMatrixTiles(taylor::TileSizes &sizes) {
  sizes.storesRowProducts = true;
  sizes.transposesOperands = true;
}

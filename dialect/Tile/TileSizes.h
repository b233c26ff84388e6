// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of a target's table that the lowering reads; it reads no name of a target. In the IR they are
// the attribute `#tile.plan` of a function.
#ifndef TAYLOR_DIALECT_TILE_TILESIZES_H
#define TAYLOR_DIALECT_TILE_TILESIZES_H

#include "llvm/ADT/Hashing.h"
#include "llvm/Support/Error.h"
#include <string>

namespace taylor {

/// A tile of scores, in tokens.
struct ScoreTile {
  int64_t queries = 64, keys = 128;

  bool operator==(const ScoreTile &) const = default;
};

/// What becomes of sums into rows where the same pairs are summed into columns too, and so of the grid.
///
///               kernels                              grid          row sums
///   Parts       one                                  b g part      added in memory, in the order of the keys
///   Separate    one for rows, one for columns        b h t; b g u  finished by their block
///   Atomic      one, after one that writes zeros     b g u         added in memory, in any order
///
/// With `Parts` a block loops over keys; it computes each product once, for targets with few threads. With
/// the others keys are on the grid. Results do not depend on the order of blocks, except for `Atomic`.
enum class RowSums { Parts, Separate, Atomic };

/// The type of operands of products between matrices; sums are f32 or wider.
enum class ProductType {
  F32, ///< as they are stored or computed
  BF16,
  F16
};

/// What a loop over pairs reads of the tokens that pass by a block, where it is computed.
enum class LoopOperands {
  Stored,  ///< A kernel before it stores that, once for all blocks.
  Rotated, ///< The same, but the loop rotates arguments itself (taylor.rope).
  Computed ///< The loop computes it: a call has few queries, so that it is read about once.
};

/// Sizes of tiles in tokens, and the form of grids and loops.
struct TileSizes {
  /// Tokens of a block in kernels that are local to tokens.
  int64_t tokens = 64;
  /// Score tiles of sums into rows (the loop over keys is inside) of pairs with one product or none.
  ScoreTile rows;
  /// The same where pairs have several products, as in a derivative: more operands lie next to the tile.
  ScoreTile derivedRows;
  /// Most keys of such a tile where the mask cuts through: the smaller, the less is computed for nothing.
  int64_t edgeKeys = 64;
  /// Score tiles of sums into columns (the loop over queries is inside).
  ScoreTile columns;
  /// Most keys of such a tile where weights are summed too, with no operand: that takes whole score tiles.
  int64_t scalarKeys = 1024;
  /// Fewest blocks of a kernel that sums into columns, with `Parts`: where batches and groups are fewer, each
  /// is cut in parts by keys.
  int64_t blocks = 4;
  RowSums rowSums = RowSums::Parts;
  /// One inner loop over all tiles, where what is masked stands under a condition; else a loop over tiles
  /// that the mask cuts, and one over the others, without a mask. Software pipelines want the one, since each
  /// loop fills and drains them.
  bool singleLoop = false;
  /// Loops over queries begin at multiples of their step, so that blocks of keys, wherever the mask has their
  /// queries begin, share tiles. The first tile may hold queries that see none of the keys, which are masked.
  bool alignsQueries = false;
  /// What is no number, at a token that a tile of pairs holds, reaches no row that does not see the token:
  /// products of tiles that the mask cuts say which pairs count (tile.dot .. where). Else it may reach the
  /// tile's other rows.
  bool exactMasks = false;
  /// A factor per row of an operand goes into the weights' exponential (taylor-fold-row-factors).
  bool foldRowFactors = false;
  /// Exponentials of score tiles to base 2, their arguments one fused multiply-add (taylor-fold-exponents).
  bool foldExponents = false;
  /// What an earlier map of a block computed is read and not computed again (taylor-share-maps): where tiles
  /// lie in memory between loops over them. Compilers of GPUs see both maps as one piece of code and do it.
  bool sharesMaps = false;
  /// Bytes that a block holds at once outside of its loop over pairs, of sums and of the arrays that they
  /// meet; 0: no limit. A computed operand that needs more comes from memory, and so does a sum for what is
  /// computed from it.
  int64_t blockBytes = 0;
  /// Bytes that the operands of one product of f32 or f64 take at once (taylor-form-products); 0: no limit.
  /// Where that of a computed operand of pairs takes more, the operand comes from memory.
  int64_t productBytes = 0;
  /// Sums of finitely many powers are states between chunks (taylor-chunk-sums).
  bool chunked = false;
  /// Queries of a chunk; 0: by the work and the bytes of each operation, for a machine that does `balance`
  /// operations per byte that it moves of states of at most `nearBytes`, and `farBalance` of larger ones.
  int64_t chunk = 0, balance = 10, farBalance = 10, nearBytes = 0;
  /// Components of a vector that are multiplied with one other at once: features come in blocks of so many.
  int64_t featureBlock = 1;
  /// Most features of a panel that is contracted with a state, and those of one that is summed over tokens or
  /// is a product with a state; of so many is a block of formulas of many channels without tokens, too.
  int64_t readFeatures = 144, stateFeatures = 24;
  /// Features of a block that adds up the states of chunks; 0: as many as of one that sums over tokens.
  /// Blocks take chunk after chunk, so that only many of them at a time keep a large machine's memory busy.
  int64_t passFeatures = 0;
  int64_t getPassFeatures() const { return passFeatures ? passFeatures : stateFeatures; }
  /// Heads of a block that works on tokens of a head alone: one token's rows are less than it costs to hand a
  /// block to another thread.
  int64_t heads = 1;
  /// Tokens of a tile in the recurrent form, of which the first counts: what the target's products need.
  int64_t stepTokens = 1;
  /// Bytes of a line of the caches, which cores that write to it take from each other: numbers that blocks of
  /// the recurrent form add to again and again lie so far apart; 0: as close as they may be.
  int64_t lineBytes = 0;
  LoopOperands loopOperands = LoopOperands::Stored;
  /// Panels of features on the grid where states are summed; else in the loop over tokens.
  bool featuresOnGrid = false;
  /// A factor per row of an operand is multiplied once, and the product stored; else each loop that reads the
  /// operand multiplies.
  bool storesRowProducts = false;
  /// Operands that a loop reads lie with what its products sum contiguous (taylor-transpose-operands).
  bool transposesOperands = false;
  /// Small kernels over queries and over keys are one (taylor-join-kernels), and a loop over keys has what is
  /// computed of its queries in addition (taylor-join-rows): a launch costs more than blocks that do
  /// nothing.
  bool joinsKernels = false;
  /// If BF16 or F16, operands of products have this type (taylor-narrow-products).
  ProductType productType = ProductType::F32;
  /// Such operands, where they are computed in f32, are two numbers of that type (taylor-split-products).
  bool splitProducts = false;

  /// A chunk is a multiple of this: it holds whole tiles of queries, and at most one edge of chunks lies
  /// within a tile of keys.
  int64_t getChunkUnit() const;

  /// Reads "queries=64,keys=128,row-sums=separate": the named fields change. Names are in the order of the
  /// fields above (`columns` are the outer ones, for their loop over keys is outside). Errors say what was
  /// expected.
  llvm::Error parse(llvm::StringRef text);

  bool operator==(const TileSizes &) const = default;
};

llvm::hash_code hash_value(const TileSizes &sizes);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tile sizes of a GPU from its shared memory and registers.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_TILEMODEL_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_TILEMODEL_H

#include "codegen/Targets/NVPTX/KernelReport.h"
#include "codegen/Targets/NVPTX/Machines.h"
#include "codegen/Targets/Target.h"
#include "dialect/Tile/TileDialect.h"
#include "dialect/Tile/TileSizes.h"

namespace mlir::simt {

/// Channels of keys and values, and bytes of an operand of a product, which is two of them where it is split
/// (taylor-split-products).
struct TileProblem {
  int64_t headDim = 64, valueDim = 64, bytes = 2;
  bool split = false;
  /// Sums into columns add to sums into rows in memory (--row-sums=atomic).
  bool atomicRows = false;
  /// Of started products: kernels get roles where the target has them (fitTiles).
  bool hasRoles = false;
};

/// Sizes with which operands fit in shared memory and accumulators in registers. Keys are on the grid and row
/// sums have a kernel of their own.
taylor::TileSizes chooseTileSizes(const Machine &target, const TileProblem &problem);

/// Sizes of the chunked form, in place of those of the parallel form: chunks of `chunk` queries (0: as
/// `TileSizes::chunk` says), panels of features whose states lie twice in a quarter of shared memory, tiles
/// of tokens whose vectors and their sums lie in half of it.
void chooseChunks(const Machine &target, const TileProblem &problem, int64_t chunk, taylor::TileSizes &sizes);
/// The same for few queries: the fewest rows that a product has.
void chooseSteps(taylor::TileSizes &sizes);

//===----------------------------------------------------------------------===//
// What is known of tile sizes only when kernels are planned
//===----------------------------------------------------------------------===//

/// Registers of a thread for tiles that are alive at the same time in a loop over queries
/// (`fitTiles` estimates what countLiveRegisters finds later). What ptxas 13.0 spills above it is in
/// HOPPER.md, "Registers".
inline constexpr int64_t kColumnRegisters = 240;
/// Keys that pass by at once where only the producer of a kernel with roles makes up for it, and elsewhere;
/// queries that do where registers are scarce.
inline constexpr int64_t kWideKeys = 128, kKeys = 64, kNarrowQueries = 32;

/// Tiles that planned kernels of one function in the parallel form have no room for become smaller: fewer
/// keys in kernels that get no roles, fewer queries in loops that sum into columns with more than
/// `kColumnRegisters`. Returns why; empty: all stay.
std::string fitTiles(const Machine &target, const TileProblem &problem,
                     llvm::ArrayRef<taylor::PairLoopNeeds> loops, taylor::TileSizes &sizes);

//===----------------------------------------------------------------------===//
// Tiles for long sequences next to those for short ones, and from which length on they pay: an experiment of
// targets with `+lengths` (HOPPER.md, "Tiles by length")
//===----------------------------------------------------------------------===//

/// Whether a function has tiles of its own for long sequences, and what they cost next to those for short
/// ones.
std::optional<taylor::LongForm> getLongForm(const Machine &target, const TileProblem &problem,
                                            taylor::FunctionRole function);
/// The tiles of functions that have, in place of those for all lengths.
void chooseTilesByLength(const Machine &target, const TileProblem &problem, bool isLong,
                         taylor::TileSizes &sizes);

} // namespace mlir::simt
#endif

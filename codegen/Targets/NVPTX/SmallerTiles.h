// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known of tile sizes only when kernels have been made with them.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_SMALLERTILES_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_SMALLERTILES_H

#include "codegen/Targets/NVPTX/KernelReport.h"
#include "dialect/Tile/TileDialect.h"

namespace mlir::simt {

/// Registers of a thread for tiles that are alive at the same time in a loop over queries
/// (countLiveRegisters). What ptxas 13.0 spills above it is in HOPPER.md, "Registers".
inline constexpr int64_t kColumnRegisters = 240;
/// Keys that pass by at once where only the producer of a kernel with roles makes up for it, and elsewhere;
/// queries that do where registers are scarce.
inline constexpr int64_t kWideKeys = 128, kKeys = 64, kNarrowQueries = 32;

/// Why programs of the parallel form, which are on their way to threads (`taylor-simt-pipeline`), would have
/// better code with smaller tiles that `chooseTileSizes` knows; empty: they would not. `tiles` are those of
/// the tile programs.
std::string findReasonForSmallerTiles(ModuleOp programs, const ScoreTiles &tiles);

} // namespace mlir::simt
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles for long sequences next to those for short ones, and from which length on they pay: an experiment of
// targets with `+lengths` (HOPPER.md, "Tiles by length").
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_LONGTILES_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_LONGTILES_H

#include "codegen/Targets/NVPTX/TileModel.h"
#include "codegen/Targets/Target.h"

namespace mlir::simt {

/// Whether a function has tiles of its own for long sequences, and what they cost next to those for short
/// ones.
std::optional<taylor::LongForm> getLongForm(const Machine &target, const TileProblem &problem,
                                            llvm::StringRef function);
/// The tiles of functions that have, in place of those for all lengths.
void chooseTilesByLength(const Machine &target, const TileProblem &problem, bool isLong,
                         taylor::TileSizes &sizes);

} // namespace mlir::simt
#endif

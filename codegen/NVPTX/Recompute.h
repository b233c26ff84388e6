// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_CODEGEN_NVPTX_RECOMPUTE_H
#define TAYLOR_CODEGEN_NVPTX_RECOMPUTE_H
#include "dialect/Tile/TileDialect.h"

namespace mlir::simt {

/// Tiles that are computed before a loop with products, or before a contraction, and read behind it are
/// computed again there, if they follow from loads by maps, slices and joins: in the loop registers are
/// scarce, and behind it they are not.
void recomputeBehindLoops(tile::KernelOp kernel);

} // namespace mlir::simt
#endif

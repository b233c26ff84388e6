// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules that verifiers of several ops share.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_VERIFY_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_VERIFY_H
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"

namespace mlir::simt {

/// The tile that one slot holds, without layout.
tile::TileType tileOf(BufferType buffer);
/// Fails with an error of `op` unless the buffer is one slot.
LogicalResult verifyOneSlot(Operation *op, BufferType buffer);
/// Fails with an error of `op` unless the tile has a layout that covers it.
LogicalResult verifyLayout(Operation *op, tile::TileType tile);

} // namespace mlir::simt
#endif

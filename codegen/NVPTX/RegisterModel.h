// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An estimate of the registers that a loop over score tiles needs.
#ifndef TAYLOR_CODEGEN_NVPTX_REGISTERMODEL_H
#define TAYLOR_CODEGEN_NVPTX_REGISTERMODEL_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::simt {

/// The loop that carries the sums of a contraction for it alone; null: none. They lie in shared memory.
scf::ForOp getContractingLoop(tile::ContractOp contract);

/// 32-bit registers of a thread for a tile that has its layout.
int64_t countTileRegisters(tile::TileType tile);

/// 32-bit registers of a thread for what the loop carries, for what was computed by a loop before it and is
/// read behind it, and for the products that start from zero in it (tile.dot or simt.dot). What is carried
/// counts a quarter more: it can neither be computed again nor in parts. `countRegisters` gives those of one
/// tile.
int64_t countLoopRegisters(scf::ForOp loop, llvm::function_ref<int64_t(tile::TileType)> countRegisters);

} // namespace mlir::simt
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What several passes over the tiles of a kernel share.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_KERNELSTEPS_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_KERNELSTEPS_H
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::simt {

//===----------------------------------------------------------------------===//
// Groups of copies that no wait tells apart.
//===----------------------------------------------------------------------===//

/// Erases the commits of `kernel` without which every wait still waits for all copies that it waited for:
/// their groups join the next ones. Copies, commits and waits have scf.for and scf.if as the only control
/// flow around them.
void joinGroups(tile::KernelOp kernel);

/// Tiles that are computed before a loop with products, or before a contraction, and read after it are
/// computed again there, if they follow from loads by maps, slices and joins: in the loop registers are
/// scarce, and after it they are not.
void recomputeAfterLoops(tile::KernelOp kernel);

//===----------------------------------------------------------------------===//
// An estimate of the registers that a loop over score tiles needs.
//===----------------------------------------------------------------------===//

/// The loop that carries the sums of a contraction for it alone; null: none. They lie in shared memory.
scf::ForOp getContractingLoop(tile::ContractOp contract);

/// 32-bit registers of a thread for a tile that has its layout.
int64_t countTileRegisters(tile::TileType tile);

/// 32-bit registers of a thread for what the loop carries, for what was computed by a loop before it and is
/// read after it, and for the products that start from zero in it (tile.dot or simt.dot). What is carried
/// counts a quarter more: it can neither be computed again nor in parts. `countRegisters` gives those of one
/// tile.
int64_t countLoopRegisters(scf::ForOp loop, llvm::function_ref<int64_t(tile::TileType)> countRegisters);

/// 32-bit registers of a thread for the tiles that are alive at the same time in an iteration of the loop,
/// after taylor-simt-start-products: what it carries, products in flight with their operands, what threads
/// read and compute. Positions and constants are made where they are read.
int64_t countLiveRegisters(scf::ForOp loop);

} // namespace mlir::simt
#endif

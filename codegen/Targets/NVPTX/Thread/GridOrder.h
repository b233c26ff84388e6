// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which place of the grid a block takes, by its number: GPUs start blocks in the order of their numbers.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_GRIDORDER_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_THREAD_GRIDORDER_H

#include "codegen/Targets/Frame/SizeValues.h"
#include "codegen/Targets/NVPTX/Thread/Code.h"

namespace mlir::simt {

/// Knows in which order the blocks of a kernel start.
class GridOrder {
public:
  /// `cacheBytes`: what the second-level cache holds; 0: no limit.
  GridOrder(tile::KernelOp kernel, int64_t cacheBytes) : kernel(kernel), cacheBytes(cacheBytes) {}

  /// The places of a number, an i32, in the grid: an i64 for each extent.
  SmallVector<Value> placesOf(Code code, Value number, const tile::SizeValues &sizes);

private:
  /// How many of `heads`, each of `blocks` blocks, are a section.
  Value headsOfSection(Code code, Value heads, Value blocks, const tile::SizeValues &sizes);

  tile::KernelOp kernel;
  int64_t cacheBytes;
};

} // namespace mlir::simt
#endif

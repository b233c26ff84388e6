// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waits and barriers between accesses of the same memory.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_PLACEBARRIERS_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_PLACEBARRIERS_H
#include "codegen/Targets/NVPTX/Accesses.h"

namespace mlir::simt {

/// Buffers whose copies run ahead of a loop, and that loop: inside it waits and barriers stand already.
using PipelinedBuffers = llvm::DenseMap<Value, Operation *>;

/// Puts in `kernel` the waits and barriers that keep the order of the text between accesses of the same
/// memory by different threads, where those that stand there do not. All copies are in committed groups.
/// Fails with a diagnostic where memory is accessed under control flow other than scf.for and scf.if.
LogicalResult placeBarriers(tile::KernelOp kernel, const PipelinedBuffers &pipelined);

/// The same between accesses of different buffers that share bytes (`at` of their allocs).
LogicalResult placeBarriersBetweenSharers(tile::KernelOp kernel);

/// Fails with an error at the first access that no waits and barriers keep apart from what other threads do
/// to the same memory before: where `placeBarriers` would have to put some in.
LogicalResult requireBarriers(tile::KernelOp kernel);

/// Bytes that two allocs have in common make the later one wait for the earlier one.
bool shareBytes(AllocOp a, AllocOp b);

} // namespace mlir::simt
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places of buffers in a block's shared memory.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_SHAREDPLAN_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_SHAREDPLAN_H
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::simt {

/// First byte of each buffer, and how many bytes the block needs.
struct SharedPlan {
  llvm::MapVector<Operation *, int64_t> offsets;
  int64_t bytes = 0;
  /// Of `simt.roles`: bytes from one member's buffers to the next one's; first bytes of the slots of each
  /// ring, which come after all members' buffers, and of its signals.
  int64_t apart = 0;
  llvm::MapVector<Operation *, std::pair<int64_t, int64_t>> rings;
};

/// How long a buffer that loops access is needed.
enum class BufferLife {
  /// Through all of the outermost such loop: what shares its bytes is not in that loop.
  Loops,
  /// Where each iteration writes it before it reads it, from there to the iteration's last access. More
  /// buffers share bytes, and barriers keep them apart.
  Iterations
};

/// Slots that override the number that a buffer's type has.
using SlotCounts = llvm::DenseMap<Operation *, int64_t>;

/// Buffers that are not needed at the same time may share bytes. The largest come first, each at the first
/// place that is free, at a multiple of 1024 bytes where it is swizzled and of 16 otherwise.
SharedPlan planShared(tile::KernelOp kernel, BufferLife life, const SlotCounts &slots = SlotCounts());

/// `Iterations` only where `Loops` needs more than `limit` bytes.
BufferLife chooseBufferLife(tile::KernelOp kernel, int64_t limit);

} // namespace mlir::simt
#endif

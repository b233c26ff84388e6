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

/// Buffers whose accesses do not overlap in time may share bytes. A buffer that a loop accesses is needed
/// through all of the outermost such loop. The largest come first, each at the first place that is free, at a
/// multiple of 1024 bytes where it is swizzled and of 16 otherwise. `slots` overrides the number of slots
/// that a buffer's type has.
SharedPlan
planShared(tile::KernelOp kernel,
           const llvm::DenseMap<Operation *, int64_t> &slots = llvm::DenseMap<Operation *, int64_t>());

} // namespace mlir::simt
#endif

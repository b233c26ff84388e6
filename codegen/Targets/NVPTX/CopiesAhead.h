// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies of a loop issued iterations ahead of their use.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_COPIESAHEAD_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_COPIESAHEAD_H
#include "codegen/Targets/NVPTX/PlaceBarriers.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::simt {

/// What pipelining may use.
struct PipelineLimits {
  int64_t slots;  ///< of one buffer, at most
  int64_t shared; ///< bytes of shared memory of a block
  bool early;     ///< first copies start before the loads, too, that precede the loop
};

/// Rewrites `loop`, which may be replaced, and adds the buffers whose copies now run ahead to `pipelined`.
/// Loops inside it come before it.
void pipelineLoop(scf::ForOp loop, const PipelineLimits &limits, PipelinedBuffers &pipelined);

} // namespace mlir::simt
#endif

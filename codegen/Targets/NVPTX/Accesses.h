// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What ops do to buffers and arrays.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_ACCESSES_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_ACCESSES_H
#include "codegen/Targets/NVPTX/Simt/SimtDialect.h"

namespace mlir::simt {

/// One thing that an op does to a buffer (the result of `simt.alloc`, all slots) or to an array.
struct Access {
  Value memory;
  bool writes;
  bool isAsynchronous; ///< until a `simt.wait` for the group
};

/// The buffer that `slot` is, or is a slot of.
Value getBuffer(Value slot);

/// Accesses of the op itself, not of ops in its regions.
SmallVector<Access> getAccesses(Operation *op);

} // namespace mlir::simt
#endif

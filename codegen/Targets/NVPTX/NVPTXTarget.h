// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVIDIA GPUs, as the driver knows targets.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_NVPTXTARGET_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_NVPTXTARGET_H
#include "codegen/Targets/Target.h"

namespace mlir::simt {

/// Null, and a message in `error`, where `findTarget` has no such name.
std::unique_ptr<taylor::Target> makeNVPTXTarget(StringRef name, std::string &error);

} // namespace mlir::simt
#endif

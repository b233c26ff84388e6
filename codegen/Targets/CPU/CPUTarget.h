// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CPU backend as the driver sees it.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_CPUTARGET_H
#define TAYLOR_CODEGEN_TARGETS_CPU_CPUTARGET_H
#include "codegen/Targets/CPU/Processors.h"
#include "codegen/Targets/Target.h"

namespace mlir::tile::cpu {

/// The target of one of `targetNames()`; null, and a reason in `error`, where `native` is not in the table.
std::unique_ptr<taylor::Target> makeCPUTarget(StringRef name, std::string &error);

} // namespace mlir::tile::cpu
#endif

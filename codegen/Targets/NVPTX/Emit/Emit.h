// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the code of one thread to PTX text.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_EMIT_EMIT_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_EMIT_EMIT_H

#include "codegen/Targets/NVPTX/Machines.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include <string>

namespace mlir::simt {

/// Translations that `emitPTX` needs.
void registerNVPTXBackend(DialectRegistry &registry);

/// PTX text of a module in the LLVM and NVVM dialects; `error` says why not.
std::string emitPTX(ModuleOp module, const Machine &target, std::string &error);

/// From tile programs with layouts and places in shared memory to the LLVM and NVVM dialects;
/// `cacheBytes` as in Machines.h.
void buildThreadPipeline(OpPassManager &pm, int64_t cacheBytes);
/// From tile programs with layouts and places in shared memory to PTX text in a `simt.ptx` op.
void buildPTXPipeline(OpPassManager &pm, llvm::StringRef target);
/// The pipeline `taylor-nvptx-pipeline`.
void registerNVPTXPipelines();

} // namespace mlir::simt
#endif

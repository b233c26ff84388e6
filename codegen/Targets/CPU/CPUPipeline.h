// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a module of tile programs to machine code of a processor.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_CPUPIPELINE_H
#define TAYLOR_CODEGEN_TARGETS_CPU_CPUPIPELINE_H
#include "codegen/Artifact/Artifact.h"
#include "codegen/Targets/CPU/Processors.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir::tile::cpu {

/// Dialects, translations and conversions that the functions below need in their context.
void registerCPUBackend(DialectRegistry &registry);

/// Runs the tile level down to the vector level, or from there to the LLVM dialect, in place. Diagnostics say
/// why not.
LogicalResult lowerToVector(ModuleOp module, const Processor &target);
LogicalResult lowerToLLVMDialect(ModuleOp module);

/// LLVM IR of a module in the LLVM dialect. Null after a diagnostic.
std::unique_ptr<llvm::Module> translateToLLVM(ModuleOp module, const Processor &target,
                                              llvm::LLVMContext &context);

/// Assembly text of the LLVM IR.
LogicalResult emitAssembly(llvm::Module &module, const Processor &target, std::string &text,
                           std::string &error);

/// Object file of the LLVM IR.
LogicalResult emitHostObject(llvm::Module &module, const Processor &target, SmallVectorImpl<char> &bytes,
                             std::string &error);

/// Adds the target's functions and object files, from a module in the LLVM dialect, to an artifact's code.
LogicalResult emitObject(ModuleOp module, const Processor &target, taylor::ArtifactCode &code);

/// All of the above, for one target: `module` holds tile.program ops named after the artifact's functions
/// ("forward", "backward") and is consumed. Prints one diagnostic and writes nothing on failure.
LogicalResult compileTileModule(ModuleOp module, StringRef manifest, const Processor &target, StringRef path);

} // namespace mlir::tile::cpu
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a module of tile programs to an artifact: a shared object with the ABI of runtime/artifact.h.
#ifndef TAYLOR_CODEGEN_CPU_ARTIFACT_H
#define TAYLOR_CODEGEN_CPU_ARTIFACT_H
#include "codegen/CPU/Targets.h"
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
LogicalResult lowerToVector(ModuleOp module, const Target &target);
LogicalResult lowerToLLVMDialect(ModuleOp module);

/// LLVM IR of a module in the LLVM dialect, with `taylor_artifact` and the manifest in it. Null after a
/// diagnostic.
std::unique_ptr<llvm::Module> translateToLLVM(ModuleOp module, const Target &target, StringRef manifest,
                                              llvm::LLVMContext &context);

/// Machine code of the module: assembly text, or an object file's bytes.
LogicalResult emitMachineCode(llvm::Module &module, const Target &target, bool assembly,
                              SmallVectorImpl<char> &out, std::string &error);

/// Links the object's bytes, appends the trailer and puts the file in place in one step. Nothing is left
/// behind after a failure.
LogicalResult writeArtifact(ArrayRef<char> object, StringRef path, std::string &error);

/// All of the above: `module` holds tile.program ops named after the artifact's functions ("forward",
/// "backward") and is consumed. Prints one diagnostic and writes nothing on failure.
LogicalResult compileTileModule(ModuleOp module, StringRef manifest, const Target &target, StringRef path);

} // namespace mlir::tile::cpu
#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest of an artifact (runtime/MANIFEST.md): a reading of attributes that passes gave the modules of
// its targets.
//
//   attribute of the module   who gives it               the manifest has of it
//   taylor.request            the driver                 hash, form, dtype
//   taylor.interface          taylor-declare-interface   specification, mask, inputs, outputs
//   tile.target               the driver                 the target's name, kind and features
//   tile.programs             taylor-describe-programs   functions, forms, costs, kernels, workspace
//   entries of simt.ptx       taylor-nvptx-emit          how a GPU's kernels are launched
#ifndef TAYLOR_CODEGEN_DRIVER_MANIFEST_H
#define TAYLOR_CODEGEN_DRIVER_MANIFEST_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace taylor {

/// The JSON text, indented, with a line break at its end, of modules that have the attributes above: one for
/// each target, in the artifact's order, at least one.
std::string printManifest(llvm::ArrayRef<mlir::ModuleOp> modules);

/// Fails, with a diagnostic, where a program of `module` takes other tensors than that of the same function
/// in one of `others` or than another form of it.
mlir::LogicalResult verifySameTensors(llvm::ArrayRef<mlir::ModuleOp> others, mlir::ModuleOp module);

} // namespace taylor

#endif

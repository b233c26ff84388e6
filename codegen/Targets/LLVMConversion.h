// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of the way to the LLVM dialect that all targets share.
#ifndef TAYLOR_CODEGEN_TARGETS_LLVMCONVERSION_H
#define TAYLOR_CODEGEN_TARGETS_LLVMCONVERSION_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class LLVMTypeConverter;
class RewritePatternSet;
} // namespace mlir

namespace taylor {

/// Loops and branches of scf at or below `root` as blocks.
mlir::LogicalResult lowerStructuredControlFlow(mlir::Operation *root);

/// Upstream's patterns for blocks, arithmetic, and functions that are instructions.
void populateScalarToLLVMPatterns(const mlir::LLVMTypeConverter &converter,
                                  mlir::RewritePatternSet &patterns);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations local to rows and tokens: a rule for each.
#ifndef TAYLOR_CODEGEN_DRIVER_TORCH_TORCHLOCAL_H
#define TAYLOR_CODEGEN_DRIVER_TORCH_TORCHLOCAL_H

#include "codegen/Driver/Torch/TorchHelpers.h"
#include "codegen/Driver/Torch/TorchValues.h"

namespace taylor {

/// How one operation is printed.
struct TorchRule {
  mlir::TypeID operation;
  mlir::LogicalResult (*print)(mlir::Operation *op, TorchValues &values);
};
/// Of the operations that are local to rows or tokens.
llvm::ArrayRef<TorchRule> getLocalTorchRules();
/// The helpers of their texts.
llvm::ArrayRef<TorchHelper> getLocalTorchHelpers();

} // namespace taylor

#endif

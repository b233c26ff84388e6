// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same with the dialects that tile programs become. By itself: mlir::Range, which these declare, would
// hide taylor::Range in passes.
#include "cmake/PrecompiledMLIR.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What code generators include (PrecompiledCode.h), with the instructions of GPUs, whose classes take longer
// to parse than all the rest.
#include "cmake/PrecompiledCode.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

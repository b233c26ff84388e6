// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant arrays that kernels read, as globals of their module.
#ifndef TAYLOR_CODEGEN_TARGETS_FRAME_TABLES_H
#define TAYLOR_CODEGEN_TARGETS_FRAME_TABLES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace mlir::tile {

/// The numbers rounded to the nearest ones of a float type.
DenseElementsAttr roundedTable(FloatType type, ArrayRef<double> values);
DenseElementsAttr integerTable(OpBuilder &builder, ArrayRef<int32_t> values);

/// The address of such an array in the module where the builder is. A global has the first one of the names
/// `nameOf(0)`, `nameOf(1)`, .. that is free, or has the same values already.
Value addressOfTable(OpBuilder &builder, Location loc, function_ref<std::string(unsigned)> nameOf,
                     DenseElementsAttr values, unsigned alignment = 0, unsigned addressSpace = 0);

} // namespace mlir::tile
#endif

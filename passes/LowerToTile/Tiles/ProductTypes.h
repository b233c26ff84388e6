// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which products matrix units take, and in which 16-bit type: for the passes that round operands, or split
// them.
#ifndef TAYLOR_PASSES_LOWERTOTILE_TILES_PRODUCTTYPES_H
#define TAYLOR_PASSES_LOWERTOTILE_TILES_PRODUCTTYPES_H

#include "dialect/Tile/TileDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace taylor {

/// Whether it sums in f32 and is of two matrices: a matrix times a vector is no work for a matrix unit, and
/// often a sum that must not be rounded.
bool isMatrixProduct(mlir::tile::DotOp dot);

/// The type of operands of a program's products, by its plan: null where that leaves them as they are.
/// Without a plan, `otherwise`.
mlir::FloatType getProductType(mlir::tile::ProgramOp program, ProductType otherwise);

} // namespace taylor

#endif

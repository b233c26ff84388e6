// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays that are an argument times a number per row: x[t,c] * a[t].
#ifndef TAYLOR_PASSES_ALGEBRA_ROWFACTORS_H
#define TAYLOR_PASSES_ALGEBRA_ROWFACTORS_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// x, an argument of the function with the axes of `map`, if the map is x times something without channels;
/// else null.
mlir::Value findRowFactored(MapOp map);

/// The factor a, as a map of its own: the same formula with x = 1, over the axes without channels, and 0
/// where the map is guarded.
mlir::Value buildRowFactor(mlir::OpBuilder &builder, MapOp map, mlir::Value x);

} // namespace taylor

#endif

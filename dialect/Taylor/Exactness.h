// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers whose last bit decides.
#ifndef TAYLOR_DIALECT_TAYLOR_EXACTNESS_H
#define TAYLOR_DIALECT_TAYLOR_EXACTNESS_H

#include "mlir/IR/Value.h"

namespace taylor {

/// Whether a scalar (or a vector of them) reaches, through operations of `arith` and `math`, a floor or a
/// comparison, but for its own with 0. A quotient that does must be the nearest number: by a rounded
/// reciprocal, or within two units of the last place, floor(21 / 7) may be 2.
bool mustBeExact(mlir::Value scalar);

} // namespace taylor

#endif

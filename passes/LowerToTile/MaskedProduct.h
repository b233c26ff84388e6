// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a mask costs least: on one inner product, before anything is computed of it.
#ifndef TAYLOR_PASSES_LOWERTOTILE_MASKEDPRODUCT_H
#define TAYLOR_PASSES_LOWERTOTILE_MASKEDPRODUCT_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Product number `product`, set to `value` (0 or an infinity) at a pair, makes every weight of the pair 0,
/// and the argument of the running maximum minus infinity.
struct MaskedProduct {
  int64_t product;
  double value;
};

/// The masked product of an operation, if it has one, for those scalars of the weight region that are summed.
/// `isFinite` tells of an array of the operation whether all that a tile of it holds is finite, also where no
/// pair is visible.
///
/// Weights are followed from the product on by the rules of limits: exp(-inf) = 0, min(-inf, x) = -inf, -inf
/// * c for a number c, 0 * x for a finite x, and so on; what no rule knows may be anything. Sums and products
/// of finite numbers count as finite, exp of one does not. The running maximum m is finite: it begins at a
/// finite number (TileEmitter.h, leastOf), so exp(-inf - m) = 0 in rows that see no key too.
std::optional<MaskedProduct> findMaskedProduct(PairwiseOp op, llvm::ArrayRef<int64_t> summed,
                                               llvm::function_ref<bool(mlir::Value array)> isFinite);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_PASSES_LOWERTOTILE_PRECISION_H
#define TAYLOR_PASSES_LOWERTOTILE_PRECISION_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Relaxes (`tile::relax`) the scalars of which the fastest instructions give enough:
/// - exponentials of differences from running maxima or between running sums: they are factors of weights, of
///   which each row has one that is not small. Small ones of others count: of features, gates, and weights
///   from which no maximum was taken out (pow(sigmoid(s), 8)). Where a pair's weight has numbers next to
///   exponentials, whose largest may be far above them, all of its exponentials count.
/// - quotients and square roots, except those that reach a floor or a comparison (other than their own with
///   0) through arithmetic and maps: with a rounded reciprocal, or within two units of the last place,
///   floor(21 / 7) may be 2.
void relaxPrecision(FunctionOp function);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_PASSES_LOWERTOTILE_PRECISION_H
#define TAYLOR_PASSES_LOWERTOTILE_PRECISION_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Marks scalars that need more than the fastest instructions give:
/// - with `tile.full_range`, exponentials of which small ones count: features, gates, and weights from which
///   no maximum was taken out (pow(sigmoid(s), 8)). Those of differences from running maxima or between
///   running sums are factors of weights, of which each row has one that is not small. Where a pair's weight
///   has numbers next to exponentials, whose largest may be far above them, all of its exponentials count.
/// - with `tile.nearest`, quotients and square roots that reach a floor or a comparison, but for their own
///   with 0, through arithmetic and maps: by a rounded reciprocal, or within two units of the last place,
///   floor(21 / 7) may be 2.
void markPrecision(FunctionOp function);

} // namespace taylor

#endif

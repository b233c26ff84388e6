// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_PASSES_LOWERTOTILE_PRECISION_H
#define TAYLOR_PASSES_LOWERTOTILE_PRECISION_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Marks scalars that need more than the fastest instructions give:
/// - with `tile.full_range`, exponentials of arrays: features, gates and the like, of which small ones count.
///   Those of differences are factors of weights, as those of pairs are. Where a pair's weight has numbers
///   beside exponentials, whose largest may be far above them, all of its exponentials count.
/// - with `tile.nearest`, quotients and square roots that reach a floor or a comparison, but for their own
///   with 0, through arithmetic and maps: by a rounded reciprocal, or within two units of the last place,
///   floor(21 / 7) may be 2.
void markPrecision(FunctionOp function);

} // namespace taylor

#endif

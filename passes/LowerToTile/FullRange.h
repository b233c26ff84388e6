// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_PASSES_LOWERTOTILE_FULLRANGE_H
#define TAYLOR_PASSES_LOWERTOTILE_FULLRANGE_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Marks exponentials of arrays with `tile.full_range`: features, gates and the like, of which small ones
/// count. Those of differences are factors of weights, as those of pairs are.
void markFullRange(FunctionOp function);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters and sizes of channels as numbers, and masks that hide every pair with them.
#ifndef TAYLOR_PASSES_SPECIFICATION_MASKCHECK_H
#define TAYLOR_PASSES_SPECIFICATION_MASKCHECK_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Sizes of d and e; 0: not known.
struct ChannelSizes {
  int64_t d = 0, e = 0;
};

/// In the formulas inside `root`, replaces parameters and sizes of channels by their numbers.
void replaceNumbers(mlir::Operation *root, mlir::DictionaryAttr parameters, ChannelSizes sizes);

/// Fails, with an error at the sum, where its mask hides every pair whatever the numbers of tokens, with the
/// specification's parameters as they are set.
mlir::LogicalResult checkMasks(SpecOp spec, ChannelSizes sizes);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_PASSES_EXPONENTGROUPS_H
#define TAYLOR_PASSES_EXPONENTGROUPS_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Divides the sums over keys of a block, so that those of one operation may share a maximum: what contains
/// no exponential, such as a count, leaves those that do, and so do sums that have none in common.
void groupExponents(mlir::Block &block);

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_PASSES_SPECIFICATION_DROPUNUSED_H
#define TAYLOR_PASSES_SPECIFICATION_DROPUNUSED_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Removes operations without users and arguments that are then without users.
void dropUnused(SpecOp spec);

} // namespace taylor

#endif

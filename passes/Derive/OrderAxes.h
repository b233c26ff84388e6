// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One order of axes inside of a specification, whatever its arguments and results have.
#ifndef TAYLOR_PASSES_DERIVE_ORDERAXES_H
#define TAYLOR_PASSES_DERIVE_ORDERAXES_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

/// Where an argument has its axes in another order than the table in dialect/Taylor/README.md, it is read
/// through a map that has them in this one; what operations make of it follows, and results get their own
/// order back at the end. States, whose features come before the channels of values, and integers stay as
/// they are.
void orderAxes(SpecOp spec);

} // namespace taylor

#endif

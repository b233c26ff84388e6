// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes above the tile level: see Passes.td.
#ifndef TAYLOR_PASSES_PASSES_H
#define TAYLOR_PASSES_PASSES_H

#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/EnumOption.h"
#include "passes/Statistics.h"

namespace taylor {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts for all tiles of a program. Passes.td has the rule.
#include "codegen/NVPTX/Passes.h"
#include "codegen/NVPTX/Simt/SimtDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::simt {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "codegen/NVPTX/Passes.h.inc"
} // namespace mlir::simt

using namespace mlir;

namespace {
struct AssignLayouts : simt::impl::AssignLayoutsBase<AssignLayouts> {
  using AssignLayoutsBase::AssignLayoutsBase;
  void runOnOperation() override {}
};
} // namespace

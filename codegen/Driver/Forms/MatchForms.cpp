// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of one function that take the same tensors. Passes.td has the rule.
#include "codegen/Driver/Forms/Passes.h"
#include "passes/Debug.h"

#define DEBUG_TYPE "taylor-match-forms"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_MATCHFORMSPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

namespace {

SmallVector<StringRef> tensorsOf(tile::ProgramOp program) {
  return llvm::map_to_vector(program.getBlock()->getOps<tile::TensorOp>(),
                             [](tile::TensorOp tensor) { return tensor.getName(); });
}

struct MatchForms : taylor::impl::MatchFormsPassBase<MatchForms> {
  void runOnOperation() override {
    for (auto program : llvm::make_early_inc_range(getOperation().getOps<tile::ProgramOp>())) {
      if (!program.isTwin())
        continue;
      tile::FormAttr form = program.getFormAttr();
      auto first = getOperation().lookupSymbol<tile::ProgramOp>(stringifyFunctionRole(form.getFunction()));
      if (!first || tensorsOf(first) == tensorsOf(program))
        continue;
      LDBG() << "@" << program.getSymName() << " goes: it takes other tensors";
      first.setFormAttr(first.getFormAttr().withReason("").withLeftOut(
          "the " + stringifyForm(form.getKind()) + " form takes other tensors"));
      program.erase();
      ++numDropped;
    }
  }
};

} // namespace

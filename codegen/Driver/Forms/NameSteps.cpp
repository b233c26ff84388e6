// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Forms/Passes.h"
#include "passes/Debug.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#define DEBUG_TYPE "taylor-name-steps"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_NAMESTEPSPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

namespace {

struct NameSteps : taylor::impl::NameStepsPassBase<NameSteps> {
  using NameStepsPassBase::NameStepsPassBase;

  void runOnOperation() override;

private:
  void name(FunctionOp function, FunctionRole role);
};

} // namespace

/// Names the function; its form becomes that of the new name.
void NameSteps::name(FunctionOp function, FunctionRole role) {
  function.setSymName(FunctionOp::nameOf(function.getSpecName(), role));
  function.setFormAttr(makeForm(function, role, getForm(function).getKind()));
  LDBG() << "@" << function.getSymName() << ": " << function.getFormAttr();
}

void NameSteps::runOnOperation() {
  llvm::StringSet<> prepared;
  for (auto function : getOperation().getOps<FunctionOp>())
    if (function.getPreparesKeys())
      prepared.insert(function.getSpecName());
  for (FunctionOp function : llvm::to_vector(getOperation().getOps<FunctionOp>())) {
    if (!function.getFormAttr())
      continue;
    if (function.getPreparesKeys()) {
      name(function, FunctionRole::Append);
      continue;
    }
    if (getForm(function).getKind() == Form::Recurrent)
      ++numRecurrences;
    else
      ++numOverKeys;
    StringAttr because = getForm(function).getBecause();
    name(function, FunctionRole::Step);
    if (prepared.contains(function.getSpecName())) {
      auto extend = cast<FunctionOp>(OpBuilder::atBlockEnd(getOperation().getBody()).clone(*function));
      name(extend, FunctionRole::Extend);
    }
    if (because)
      setReason(function, because.getValue());
  }
}

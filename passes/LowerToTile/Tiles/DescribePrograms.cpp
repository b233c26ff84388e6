// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts of tile programs as an attribute of their module. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"

#define DEBUG_TYPE "taylor-describe-programs"

using namespace mlir;
using namespace mlir::tile;

namespace taylor {
#define GEN_PASS_DEF_DESCRIBEPROGRAMSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {

StringAttr reasonOf(TensorOp) { return {}; } // the caller brings it
StringAttr reasonOf(WorkspaceOp workspace) { return workspace.getBecauseAttr(); }

/// The arrays that operations of a kind declare in a program, as a list of `#tile.named_array`.
template <typename Op> ArrayAttr describeArrays(ProgramOp program) {
  SmallVector<Attribute> arrays;
  for (Op op : program.getBlock()->getOps<Op>())
    arrays.push_back(NamedArrayAttr::get(op.getContext(), op.getNameAttr(), op.getType(), reasonOf(op)));
  return ArrayAttr::get(program.getContext(), arrays);
}

/// Null, after an error, of a program that no function's name or form says what it is for.
ProgramFactsAttr describe(ProgramOp program) {
  Builder builder(program.getContext());
  std::optional<taylor::FunctionRole> role = program.getRole();
  if (!role) {
    program.emitOpError("requires a form, or the name of a function, such as @forward");
    return {};
  }
  FormAttr form = program.getFormAttr();
  if (!form)
    form = FormAttr::get(builder.getContext(), taylor::Form::Parallel, *role);
  SmallVector<Attribute> kernels;
  for (auto kernel : program.getBlock()->getOps<KernelOp>())
    kernels.push_back(kernel.getSymNameAttr());
  return ProgramFactsAttr::get(builder.getContext(), program.getSymNameAttr(), form,
                               describeArrays<TensorOp>(program), builder.getArrayAttr(kernels),
                               describeArrays<WorkspaceOp>(program), program.getPlanAttr());
}

struct DescribePrograms : taylor::impl::DescribeProgramsPassBase<DescribePrograms> {
  void runOnOperation() override {
    SmallVector<Attribute> programs;
    for (auto program : getOperation().getOps<ProgramOp>()) {
      programs.push_back(describe(program));
      if (!programs.back())
        return signalPassFailure();
      LDBG() << programs.back();
      ++numDescribed;
    }
    getOperation()->setAttr(kPrograms, ArrayAttr::get(&getContext(), programs));
  }
};

} // namespace

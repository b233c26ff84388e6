// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/OrderAxes.h"
#include "dialect/Taylor/ArrayBuilder.h"

using namespace mlir;
using namespace taylor;

/// Operations on one array give the result its order, which was the argument's.
static void retype(Value result) {
  auto type = dyn_cast<ArrayType>(result.getType());
  if (type && !type.has("f") && !type.getElementType().isInteger())
    result.setType(joinAxes(result, type.getElementType()));
}

void taylor::orderAxes(SpecOp spec) {
  Block &body = spec.getBody().front();
  Operation *yield = body.getTerminator();
  SmallVector<ArrayType> yielded =
      llvm::map_to_vector(yield->getOperands(), [](Value value) { return arrayTypeOf(value); });
  OpBuilder builder(spec.getContext());
  builder.setInsertionPointToStart(&body);
  bool isOrdered = true;
  for (BlockArgument argument : body.getArguments()) {
    Value ordered = buildInTableOrder(builder, spec.getLoc(), argument);
    if (ordered == argument)
      continue;
    isOrdered = false;
    argument.replaceAllUsesExcept(ordered, ordered.getDefiningOp());
  }
  if (isOrdered)
    return;
  for (Operation &op : body.without_terminator())
    llvm::for_each(op.getResults(), retype);
  builder.setInsertionPoint(yield);
  for (auto [operand, type] : llvm::zip_equal(yield->getOpOperands(), yielded))
    operand.set(buildInOrder(builder, spec.getLoc(), operand.get(), type));
}

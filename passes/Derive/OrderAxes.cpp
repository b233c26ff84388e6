// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/Specification/Rewrites.h"

using namespace mlir;
using namespace taylor;

/// An array's type with its axes in the table's order; that of a state or of integers as it is.
static ArrayType inTableOrder(Value array) {
  ArrayType type = arrayTypeOf(array);
  bool stays = type.has(AxisRole::Feature) || type.getElementType().isInteger();
  return stays ? type : joinAxes(array, type.getElementType());
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
    Value ordered = buildInOrder(builder, spec.getLoc(), argument, inTableOrder(argument));
    if (ordered == argument)
      continue;
    isOrdered = false;
    argument.replaceAllUsesExcept(ordered, ordered.getDefiningOp());
  }
  if (isOrdered)
    return;
  // Operations on one array give their results its order, which was the argument's.
  for (Operation &op : body.without_terminator())
    for (Value result : op.getResults())
      result.setType(inTableOrder(result));
  builder.setInsertionPoint(yield);
  for (auto [operand, type] : llvm::zip_equal(yield->getOpOperands(), yielded))
    operand.set(buildInOrder(builder, spec.getLoc(), operand.get(), type));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/RegionDerivative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

bool taylor::isConstantScalar(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  return op && llvm::all_of(op->getOperands(), isConstantScalar);
}

void taylor::cloneScalars(OpBuilder &builder, Block &block, IRMapping &values) {
  for (Operation &op : block.without_terminator())
    builder.clone(op, values);
}

FailureOr<SmallVector<Value>> taylor::differentiateScalars(OpBuilder &builder, Block &block, IRMapping &values,
                                                           ArrayRef<Value> yielded) {
  DenseMap<Value, Value> cotangents;
  auto add = [&](Value value, Value cotangent) {
    if (!cotangent)
      return;
    Value &sum = cotangents[value];
    sum = sum ? arith::AddFOp::create(builder, cotangent.getLoc(), sum, cotangent).getResult() : cotangent;
  };
  for (auto [value, cotangent] : llvm::zip_equal(block.getTerminator()->getOperands(), yielded))
    add(value, cotangent);

  for (Operation &op : llvm::reverse(block.without_terminator())) {
    // Every scalar operation has one result.
    Value cotangent = cotangents.lookup(op.getResult(0));
    if (!cotangent || isConstantScalar(op.getResult(0)))
      continue;
    Operation *clone = values.lookup(op.getResult(0)).getDefiningOp();
    auto rule = dyn_cast<DifferentiableScalarOpInterface>(clone);
    if (!rule)
      return op.emitError() << "unsupported derivative of '" << op.getName()
                            << "': it has no rule (dialect/Taylor/ScalarDerivatives.cpp); write the formula without it";
    SmallVector<Value> operands;
    if (failed(rule.buildScalarVectorJacobianProduct(builder, cotangent, operands)))
      return failure();
    for (auto [operand, operandCotangent] : llvm::zip_equal(op.getOperands(), operands))
      add(operand, operandCotangent);
  }
  SmallVector<Value> result;
  for (BlockArgument argument : block.getArguments())
    result.push_back(cotangents.lookup(argument));
  return result;
}

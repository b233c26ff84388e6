// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/RegionDerivative.h"

#include "dialect/Refusal.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Polynomial.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

bool taylor::isConstantScalar(Value scalar) {
  return llvm::none_of(collectScalars(scalar), [](Value part) { return isa<BlockArgument>(part); });
}

void taylor::cloneScalars(OpBuilder &builder, Block &block, IRMapping &values) {
  for (Operation &op : block.without_terminator())
    builder.clone(op, values);
}

/// p'(x) as a scalar of the derived region, for a polynomial of the original one; built where p is, so that p
/// can be read from it. Operation by operation the rule would cost 3 multiplications a power, Horner's rule
/// for p' costs one; and where p is a truncated exponential it is p' plus its last term.
static Value buildDerivative(OpBuilder &builder, const Polynomial &polynomial, Value scalar,
                             IRMapping &values) {
  OpBuilder::InsertionGuard guard(builder);
  Value clone = values.lookup(scalar);
  builder.setInsertionPointAfterValue(clone);
  Location loc = scalar.getLoc();
  Polynomial derivative = polynomial.derivative();
  derivative.x = values.lookupOrDefault(polynomial.x);
  Value slope = derivative.build(builder, loc);
  if (polynomial.isTruncatedExponential()) {
    Value top = arith::MulFOp::create(
        builder, loc, buildPower(builder, loc, derivative.x, derivative.coefficients.size()),
        buildNumber(builder, loc, slope.getType(), polynomial.coefficients.back()));
    Value sum = arith::AddFOp::create(builder, loc, top, slope);
    clone.replaceAllUsesWith(sum);
    values.map(scalar, sum);
  }
  return slope;
}

FailureOr<SmallVector<Value>> taylor::differentiateScalars(OpBuilder &builder, Block &block,
                                                           IRMapping &values, ArrayRef<Value> yielded) {
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
    if (std::optional<Polynomial> polynomial = Polynomial::read(op.getResult(0))) {
      Value slope = buildDerivative(builder, *polynomial, op.getResult(0), values);
      add(polynomial->x, arith::MulFOp::create(builder, op.getLoc(), cotangent, slope));
      continue;
    }
    Operation *clone = values.lookup(op.getResult(0)).getDefiningOp();
    auto rule = dyn_cast<DifferentiableScalarOpInterface>(clone);
    if (!rule)
      return refuse(op.emitError())
             << "unsupported derivative of '" << op.getName()
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

SmallVector<AxisRef> taylor::axesToSum(ArrayType domain, ArrayType operand) {
  SmallVector<AxisRef> axes;
  for (StringAttr axis : domain.getAxes())
    if (!operand.has(axis.getValue()))
      axes.push_back(axis.getValue() == AxisRole::Head && operand.has(AxisRole::KeyHead) ? StringRef(kGroup)
                                                                                         : axis.getValue());
  return axes;
}

Value taylor::buildAsked(OpBuilder &builder, Location loc, Value factor, Value product) {
  return buildOrZero(builder, loc, buildIsNonzero(builder, loc, factor), product);
}

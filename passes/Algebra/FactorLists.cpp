// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Algebra/Factors.h"

#include "dialect/Taylor/ArrayBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace taylor;

/// A number that may leave a product.
static std::optional<double> constantOf(Value scalar) {
  FloatAttr number;
  if (!matchPattern(scalar, m_Constant(&number)) || number.getValueAsDouble() == 0.0 ||
      !number.getValue().isFinite())
    return std::nullopt;
  return number.getValueAsDouble();
}

/// Counts down the factors of a product, those of shared parts each time; false if they are more than `left`.
static bool countFactors(Value scalar, unsigned &left) {
  Operation *op = scalar.getDefiningOp();
  if (isa_and_nonnull<arith::MulFOp, arith::DivFOp, arith::NegFOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) { return countFactors(operand, left); });
  return left && left--;
}

/// A product of more factors is one factor: x squared 25 times has 2^25 of them.
static bool isOpened(Value scalar) {
  unsigned left = 1024;
  return countFactors(scalar, left);
}

static void readFactors(Value scalar, bool divided, Product &product) {
  if (std::optional<double> value = constantOf(scalar)) {
    product.constant = divided ? product.constant / *value : product.constant * *value;
    return;
  }
  Operation *op = scalar.getDefiningOp();
  if (isa_and_nonnull<arith::MulFOp>(op)) {
    readFactors(op->getOperand(0), divided, product);
    readFactors(op->getOperand(1), divided, product);
  } else if (isa_and_nonnull<arith::DivFOp>(op)) {
    readFactors(op->getOperand(0), divided, product);
    readFactors(op->getOperand(1), !divided, product);
  } else if (isa_and_nonnull<arith::NegFOp>(op)) {
    product.constant = -product.constant;
    readFactors(op->getOperand(0), divided, product);
  } else {
    (divided ? product.denominator : product.numerator).push_back(scalar);
  }
}

Product Product::read(Value scalar) {
  Product product;
  if (isOpened(scalar))
    readFactors(scalar, false, product);
  else
    product.numerator.push_back(scalar);
  return product;
}

bool Product::cancel() {
  bool changed = false;
  for (auto it = denominator.begin(); it != denominator.end();) {
    auto same = llvm::find(numerator, *it);
    if (same == numerator.end()) {
      ++it;
      continue;
    }
    numerator.erase(same);
    it = denominator.erase(it);
    changed = true;
  }
  return changed;
}

Value Product::build(OpBuilder &builder, Location loc, Type type) const {
  Value value;
  for (Value factor : numerator)
    value = value ? arith::MulFOp::create(builder, loc, value, factor).getResult() : factor;
  if (constant == -1.0 && value)
    value = arith::NegFOp::create(builder, loc, value);
  else if (constant != 1.0 && value)
    value = arith::MulFOp::create(builder, loc, value, buildNumber(builder, loc, type, constant));
  else if (!value)
    value = buildNumber(builder, loc, type, constant);
  for (Value factor : denominator)
    value = arith::DivFOp::create(builder, loc, value, factor);
  return value;
}

static Value dropConstant(OpBuilder &builder, Value scalar) {
  if (constantOf(scalar))
    return {};
  Operation *op = scalar.getDefiningOp();
  if (isa_and_nonnull<arith::NegFOp>(op))
    return dropConstant(builder, op->getOperand(0));
  if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
    return scalar;
  Value x = dropConstant(builder, op->getOperand(0)), y = dropConstant(builder, op->getOperand(1));
  if (x == op->getOperand(0) && y == op->getOperand(1))
    return scalar;
  if (!y)
    return x;
  if (isa<arith::MulFOp>(op))
    return x ? arith::MulFOp::create(builder, op->getLoc(), x, y).getResult() : y;
  if (!x)
    x = buildNumber(builder, op->getLoc(), scalar.getType(), 1.0);
  return arith::DivFOp::create(builder, op->getLoc(), x, y);
}

Value taylor::buildWithoutConstant(OpBuilder &builder, Value scalar) {
  return isOpened(scalar) ? dropConstant(builder, scalar) : scalar;
}

void taylor::eraseUnusedScalars(Block &block) {
  SmallVector<Operation *> operations =
      llvm::map_to_vector(block.without_terminator(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(operations))
    if (op->use_empty())
      op->erase();
}

bool taylor::cancelProducts(Block &block) {
  bool changed = false;
  auto isProduct = [](Operation *op) { return isa<arith::MulFOp, arith::DivFOp, arith::NegFOp>(op); };
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (!isProduct(&op) || llvm::all_of(op.getUsers(), isProduct))
      continue;
    Product product = Product::read(op.getResult(0));
    if (!product.cancel())
      continue;
    OpBuilder builder(&op);
    op.getResult(0).replaceAllUsesWith(product.build(builder, op.getLoc(), op.getResult(0).getType()));
    changed = true;
  }
  return changed;
}

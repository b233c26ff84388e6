// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Algebra/Exponentials.h"

#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Algebra/PairwiseRewrite.h"

using namespace mlir;
using namespace taylor;

namespace {

bool isArithmetic(Operation *op) {
  return isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp,
                         arith::SelectOp>(op);
}

/// Writes formulas for one side of a condition.
class Sides {
public:
  Sides(math::ExpOp exp, Value condition) : exp(exp), condition(condition) {}

  /// Whether `scalar` is computed from the exponential and from a select by the condition, by arithmetic
  /// alone.
  bool readsBoth(Value scalar) {
    bool readsExponential = false, readsChoice = false;
    walkSources(scalar, [&](Value part) {
      Operation *op = part.getDefiningOp();
      readsExponential |= op == exp;
      readsChoice |= isChoice(op);
      return isArithmetic(op);
    });
    return readsExponential && readsChoice;
  }

  Value build(OpBuilder &builder, Value scalar, bool side) {
    DenseMap<Value, Value> known; // scalars that several read are written once
    return build(builder, scalar, side, known);
  }

private:
  Value build(OpBuilder &builder, Value scalar, bool side, DenseMap<Value, Value> &known) {
    if (auto it = known.find(scalar); it != known.end())
      return it->second;
    Value built = rebuild(builder, scalar, side, known);
    return known[scalar] = built;
  }

  Value rebuild(OpBuilder &builder, Value scalar, bool side, DenseMap<Value, Value> &known) {
    Operation *op = scalar.getDefiningOp();
    Location loc = scalar.getLoc();
    if (op == exp)
      return side ? scalar : buildNumber(builder, loc, scalar.getType(), 1.0);
    if (isChoice(op))
      return build(builder, op->getOperand(side ? 1 : 2), side, known);
    if (!isArithmetic(op) || op->getResult(0).getType().isInteger())
      return scalar;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(build(builder, operand, side, known));
    if (llvm::equal(operands, op->getOperands()))
      return scalar;
    bool isProduct = isa<arith::MulFOp>(op), isSum = isa<arith::AddFOp>(op);
    if (isProduct || isSum)
      for (unsigned i : {0, 1})
        if (numberOf(operands[i]) == (isProduct ? 1.0 : 0.0))
          return operands[1 - i];
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    return copy->getResult(0);
  }

  bool isChoice(Operation *op) const {
    auto choice = dyn_cast_or_null<arith::SelectOp>(op);
    return choice && choice.getCondition() == condition;
  }

  math::ExpOp exp;
  Value condition;
};

/// Whether a scalar is read for one side of a condition only.
bool isReadOnSide(Value scalar, Value condition, bool side) {
  llvm::SmallDenseSet<Operation *> seen;
  SmallVector<Value> open{scalar};
  while (!open.empty())
    for (OpOperand &use : open.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      auto choice = dyn_cast<arith::SelectOp>(user);
      if (choice && choice.getCondition() == condition) {
        if (use.getOperandNumber() != (side ? 1u : 2u))
          return false;
      } else if (user->getNumResults() == 0) {
        return false;
      } else if (seen.insert(user).second) {
        open.push_back(user->getResult(0));
      }
    }
  return true;
}

/// Sigmoids and softplus of a score on the other side are computed of e^-|x|, so that a pair takes one
/// exponential for both sides: exp(select(c, .., -|x|)).
class SharedExponential {
public:
  SharedExponential(math::ExpOp exp, Value condition) : exp(exp), condition(condition) {}

  void run() {
    if (!isReadOnSide(exp, condition, true))
      return;
    SmallVector<Operation *> functions;
    for (Operation &op : *exp->getBlock())
      if (isa<SigmoidOp, SoftplusOp>(op) && isHeld(op.getOperand(0)) &&
          isReadOnSide(op.getResult(0), condition, false))
        functions.push_back(&op);
    if (functions.empty())
      return;
    build(cast<arith::SelectOp>(functions.front()->getOperand(0).getDefiningOp()));
    for (Operation *op : functions) {
      OpBuilder builder(op);
      op->replaceAllUsesWith(ValueRange{isa<SigmoidOp>(op) ? buildSigmoid(builder) : buildSoftplus(builder)});
      op->erase();
    }
  }

private:
  /// Whether `scalar` is select(c, C, x) with the condition's x and a constant C; all functions share it.
  bool isHeld(Value scalar) const {
    auto choice = scalar.getDefiningOp<arith::SelectOp>();
    return choice && choice.getCondition() == condition && numberOf(choice.getTrueValue()) &&
           llvm::is_contained(condition.getDefiningOp()->getOperands(), choice.getFalseValue());
  }

  void build(arith::SelectOp held) {
    OpBuilder builder(exp);
    loc = exp.getLoc();
    Type type = exp.getType();
    zero = buildNumber(builder, loc, type, 0.0);
    one = buildNumber(builder, loc, type, 1.0);
    Value limit = buildNumber(builder, loc, type, *numberOf(held.getTrueValue()));
    x = arith::SelectOp::create(builder, loc, condition, limit, held.getFalseValue());
    Value below = arith::NegFOp::create(builder, loc, math::AbsFOp::create(builder, loc, x));
    exp.getOperandMutable().set(
        arith::SelectOp::create(builder, loc, condition, exp.getOperand(), below).getResult());
  }

  Value buildSigmoid(OpBuilder &builder) {
    Value isBelow = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, zero);
    Value top = arith::SelectOp::create(builder, loc, isBelow, exp, one);
    return arith::DivFOp::create(builder, loc, top, arith::AddFOp::create(builder, loc, exp, one));
  }

  Value buildSoftplus(OpBuilder &builder) {
    Value positive = arith::MaximumFOp::create(builder, loc, x, zero);
    return arith::AddFOp::create(builder, loc, positive, math::Log1pOp::create(builder, loc, exp));
  }

  math::ExpOp exp;
  Value condition, x, zero, one;
  Location loc = UnknownLoc::get(exp->getContext());
};

} // namespace

static arith::SelectOp choiceOf(math::ExpOp exp) {
  Value exponent = exp.getOperand();
  if (auto difference = exponent.getDefiningOp<arith::SubFOp>()) // from a maximum
    exponent = difference.getLhs();
  return exponent.getDefiningOp<arith::SelectOp>();
}

bool taylor::isChosenExponential(math::ExpOp exp) {
  arith::SelectOp choice = choiceOf(exp);
  auto compare = choice ? choice.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
  if (!compare || compare.getPredicate() != arith::CmpFPredicate::OLT ||
      numberOf(choice.getFalseValue()) != 0.0)
    return false;
  // p x, with p and the edge of such signs that it is below 0.
  Value x = choice.getTrueValue();
  double p = 1.0;
  if (auto product = x.getDefiningOp<arith::MulFOp>())
    if (std::optional<double> factor = numberOf(product.getRhs());
        factor && !llvm::is_contained(compare->getOperands(), x)) {
      x = product.getLhs();
      p = *factor;
    }
  std::optional<double> below = numberOf(compare.getRhs()), above = numberOf(compare.getLhs());
  return (compare.getLhs() == x && below && *below <= 0.0 && p > 0.0) ||
         (compare.getRhs() == x && above && *above >= 0.0 && p < 0.0);
}

void taylor::simplifyChosen(math::ExpOp exp) {
  Sides sides(exp, choiceOf(exp).getCondition());
  Block &block = *exp->getBlock();
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (!isArithmetic(&op) || !sides.readsBoth(op.getResult(0)) || op.getResult(0).getType().isInteger())
      continue;
    SmallVector<OpOperand *> uses; // by what is no arithmetic
    for (OpOperand &use : op.getUses())
      if (!isArithmetic(use.getOwner()))
        uses.push_back(&use);
    if (uses.empty())
      continue;
    OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(&op);
    Value whole = op.getResult(0);
    Value chosen = sides.build(builder, whole, true), other = sides.build(builder, whole, false);
    Value choice = arith::SelectOp::create(builder, op.getLoc(), choiceOf(exp).getCondition(), chosen, other);
    for (OpOperand *use : uses)
      use->set(choice);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) // which would count as readers
    if (!isa<math::ExpOp>(op) && isOpTriviallyDead(&op))
      op.erase();
  SharedExponential(exp, choiceOf(exp).getCondition()).run();
}

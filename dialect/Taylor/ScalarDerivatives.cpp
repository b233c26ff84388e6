// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The derivative of every scalar operation that may stand in a region. Conventions at ties and kinks are
// torch's: a clamp passes the gradient on its bound, the maximum of two values gives
// half to each, |x|' = 0 at 0.
#include "dialect/Taylor/RegionDerivative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <numbers>

using namespace mlir;
using namespace taylor;

namespace {

using Cotangents = SmallVectorImpl<Value>;

/// Infix building of scalar operations at one place.
struct Scalars {
  OpBuilder &builder;
  Location loc;

  Value number(Value like, double value) {
    return arith::ConstantOp::create(builder, loc, FloatAttr::get(like.getType(), value));
  }
  Value add(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value subtract(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
  Value multiply(Value a, Value b) { return arith::MulFOp::create(builder, loc, a, b); }
  Value divide(Value a, Value b) { return arith::DivFOp::create(builder, loc, a, b); }
  Value negate(Value a) { return arith::NegFOp::create(builder, loc, a); }
  Value isLess(Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, a, b);
  }
  Value isAtMost(Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, a, b);
  }
  Value isEqual(Value a, Value b) {
    return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
};

/// Whether a scalar is above 0 (`strictly`), or at least 0, whatever the arrays hold: made of numbers, sizes
/// and places. (passes/Algebra/ScalarRanges.h knows more; it reads arrays, and passes stand above the
/// dialect.)
bool isPositive(Value x, bool strictly) {
  if (FloatAttr number; matchPattern(x, m_Constant(&number)))
    return strictly ? number.getValueAsDouble() > 0.0 : number.getValueAsDouble() >= 0.0;
  Operation *op = x.getDefiningOp();
  if (auto index = dyn_cast_or_null<IndexOp>(op)) // a query may stand before a key, and of the first
    return !strictly && index.getAxis() != AxisRole::Lag && index.getAxis() != AxisRole::Query;
  if (isa_and_nonnull<SizeOp>(op))
    return true;
  if (isa_and_nonnull<arith::AddFOp>(op)) {
    Value a = op->getOperand(0), b = op->getOperand(1);
    return isPositive(a, false) && isPositive(b, false) &&
           (!strictly || isPositive(a, true) || isPositive(b, true));
  }
  return isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op) && isPositive(op->getOperand(0), strictly) &&
         isPositive(op->getOperand(1), true);
}

void differentiate(arith::AddFOp op, Scalars s, Value dy, Cotangents &d) { d.append({dy, dy}); }
void differentiate(arith::SubFOp op, Scalars s, Value dy, Cotangents &d) { d.append({dy, s.negate(dy)}); }
void differentiate(arith::NegFOp op, Scalars s, Value dy, Cotangents &d) { d.push_back(s.negate(dy)); }
void differentiate(arith::MulFOp op, Scalars s, Value dy, Cotangents &d) {
  d.append({s.multiply(dy, op.getRhs()), s.multiply(dy, op.getLhs())});
}
/// Where a quotient is not chosen, as one by 0 is not, neither is what it gives: 0 / 0 is no number.
void differentiate(arith::DivFOp op, Scalars s, Value dy, Cotangents &d) {
  auto choice = dy.getDefiningOp<arith::SelectOp>();
  bool isFirst = choice && matchPattern(choice.getFalseValue(), m_AnyZeroFloat());
  bool isSecond = choice && !isFirst && matchPattern(choice.getTrueValue(), m_AnyZeroFloat());
  Value chosen = isFirst ? choice.getTrueValue() : isSecond ? choice.getFalseValue() : dy;
  auto guard = [&](Value x) {
    if (!isFirst && !isSecond)
      return x;
    Value zero = s.number(dy, 0.0);
    return s.select(choice.getCondition(), isFirst ? x : zero, isFirst ? zero : x);
  };
  Value dx = s.divide(chosen, op.getRhs());
  d.push_back(guard(dx));
  d.push_back(isConstantScalar(op.getRhs()) ? Value() : guard(s.negate(s.multiply(dx, op.getResult()))));
}

/// A clamp of a NaN passes nothing on, as in torch; the extremum of two numbers does, to both.
void differentiateExtremum(Value a, Value b, Scalars s, Value dy, Cotangents &d, bool isMinimum) {
  Value zero = s.number(dy, 0.0);
  auto chosen = [&](Value x, Value y) { return isMinimum ? s.isAtMost(x, y) : s.isAtMost(y, x); };
  if (isConstantScalar(a) || isConstantScalar(b)) {
    d.push_back(isConstantScalar(a) ? Value() : s.select(chosen(a, b), dy, zero));
    d.push_back(isConstantScalar(b) ? Value() : s.select(chosen(b, a), dy, zero));
    return;
  }
  Value half = s.multiply(dy, s.number(dy, 0.5));
  Value isLess = s.isLess(a, b), isMore = s.isLess(b, a);
  Value first = isMinimum ? isLess : isMore, second = isMinimum ? isMore : isLess;
  d.push_back(s.select(second, zero, s.select(first, dy, half)));
  d.push_back(s.select(first, zero, s.select(second, dy, half)));
}
void differentiate(arith::MaximumFOp op, Scalars s, Value dy, Cotangents &d) {
  differentiateExtremum(op.getLhs(), op.getRhs(), s, dy, d, /*isMinimum=*/false);
}
void differentiate(arith::MaxNumFOp op, Scalars s, Value dy, Cotangents &d) {
  differentiateExtremum(op.getLhs(), op.getRhs(), s, dy, d, /*isMinimum=*/false);
}
void differentiate(arith::MinimumFOp op, Scalars s, Value dy, Cotangents &d) {
  differentiateExtremum(op.getLhs(), op.getRhs(), s, dy, d, /*isMinimum=*/true);
}
void differentiate(arith::MinNumFOp op, Scalars s, Value dy, Cotangents &d) {
  differentiateExtremum(op.getLhs(), op.getRhs(), s, dy, d, /*isMinimum=*/true);
}
void differentiate(arith::SelectOp op, Scalars s, Value dy, Cotangents &d) {
  Value zero = s.number(dy, 0.0);
  d.append({Value(), s.select(op.getCondition(), dy, zero), s.select(op.getCondition(), zero, dy)});
}

void differentiate(math::ExpOp op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(s.multiply(dy, op.getResult()));
}
void differentiate(math::Exp2Op op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(s.multiply(s.multiply(dy, op.getResult()), s.number(dy, std::numbers::ln2)));
}
void differentiate(math::ExpM1Op op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(s.multiply(dy, s.add(op.getResult(), s.number(dy, 1.0))));
}
void differentiate(math::LogOp op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(s.divide(dy, op.getOperand()));
}
void differentiate(math::Log2Op op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(s.divide(s.multiply(dy, s.number(dy, std::numbers::log2e)), op.getOperand()));
}
void differentiate(math::Log1pOp op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(s.divide(dy, s.add(op.getOperand(), s.number(dy, 1.0))));
}
void differentiate(math::SqrtOp op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(s.divide(s.multiply(dy, s.number(dy, 0.5)), op.getResult()));
}
void differentiate(math::RsqrtOp op, Scalars s, Value dy, Cotangents &d) {
  // y / x and not y^3: where the result is scaled by y too, as in a norm, y's rounding is a common factor
  // then and leaves the gradient orthogonal to x; and y^3 underflows long before y does.
  d.push_back(s.divide(s.multiply(s.multiply(dy, s.number(dy, -0.5)), op.getResult()), op.getOperand()));
}
void differentiate(math::TanhOp op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(s.multiply(dy, s.subtract(s.number(dy, 1.0), s.multiply(op.getResult(), op.getResult()))));
}
void differentiate(math::SinOp op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(s.multiply(dy, math::CosOp::create(s.builder, s.loc, op.getOperand())));
}
void differentiate(math::CosOp op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(s.negate(s.multiply(dy, math::SinOp::create(s.builder, s.loc, op.getOperand()))));
}
void differentiate(math::ErfOp op, Scalars s, Value dy, Cotangents &d) {
  Value gauss = math::ExpOp::create(s.builder, s.loc, s.negate(s.multiply(op.getOperand(), op.getOperand())));
  d.push_back(s.multiply(dy, s.multiply(s.number(dy, 2.0 * std::numbers::inv_sqrtpi), gauss)));
}
void differentiate(math::AbsFOp op, Scalars s, Value dy, Cotangents &d) {
  Value zero = s.number(dy, 0.0);
  // A NaN passes it on.
  d.push_back(s.select(s.isLess(op.getOperand(), zero), s.negate(dy),
                       s.select(s.isEqual(op.getOperand(), zero), zero, dy)));
}
/// x^0 does not move with x, nor 0^p with p for p >= 0: there the factors would be 0 and infinity.
void differentiate(math::PowFOp op, Scalars s, Value dy, Cotangents &d) {
  Value x = op.getLhs(), p = op.getRhs(), zero = s.number(dy, 0.0);
  auto toBase = [&]() -> Value {
    if (isConstantScalar(x) || matchPattern(p, m_AnyZeroFloat()))
      return {};
    Value lower = math::PowFOp::create(s.builder, s.loc, x, s.subtract(p, s.number(dy, 1.0)));
    Value slope = s.multiply(p, lower);
    return s.multiply(dy, matchPattern(p, m_Constant()) ? slope : s.select(s.isEqual(p, zero), zero, slope));
  };
  auto toExponent = [&]() -> Value {
    if (isConstantScalar(p))
      return {};
    Value slope = s.multiply(op.getResult(), math::LogOp::create(s.builder, s.loc, x));
    if (isPositive(x, /*strictly=*/true))
      return s.multiply(dy, slope);
    Value still = arith::AndIOp::create(s.builder, s.loc, s.isEqual(x, zero), s.isAtMost(zero, p));
    return s.multiply(dy, s.select(still, zero, slope));
  };
  d.push_back(toBase());
  d.push_back(toExponent());
}
void differentiate(math::FmaOp op, Scalars s, Value dy, Cotangents &d) {
  d.append({s.multiply(dy, op.getB()), s.multiply(dy, op.getA()), dy});
}
void differentiate(arith::ExtFOp op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(arith::TruncFOp::create(s.builder, s.loc, op.getIn().getType(), dy));
}
void differentiate(arith::TruncFOp op, Scalars s, Value dy, Cotangents &d) {
  d.push_back(arith::ExtFOp::create(s.builder, s.loc, op.getIn().getType(), dy));
}

/// Conditions and conversions from integers: piecewise constant.
template <typename Op> void differentiateConstant(Op op, Cotangents &d) {
  d.append(op->getNumOperands(), Value());
}
void differentiate(arith::CmpFOp op, Scalars, Value, Cotangents &d) { differentiateConstant(op, d); }
void differentiate(arith::CmpIOp op, Scalars, Value, Cotangents &d) { differentiateConstant(op, d); }
void differentiate(arith::AndIOp op, Scalars, Value, Cotangents &d) { differentiateConstant(op, d); }
void differentiate(arith::OrIOp op, Scalars, Value, Cotangents &d) { differentiateConstant(op, d); }
void differentiate(arith::XOrIOp op, Scalars, Value, Cotangents &d) { differentiateConstant(op, d); }
void differentiate(arith::SIToFPOp op, Scalars, Value, Cotangents &d) { differentiateConstant(op, d); }
void differentiate(arith::ConstantOp op, Scalars, Value, Cotangents &d) { differentiateConstant(op, d); }
void differentiate(math::FloorOp op, Scalars, Value, Cotangents &d) { differentiateConstant(op, d); }
void differentiate(math::CeilOp op, Scalars, Value, Cotangents &d) { differentiateConstant(op, d); }
void differentiate(math::RoundEvenOp op, Scalars, Value, Cotangents &d) { differentiateConstant(op, d); }

template <typename Op>
struct ScalarRule : DifferentiableScalarOpInterface::ExternalModel<ScalarRule<Op>, Op> {
  LogicalResult buildScalarVectorJacobianProduct(Operation *op, OpBuilder &builder, Value cotangent,
                                                 SmallVectorImpl<Value> &cotangents) const {
    differentiate(cast<Op>(op), Scalars{builder, op->getLoc()}, cotangent, cotangents);
    return success();
  }
};

template <typename... Ops> void attachRules(MLIRContext *context) {
  (Ops::template attachInterface<ScalarRule<Ops>>(*context), ...);
}

} // namespace

void TaylorDialect::registerDerivativeRules() {
  attachRules<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
              arith::MaxNumFOp, arith::MinimumFOp, arith::MinNumFOp, arith::SelectOp, arith::CmpFOp,
              arith::CmpIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SIToFPOp, arith::ConstantOp,
              arith::ExtFOp, arith::TruncFOp, math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp,
              math::Log2Op, math::Log1pOp, math::SqrtOp, math::RsqrtOp, math::TanhOp, math::SinOp,
              math::CosOp, math::ErfOp, math::AbsFOp, math::PowFOp, math::FmaOp, math::FloorOp, math::CeilOp,
              math::RoundEvenOp>(getContext());
}

//===----------------------------------------------------------------------===//
// Scalar operations of this dialect
//===----------------------------------------------------------------------===//

LogicalResult SigmoidOp::buildScalarVectorJacobianProduct(OpBuilder &builder, Value cotangent,
                                                          SmallVectorImpl<Value> &cotangents) {
  Scalars s{builder, getLoc()};
  Value y = getResult();
  cotangents.push_back(s.multiply(cotangent, s.multiply(y, s.subtract(s.number(cotangent, 1.0), y))));
  return success();
}

LogicalResult SoftplusOp::buildScalarVectorJacobianProduct(OpBuilder &builder, Value cotangent,
                                                           SmallVectorImpl<Value> &cotangents) {
  Scalars s{builder, getLoc()};
  cotangents.push_back(s.multiply(cotangent, SigmoidOp::create(builder, getLoc(), getOperand())));
  return success();
}

LogicalResult StopGradientOp::buildScalarVectorJacobianProduct(OpBuilder &, Value,
                                                               SmallVectorImpl<Value> &cotangents) {
  cotangents.push_back({});
  return success();
}

LogicalResult IndexOp::buildScalarVectorJacobianProduct(OpBuilder &, Value, SmallVectorImpl<Value> &) {
  return success();
}

LogicalResult SizeOp::buildScalarVectorJacobianProduct(OpBuilder &, Value, SmallVectorImpl<Value> &) {
  return success();
}

LogicalResult ParameterOp::buildScalarVectorJacobianProduct(OpBuilder &, Value, SmallVectorImpl<Value> &) {
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector-Jacobian products of the operations local to rows, tokens and channels.
#include "dialect/Refusal.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/RegionDerivative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace taylor;

namespace {

/// F of an operation: a scalar region over arrays.
struct LocalFormula {
  Location loc;
  ValueRange arrays;
  ValueRange live;
  Region &body;
};

/// Whether `derivative` is a multiple of the cotangent by a constant, or 0, in each of its branches: where
/// the cotangent is 0, so is it, whatever the arrays hold.
bool isMultiple(Value derivative, Value cotangent) {
  if (derivative == cotangent)
    return true;
  Operation *op = derivative.getDefiningOp();
  auto isConstant = [](Value value) {
    APFloat number(0.0);
    return matchPattern(value, m_ConstantFloat(&number)) && number.isFinite() && !number.isZero();
  };
  if (isa_and_nonnull<arith::NegFOp>(op))
    return isMultiple(op->getOperand(0), cotangent);
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
    return isMultiple(select.getTrueValue(), cotangent) && isMultiple(select.getFalseValue(), cotangent);
  if (isa_and_nonnull<arith::AddFOp, arith::SubFOp>(op))
    return isMultiple(op->getOperand(0), cotangent) && isMultiple(op->getOperand(1), cotangent);
  if (isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op))
    return (isConstant(op->getOperand(1)) && isMultiple(op->getOperand(0), cotangent)) ||
           (isa<arith::MulFOp>(op) && isConstant(op->getOperand(0)) &&
            isMultiple(op->getOperand(1), cotangent));
  return matchPattern(derivative, m_AnyZeroFloat());
}

/// Cotangent of F's value at a point, from that value and the scalars of `extra`.
using ValueCotangent = llvm::function_ref<Value(OpBuilder &, Location, Value value, ValueRange extra)>;

/// Pulls the cotangent of F back to each of its arrays: x' = sum over the axes x lacks of F's vector-Jacobian
/// product. `extra` are further arrays that `cotangentOf` reads, such as the cotangent of the result.
LogicalResult pullBack(OpBuilder &builder, LocalFormula formula, ValueRange extra, ArrayRef<AxisRef> indexed,
                       ValueCotangent cotangentOf, SmallVectorImpl<Value> &cotangents) {
  SmallVector<Value> arrays(formula.arrays);
  llvm::append_range(arrays, extra);
  Type real = realTypeOf(builder.getContext(), ValueRange(arrays).getTypes());
  ArrayType domain = joinAxes(arrays, real, indexed);
  Block &block = formula.body.front();
  unsigned count = formula.arrays.size();
  bool failed = false;

  for (unsigned i = 0; i < count; ++i) {
    ArrayType type = arrayTypeOf(formula.arrays[i]);
    if (!isa<FloatType>(type.getElementType())) {
      cotangents.push_back({});
      continue;
    }
    auto body = [&](OpBuilder &builder, Location loc, ValueRange arguments) -> Value {
      IRMapping values;
      values.map(block.getArguments(), arguments.take_front(count));
      cloneScalars(builder, block, values);
      Value value = values.lookupOrDefault(block.getTerminator()->getOperand(0));
      Value cotangent = cotangentOf(builder, loc, value, arguments.drop_front(count));
      FailureOr<SmallVector<Value>> result = differentiateScalars(builder, block, values, cotangent);
      failed |= mlir::failed(result);
      if (mlir::failed(result))
        return Value();
      Value derivative = (*result)[i];
      // Rows that see no key are left out by `live`, where a formula has it; of keys that no row sees there
      // is no count.
      bool mayBeUnread = domain.has(AxisRole::Key) || (domain.has(AxisRole::Query) && formula.live.empty());
      if (!derivative || !mayBeUnread || isMultiple(derivative, cotangent))
        return derivative;
      return buildAsked(builder, loc, cotangent, derivative);
    };
    SmallVector<AxisRef> axes = axesToSum(domain, type);
    cotangents.push_back(
        axes.empty() ? buildMap(builder, formula.loc, arrays, formula.live, body, type.clone(real))
                     : buildReduce(builder, formula.loc, Reduction::Sum, axes, arrays, formula.live, body));
    if (failed)
      return failure();
  }
  return success();
}

Value passOn(OpBuilder &, Location, Value, ValueRange extra) { return extra[0]; }

} // namespace

LogicalResult MapOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                SmallVectorImpl<Value> &cotangents) {
  if (failed(pullBack(builder, {getLoc(), getArrays(), getLive(), getBody()}, results[0],
                      indexedAxes(getBody()), passOn, cotangents)))
    return failure();
  cotangents.append(getLive().size(), Value());
  return success();
}

LogicalResult ReduceOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                   SmallVectorImpl<Value> &cotangents) {
  LocalFormula formula{getLoc(), getArrays(), getLive(), getBody()};
  SmallVector<AxisRef> indexed = indexedAxes(getBody());
  SmallVector<AxisRef> axes(getAxes().getAsValueRange<StringAttr>());
  LogicalResult result = success();
  switch (getKind()) {
  case Reduction::Sum:
    result = pullBack(builder, formula, results[0], indexed, passOn, cotangents);
    break;
  case Reduction::Mean: {
    ArrayType domain = joinAxes(getArrays(), realTypeOf(getContext(), getArrays().getTypes()), indexed);
    auto share = [&](OpBuilder &builder, Location loc, Value, ValueRange extra) {
      Value cotangent = extra[0];
      Type real = cotangent.getType();
      auto sizeOf = [&](AxisRef axis) -> Value {
        int64_t size = domain.sizeOf(axis);
        if (size == ArrayType::kUnknown)
          return SizeOp::create(builder, loc, real, builder.getStringAttr(axis));
        return buildNumber(builder, loc, real, static_cast<double>(size));
      };
      for (StringRef axis : axes) {
        Value divisor = axis == kGroup ? arith::DivFOp::create(builder, loc, sizeOf(AxisRole::Head),
                                                               sizeOf(AxisRole::KeyHead))
                                             .getResult()
                                       : sizeOf(axis);
        cotangent = arith::DivFOp::create(builder, loc, cotangent, divisor);
      }
      return cotangent;
    };
    result = pullBack(builder, formula, results[0], indexed, share, cotangents);
    break;
  }
  case Reduction::Max: {
    // Ties share: cotangent / number of them. The value may have been computed again, and then rounds
    // differently than the one that the maximum is of: by an ulp or so where nothing cancels, a rotation say.
    // (What is read back from a rounded output differs by more, and is not compared: taylor-reuse-outputs.)
    auto isMaximum = [&](OpBuilder &builder, Location loc, Value value, Value maximum, Value then) -> Value {
      Type real = value.getType();
      double rounding = std::ldexp(8.0, -int(cast<FloatType>(real).getFPMantissaWidth()));
      Value size = math::AbsFOp::create(builder, loc, maximum);
      Value least = arith::SubFOp::create(
          builder, loc, maximum,
          arith::MulFOp::create(builder, loc, size, buildNumber(builder, loc, real, rounding)));
      Value reaches = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, least, value);
      Value equal =
          arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, value, maximum); // infinite
      return buildOrZero(builder, loc, arith::OrIOp::create(builder, loc, equal, reaches), then);
    };
    SmallVector<Value> arrays(getArrays());
    arrays.push_back(getResult());
    Block &block = getBody().front();
    Value ties = buildReduce(builder, getLoc(), Reduction::Sum, axes, arrays, getLive(),
                             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
                               IRMapping values;
                               values.map(block.getArguments(), arguments.drop_back());
                               cloneScalars(builder, block, values);
                               Value value = values.lookupOrDefault(block.getTerminator()->getOperand(0));
                               return isMaximum(builder, loc, value, arguments.back(),
                                                buildNumber(builder, loc, value.getType(), 1.0));
                             });
    auto share = [&](OpBuilder &builder, Location loc, Value value, ValueRange extra) {
      Value one = buildNumber(builder, loc, value.getType(), 1.0);
      Value shared = arith::MaximumFOp::create(builder, loc, extra[2], one);
      Value share =
          isMaximum(builder, loc, value, extra[1], arith::DivFOp::create(builder, loc, extra[0], shared));
      // A maximum that is a NaN has no derivative at any term; unless nothing is asked of it.
      Value zero = buildNumber(builder, loc, value.getType(), 0.0);
      Value isAsked = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, extra[0], zero);
      Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, extra[1], extra[1]);
      return arith::SelectOp::create(builder, loc, arith::AndIOp::create(builder, loc, isNaN, isAsked),
                                     extra[1], share);
    };
    result = pullBack(builder, formula, {results[0], getResult(), ties}, indexed, share, cotangents);
    break;
  }
  }
  cotangents.append(getLive().size(), Value());
  return result;
}

LogicalResult ScanOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                 SmallVectorImpl<Value> &cotangents) {
  if (getKind() == ScanKind::Max)
    return refuse(emitError(
        "unsupported derivative of a running maximum; where it only shifts exponents it needs none: "
        "read it as stop(..)"));
  if (getKind() == ScanKind::Low) { // 0 whatever the terms are
    cotangents.append(getNumOperands(), Value());
    return success();
  }
  // The adjoint of a running sum is the running sum from the other end; of a shift, the shift back.
  auto adjoint = ScanOp::create(builder, getLoc(), results[0].getType(), results[0], getWithin(),
                                getKindAttr(), getAxisAttr(), getExclusiveAttr(),
                                getReverse() ? UnitAttr() : builder.getUnitAttr(), getAmountAttr());
  Block *block = addBlock(adjoint.getBody(), scalarTypesOf(results[0]), getLoc());
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  YieldOp::create(inner, getLoc(), block->getArgument(0), ArrayAttr());
  if (failed(pullBack(builder, {getLoc(), getArrays(), {}, getBody()}, adjoint.getResult(),
                      indexedAxes(getBody()), passOn, cotangents)))
    return failure();
  if (getWithin())
    cotangents.push_back(Value());
  return success();
}

LogicalResult AlignOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                  SmallVectorImpl<Value> &cotangents) {
  bool toRows = getAxis() == AxisRole::Query;
  ArrayType type =
      arrayTypeOf(results[0])
          .renamed(toRows ? AxisRole::Query : AxisRole::Key, toRows ? AxisRole::Key : AxisRole::Query);
  cotangents.push_back(AlignOp::create(builder, getLoc(), type, results[0],
                                       axisAttr(builder, toRows ? AxisRole::Key : AxisRole::Query)));
  return success();
}

LogicalResult RopeOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                 SmallVectorImpl<Value> &cotangents) {
  // A rotation: its transpose is its inverse.
  ArrayType type = arrayTypeOf(results[0]);
  cotangents.push_back(RopeOp::create(builder, getLoc(), type.clone(type.getScalarType()), results[0],
                                      getPositions(), getThetaAttr(), getLayoutAttr(), getOffsetAttr(),
                                      getInverse() ? UnitAttr() : builder.getUnitAttr()));
  if (getPositions())
    cotangents.push_back(Value());
  return success();
}

LogicalResult ConvolveOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                     SmallVectorImpl<Value> &cotangents) {
  // Of y[t] = sum_j w[j] x[t - J + 1 + j]: the array's is the convolution from the other end, and
  // w'[j] = sum_t y'[t] x[t - (J - 1 - j)], with x shifted once per tap.
  Value dy = results[0];
  ArrayType arrayType = arrayTypeOf(getArray());
  Type real = arrayType.getScalarType();
  cotangents.push_back(ConvolveOp::create(builder, getLoc(), arrayType.clone(real), dy, getTaps(),
                                          getWithin(), getReverse() ? UnitAttr() : builder.getUnitAttr()));

  int64_t taps = getNumTaps();
  AxisRef axis = arrayType.has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key;
  SmallVector<Value> arrays = {dy, getTaps()};
  for (int64_t j = 0; j < taps; ++j) {
    auto shift = ScanOp::create(builder, getLoc(), arrayType.clone(real), getArray(), getWithin(),
                                ScanKindAttr::get(getContext(), ScanKind::Shift), builder.getStringAttr(axis),
                                UnitAttr(), getReverseAttr(), builder.getI64IntegerAttr(taps - 1 - j));
    Block *block = addBlock(shift.getBody(), scalarTypesOf(getArray()), getLoc());
    OpBuilder inner = OpBuilder::atBlockEnd(block);
    YieldOp::create(inner, getLoc(), block->getArgument(0), ArrayAttr());
    arrays.push_back(shift.getResult());
  }
  ArrayType domain = joinAxes(arrays, real);
  cotangents.push_back(
      buildReduce(builder, getLoc(), Reduction::Sum, axesToSum(domain, arrayTypeOf(getTaps())), arrays, {},
                  [&](OpBuilder &builder, Location loc, ValueRange x) -> Value {
                    Value tap = IndexOp::create(builder, loc, real, builder.getStringAttr(getTapAxis()));
                    Value chosen = x.back();
                    for (int64_t j = 0; j + 1 < taps; ++j) {
                      Value isTap = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OEQ, tap,
                                                          buildNumber(builder, loc, real, j));
                      chosen = arith::SelectOp::create(builder, loc, isTap, x[2 + j], chosen);
                    }
                    Value product = arith::MulFOp::create(builder, loc, x[0], chosen);
                    return buildAsked(builder, loc, x[0], product);
                  }));
  if (getWithin())
    cotangents.push_back(Value());
  return success();
}

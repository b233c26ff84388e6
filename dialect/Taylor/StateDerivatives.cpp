// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector-Jacobian products of sums over all tokens as states, and of reads of such states. Both are linear in
// states and values and a sum of monomials in the vectors, so each is a read, a contraction or a sum again.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

namespace {

/// Batch, heads (or groups, where no array has heads) and `token` of the arrays, then the channel of `last`.
ArrayType joinTokens(ArrayRef<Value> arrays, AxisRef token, Value last, Type real) {
  auto has = [&](AxisRef axis) {
    return llvm::any_of(arrays, [&](Value array) { return arrayTypeOf(array).has(axis); });
  };
  SmallVector<StringAttr> axes;
  SmallVector<int64_t> sizes;
  MLIRContext *context = real.getContext();
  for (AxisRef axis : {AxisRef(AxisRole::Batch), AxisRef(AxisRole::Head), AxisRef(AxisRole::KeyHead), token})
    if (axis == token || (has(axis) && !(axis == AxisRole::KeyHead && has(AxisRole::Head)))) {
      axes.push_back(StringAttr::get(context, axis));
      sizes.push_back(ArrayType::kUnknown);
    }
  ArrayType type = arrayTypeOf(last);
  if (StringRef channel = channelOf(type); !channel.empty()) {
    axes.push_back(StringAttr::get(context, channel));
    sizes.push_back(type.sizeOf(channel));
  }
  return ArrayType::get(context, axes, sizes, real);
}

/// The sum of an array over the axes that `type` lacks.
Value sumTo(OpBuilder &builder, Value array, ArrayType type) {
  SmallVector<AxisRef> axes;
  for (StringAttr axis : arrayTypeOf(array).getAxes())
    if (!type.has(axis.getValue()))
      axes.push_back(axis == AxisRole::Head && type.has(AxisRole::KeyHead) ? StringRef(kGroup)
                                                                           : axis.getValue());
  if (axes.empty())
    return array;
  return buildReduce(builder, array.getLoc(), Reduction::Sum, axes, array, {},
                     [](OpBuilder &, Location, ValueRange x) { return x[0]; });
}

/// An array of ones.
Value buildOnes(OpBuilder &builder, Location loc, ArrayType type) {
  return buildMap(
      builder, loc, {}, {},
      [&](OpBuilder &b, Location where, ValueRange) {
        return buildNumber(b, where, type.getScalarType(), 1.0);
      },
      type);
}

template <typename Op> LogicalResult requireWhole(Op op) {
  if (op.getChunk())
    return op.emitOpError(
        "unsupported derivative of states between chunks; derive it before taylor-chunk-sums");
  return success();
}

} // namespace

LogicalResult ReadStatesOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                       SmallVectorImpl<Value> &cotangents) {
  if (failed(requireWhole(*this)))
    return failure();
  Type real = arrayTypeOf(getStates()[0]).getScalarType();
  SmallVector<Value> states, given;
  SmallVector<Type> types;
  for (auto [state, cotangent] : llvm::zip(getStates(), results))
    if (cotangent) {
      states.push_back(state);
      given.push_back(cotangent);
      types.push_back(arrayTypeOf(state).clone(real));
    }
  SmallVector<Value> arrays(given);
  arrays.push_back(getVectors());
  Value vectors = ContractStatesOp::create(
      builder, getLoc(), joinTokens(arrays, getToken(), getVectors(), real), getVectors(), states, given,
      Value(), Value(), getFirst(), getLast(), getWeightsAttr(), getBlock(), 0);
  cotangents.push_back(sumTo(builder, vectors, arrayTypeOf(getVectors())));
  auto sums =
      StatesOp::create(builder, getLoc(), types, getVectors(), given, ValueRange(), Value(), Value(), Value(),
                       /*mass=*/false, getFirst(), getLast(), getWeightsAttr(), getBlock(), 0);
  auto sum = sums.getResults().begin();
  for (Value cotangent : results)
    cotangents.push_back(cotangent ? Value(*sum++) : Value());
  for (size_t i = 0; i < getInto().size(); ++i)
    cotangents.push_back(results[i]);
  return success();
}

LogicalResult StatesOp::buildVectorJacobianProduct(OpBuilder &builder, ValueRange results,
                                                   SmallVectorImpl<Value> &cotangents) {
  if (failed(requireWhole(*this)))
    return failure();
  Type real = arrayTypeOf(getResult(0)).getScalarType();
  SmallVector<Value> states, values;
  for (auto [number, cotangent] : llvm::enumerate(results)) {
    if (!cotangent)
      continue;
    states.push_back(cotangent);
    values.push_back(
        number < getValues().size()
            ? getValues()[number]
            : buildOnes(builder, getLoc(), joinTokens(getVectors(), getToken(), cotangent, real)));
  }
  SmallVector<Value> arrays(states);
  llvm::append_range(arrays, values);
  arrays.push_back(getVectors());
  Value vectors = ContractStatesOp::create(
      builder, getLoc(), joinTokens(arrays, getToken(), getVectors(), real), getVectors(), states, values,
      Value(), Value(), getFirst(), getLast(), getWeightsAttr(), getBlock(), 0);
  cotangents.push_back(sumTo(builder, vectors, arrayTypeOf(getVectors())));
  for (auto [value, cotangent] : llvm::zip(getValues(), results)) {
    if (!cotangent) {
      cotangents.push_back({});
      continue;
    }
    Value read = ReadStatesOp::create(builder, getLoc(),
                                      Type(joinTokens({cotangent, getVectors()}, getToken(), value, real)),
                                      getVectors(), cotangent, ValueRange(), Value(), getFirst(), getLast(),
                                      getWeightsAttr(), getBlock(), 0)
                     .getResult(0);
    cotangents.push_back(sumTo(builder, read, arrayTypeOf(value)));
  }
  for (size_t i = 0; i < getInitial().size(); ++i)
    cotangents.push_back(results[i]);
  return success();
}

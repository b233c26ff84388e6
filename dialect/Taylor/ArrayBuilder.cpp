// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/ArrayBuilder.h"

#include "dialect/Taylor/Axes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace taylor;

ArrayType taylor::arrayTypeOf(Value array) { return cast<ArrayType>(array.getType()); }

ArrayType taylor::joinAxes(ValueRange arrays, Type elementType, ArrayRef<AxisRef> extra) {
  SmallVector<ArrayType> types = llvm::map_to_vector(arrays, arrayTypeOf);
  MLIRContext *context = elementType.getContext();
  // A free axis has its size from an array only.
  SmallVector<AxisRef> named = llvm::filter_to_vector(extra, [&](StringRef axis) {
    return isRoleAxis(axis) || llvm::any_of(types, [&](ArrayType type) { return type.has(axis); });
  });
  FailureOr<ArrayType> type = joinArrays([&] { return mlir::emitError(UnknownLoc::get(context)); }, context,
                                         types, named, elementType);
  return succeeded(type) ? *type : ArrayType();
}

ArrayType taylor::withBatch(ArrayType type) {
  if (type.has(AxisRole::Batch))
    return type;
  SmallVector<StringAttr> axes{axisAttr(type.getContext(), AxisRole::Batch)};
  SmallVector<int64_t> sizes{ArrayType::kUnknown};
  llvm::append_range(axes, type.getAxes());
  llvm::append_range(sizes, type.getSizes());
  return ArrayType::get(type.getContext(), axes, sizes, type.getElementType());
}

Block *taylor::addBlock(Region &region, TypeRange argumentTypes, Location loc) {
  Block *block = new Block;
  region.push_back(block);
  for (Type type : argumentTypes)
    block->addArgument(type, loc);
  return block;
}

SmallVector<Type> taylor::scalarTypesOf(ValueRange arrays) {
  return llvm::map_to_vector(arrays, [](Value array) { return arrayTypeOf(array).getScalarType(); });
}

/// Builds the region of an operation with one scalar result; false if the body gives up.
static bool buildBody(OpBuilder &builder, Location loc, Region &region, ValueRange arrays, ScalarBody body) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = addBlock(region, scalarTypesOf(arrays), loc);
  builder.setInsertionPointToStart(block);
  Value scalar = body(builder, loc, block->getArguments());
  if (scalar)
    YieldOp::create(builder, loc, scalar, ArrayAttr());
  return scalar != nullptr;
}

Value taylor::buildMap(OpBuilder &builder, Location loc, ValueRange arrays, ValueRange live, ScalarBody body,
                       ArrayType type) {
  if (!type)
    type = joinAxes(arrays, realTypeOf(builder.getContext(), arrays.getTypes()));
  auto map = MapOp::create(builder, loc, type, arrays, live);
  if (buildBody(builder, loc, map.getBody(), arrays, body))
    return map.getResult();
  map.erase();
  return {};
}

Value taylor::buildReduce(OpBuilder &builder, Location loc, Reduction kind, ArrayRef<AxisRef> axes,
                          ValueRange arrays, ValueRange live, ScalarBody body) {
  ArrayType type = joinAxes(arrays, realTypeOf(builder.getContext(), arrays.getTypes())).without(axes);
  if (llvm::is_contained(axes, kGroup))
    type = type.renamed(AxisRole::Head, AxisRole::KeyHead);
  auto reduce = ReduceOp::create(builder, loc, type, arrays, live, kind, axesAttr(builder, axes));
  if (buildBody(builder, loc, reduce.getBody(), arrays, body))
    return reduce.getResult();
  reduce.erase();
  return {};
}

Value taylor::buildRunningMaximum(OpBuilder &builder, Value array, AxisRef token, Value within,
                                  bool exclusive, ScalarBody term) {
  Location loc = array.getLoc();
  ArrayType type = arrayTypeOf(array);
  if (within && arrayTypeOf(within).has(AxisRole::Batch))
    type = withBatch(type);
  auto scan = ScanOp::create(builder, loc, type.clone(type.getScalarType()), array, within,
                             ScanKindAttr::get(builder.getContext(), ScanKind::Max),
                             builder.getStringAttr(token), exclusive ? builder.getUnitAttr() : UnitAttr(),
                             UnitAttr(), builder.getI64IntegerAttr(0));
  buildBody(builder, loc, scan.getBody(), array, term);
  return scan;
}

Value taylor::buildSum(OpBuilder &builder, Location loc, Value a, Value b) {
  // Axes in their order where both have one and the same.
  ArrayType type = arrayTypeOf(a).getAxes() == arrayTypeOf(b).getAxes()
                       ? arrayTypeOf(a).clone(arrayTypeOf(a).getScalarType())
                       : ArrayType();
  return buildMap(
      builder, loc, {a, b}, {},
      [](OpBuilder &builder, Location loc, ValueRange x) {
        return arith::AddFOp::create(builder, loc, x[0], x[1]).getResult();
      },
      type);
}

Value taylor::buildConversion(OpBuilder &builder, Location loc, Value array, Type elementType) {
  ArrayType type = arrayTypeOf(array);
  if (type.getElementType() == elementType)
    return array;
  return buildMap(
      builder, loc, array, {}, [](OpBuilder &, Location, ValueRange x) { return x[0]; },
      type.clone(elementType));
}

Value taylor::buildInOrder(OpBuilder &builder, Location loc, Value array, ArrayType type) {
  if (arrayTypeOf(array).getAxes() == type.getAxes() || arrayTypeOf(array).getElementType().isInteger())
    return array;
  return buildMap(
      builder, loc, array, {}, [](OpBuilder &, Location, ValueRange x) { return x[0]; },
      type.clone(arrayTypeOf(array).getElementType()));
}

llvm::SetVector<Value> taylor::collectScalars(Value scalar) {
  llvm::SetVector<Value> found;
  found.insert(scalar);
  for (size_t i = 0; i < found.size(); ++i)
    if (Operation *op = found[i].getDefiningOp())
      found.insert(op->operand_begin(), op->operand_end());
  return found;
}

Value taylor::cloneScalar(OpBuilder &builder, Value scalar, IRMapping &values) {
  if (Value known = values.lookupOrNull(scalar))
    return known;
  Operation *op = scalar.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneScalar(builder, operand, values);
  return builder.clone(*op, values)->getResult(0);
}

Value taylor::buildNumber(OpBuilder &builder, Location loc, Type type, double value) {
  return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
}

Value taylor::buildIsNonzero(OpBuilder &builder, Location loc, Value x) {
  Value zero = buildNumber(builder, loc, x.getType(), 0.0);
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, x, zero);
}

Value taylor::buildOrZero(OpBuilder &builder, Location loc, Value condition, Value x) {
  return arith::SelectOp::create(builder, loc, condition, x, buildNumber(builder, loc, x.getType(), 0.0));
}

Value taylor::buildRest(OpBuilder &builder, Location loc, Value x, FloatType narrow) {
  Value rounded = arith::TruncFOp::create(builder, loc, narrow, x);
  Value wide = arith::ExtFOp::create(builder, loc, x.getType(), rounded);
  Value rest = arith::SubFOp::create(builder, loc, x, wide);
  Value size = math::AbsFOp::create(builder, loc, wide);
  Value infinity = buildNumber(builder, loc, x.getType(), std::numeric_limits<double>::infinity());
  Value isFinite = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, size, infinity);
  return buildOrZero(builder, loc, isFinite, rest);
}

Value taylor::buildExpOrZero(OpBuilder &builder, Location loc, Value condition, Value x) {
  // The derivative multiplies by exp(x), and an infinity times 0 is no number: so x is chosen first.
  Value chosen = buildOrZero(builder, loc, condition, x);
  return buildOrZero(builder, loc, condition, math::ExpOp::create(builder, loc, chosen));
}

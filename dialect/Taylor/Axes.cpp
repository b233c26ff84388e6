// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/Axes.h"

using namespace mlir;
using namespace taylor;

bool taylor::reducesTokens(ReduceOp op) {
  return llvm::any_of(op.getAxes().getAsValueRange<StringAttr>(), isTokenAxis);
}

Reach ReduceOp::getReach() {
  bool joinsBatches = llvm::is_contained(getAxes().getAsValueRange<StringAttr>(), AxisRole::Batch);
  return reducesTokens(*this) || joinsBatches ? Reach::All : Reach::Own;
}

AxisRef taylor::tokenOf(Operation *op) {
  return cast<ArrayType>(op->getResult(0).getType()).has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key;
}

StringRef taylor::tokenAxis(ArrayType array) {
  for (StringAttr axis : array.getAxes())
    if (isTokenAxis(axis))
      return axis;
  return "";
}

StringRef taylor::channelOf(ArrayType array) {
  StringRef channel;
  for (StringAttr axis : array.getAxes())
    if (!isRuntimeAxis(axis) && axis != AxisRole::Feature) {
      if (!channel.empty())
        return "";
      channel = axis;
    }
  return channel;
}

bool taylor::hasChannel(ArrayType array) {
  return llvm::any_of(array.getAxes(), [](StringAttr axis) { return !isRuntimeAxis(axis); });
}

int64_t taylor::countChannels(ArrayType array) {
  StringRef channel = channelOf(array);
  return channel.empty() ? 1 : array.sizeOf(channel);
}

int64_t taylor::countPlaceElements(ArrayType array) {
  int64_t elements = 1;
  for (auto [axis, size] : llvm::zip(array.getAxes(), array.getSizes()))
    if (!isRuntimeAxis(axis))
      elements *= size;
  return elements;
}

SmallVector<AxisRef> taylor::channelNamesOf(ArrayRef<ArrayType> arrays) {
  SmallVector<AxisRef> channels;
  for (ArrayType array : arrays)
    if (StringRef channel = channelOf(array); !channel.empty() && !llvm::is_contained(channels, channel))
      channels.push_back(channel);
  return channels;
}

FailureOr<ArrayType> taylor::joinArrays(EmitError emitError, MLIRContext *context, ArrayRef<ArrayType> arrays,
                                        ArrayRef<AxisRef> extra, Type elementType) {
  llvm::MapVector<StringRef, int64_t> sizes;
  auto add = [&](AxisRef axis, int64_t size) -> LogicalResult {
    auto [it, inserted] = sizes.insert({axis, size});
    if (inserted || size == ArrayType::kUnknown)
      return success();
    if (it->second != ArrayType::kUnknown && it->second != size)
      return emitError() << "expected one size of axis '" << axis << "', but got " << it->second << " and "
                         << size;
    it->second = size;
    return success();
  };
  for (ArrayType array : arrays)
    for (auto [name, size] : llvm::zip(array.getAxes(), array.getSizes()))
      if (failed(add(name.getValue(), size)))
        return failure();
  for (StringRef axis : extra)
    if (failed(add(axis, ArrayType::kUnknown)))
      return failure();
  if (sizes.contains(nameOf(AxisRole::Query)) && sizes.contains(nameOf(AxisRole::Key)))
    return emitError()
           << "unsupported mix of query and key tokens: one operand has t, another u; use taylor.align";
  if (sizes.contains(nameOf(AxisRole::Lag)) &&
      (sizes.contains(nameOf(AxisRole::Query)) || sizes.contains(nameOf(AxisRole::Key))))
    return emitError()
           << "unsupported mix of lags with tokens: one operand has lag, another t or u; an array with lag "
              "is read in formulas over pairs";
  if (sizes.contains(nameOf(AxisRole::Head)))
    sizes.erase(nameOf(AxisRole::KeyHead));

  SmallVector<StringAttr> names;
  SmallVector<int64_t> dims;
  auto take = [&](AxisRef axis, int64_t size) {
    names.push_back(StringAttr::get(context, axis));
    dims.push_back(size);
  };
  for (AxisRole role : kAxisRoles)
    if (auto it = sizes.find(nameOf(role)); it != sizes.end())
      take(nameOf(role), it->second);
  for (auto &[axis, size] : sizes)
    if (!isRoleAxis(axis))
      take(axis, size);
  return ArrayType::getChecked(emitError, context, ArrayRef<StringAttr>(names), ArrayRef<int64_t>(dims),
                               elementType);
}

Type taylor::realTypeOf(MLIRContext *context, TypeRange arrays) {
  bool narrow = false;
  for (Type type : arrays)
    if (auto array = dyn_cast<ArrayType>(type); array && isa<FloatType>(array.getElementType())) {
      if (array.getElementType().isF64())
        return Float64Type::get(context);
      narrow = true;
    }
  return narrow ? Type(Float32Type::get(context)) : Type(Float64Type::get(context));
}

Type taylor::realTypeOf(MLIRContext *context, TypeRange arrays, TypeRange results) {
  bool anyFloat = llvm::any_of(arrays, [](Type type) {
    auto array = dyn_cast<ArrayType>(type);
    return array && isa<FloatType>(array.getElementType());
  });
  return realTypeOf(context, anyFloat ? arrays : results);
}

SmallVector<AxisRef> taylor::indexedAxes(Region &region) {
  llvm::SmallSetVector<StringRef, 4> axes;
  region.walk([&](IndexOp op) {
    if (op.getAxisAttr()) // what has none is refused after what is around it
      axes.insert(op.getAxis());
  });
  return SmallVector<AxisRef>(axes.begin(), axes.end());
}

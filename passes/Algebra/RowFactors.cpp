// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Algebra/Factors.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace taylor;

Value taylor::findRowFactored(MapOp map) {
  Value x;
  DenseSet<Value> ofChannels;
  for (auto [array, argument] : llvm::zip(map.getArrays(), map.getBody().getArguments())) {
    if (!hasChannel(arrayTypeOf(array)))
      continue;
    if (x || !isa<BlockArgument>(array))
      return {};
    x = array;
    ofChannels.insert(argument);
  }
  if (!x || arrayTypeOf(x).getAxes() != cast<ArrayType>(map.getType()).getAxes())
    return {};
  for (Operation &op : map.getBody().front().without_terminator()) {
    int64_t count = llvm::count_if(op.getOperands(), [&](Value v) { return ofChannels.contains(v); });
    if (isa<IndexOp>(op) && !isRuntimeAxis(cast<IndexOp>(op).getAxis()))
      return {};
    if (count == 0)
      continue;
    bool linear = isa<arith::MulFOp, arith::NegFOp>(op) ||
                  (isa<arith::DivFOp>(op) && ofChannels.contains(op.getOperand(0)));
    if (!linear || count != 1)
      return {};
    ofChannels.insert(op.getResult(0));
  }
  return ofChannels.contains(map.getBody().front().getTerminator()->getOperand(0)) ? x : Value();
}

Value taylor::buildRowFactor(OpBuilder &builder, MapOp map, Value x) {
  auto type = cast<ArrayType>(map.getType());
  SmallVector<AxisRef> channels;
  for (StringAttr axis : type.getAxes())
    if (!isRuntimeAxis(axis))
      channels.push_back(axis);
  SmallVector<Value> arrays;
  for (Value array : map.getArrays())
    if (array != x)
      arrays.push_back(array);
  return buildMap(
      builder, map.getLoc(), arrays, map.getLive(),
      [&](OpBuilder &inner, Location loc, ValueRange scalars) {
        IRMapping mapping;
        unsigned next = 0;
        for (auto [array, argument] : llvm::zip(map.getArrays(), map.getBody().getArguments()))
          mapping.map(argument,
                      array == x ? buildNumber(inner, loc, argument.getType(), 1.0) : scalars[next++]);
        for (Operation &op : map.getBody().front().without_terminator())
          inner.clone(op, mapping);
        return mapping.lookup(map.getBody().front().getTerminator()->getOperand(0));
      },
      type.without(channels).clone(type.getScalarType()));
}

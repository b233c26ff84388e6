// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/ScoreTiles.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace taylor;

void ScoreTiles::emitOperands(Frame &frame, function_ref<bool(ArrayType)> which) {
  for (Value array : op.getArrays())
    if (which(cast<ArrayType>(array.getType())))
      emitter.emit(array, frame);
}

tile::TileType ScoreTiles::pairType(const Frame &pair) {
  MLIRContext *context = op.getContext();
  return tile::TileType::get(context,
                             {tile::Axis::get(context, AxisRole::Query, pair.tSize),
                              tile::Axis::get(context, AxisRole::Key, pair.uSize)},
                             op.getRealType());
}

SmallVector<Value> ScoreTiles::emitProducts(Frame &pair) {
  SmallVector<Value> products;
  for (int64_t i = 0; i < op.getNumProducts(); ++i) {
    auto [row, column] = op.getProduct(i);
    SmallVector<AxisRef> channels;
    for (StringAttr axis : cast<ArrayType>(row.getType()).getAxes())
      if (!tile::isRole(axis) && cast<ArrayType>(column.getType()).has(axis))
        channels.push_back(axis);
    Value a = emitter.emit(row, pair), b = emitter.emit(column, pair);
    products.push_back(tile::DotOp::create(emitter.builder, emitter.loc, a, b, channels));
  }
  return products;
}

SmallVector<Value> ScoreTiles::emitArguments(ScalarProgram &program, Frame &pair, ValueRange products) {
  SmallVector<Value> arguments;
  for (Value product : products)
    arguments.push_back(program.input(product));
  for (Value scalar : op.getScalars())
    arguments.push_back(program.input(emitter.emit(scalar, pair)));
  return arguments;
}

Value ScoreTiles::addContracted(Value before, Value weight, Value array, ArrayRef<AxisRef> over,
                                Value visible) {
  OpBuilder &builder = emitter.builder;
  if (array)
    return tile::DotOp::create(builder, emitter.loc, weight, array, over, before, visible);
  Value ofTile = tile::ReduceOp::create(builder, emitter.loc, tile::ReductionKind::sum, weight, over);
  return emitter.combine(Reduction::Sum, before, ofTile);
}

SmallVector<Value> ScoreTiles::zerosOf(ArrayRef<int64_t> results, const Frame &frame) {
  return llvm::map_to_vector(results, [&](int64_t result) {
    return emitter.splat(emitter.tileType(cast<ArrayType>(op.getResult(result).getType()), frame), 0.0);
  });
}

void ScoreTiles::ifRequested(const PairResult &result, function_ref<void()> body) {
  if (!result.requested)
    return body();
  auto branch = scf::IfOp::create(emitter.builder, emitter.loc, result.requested, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(emitter.builder);
  emitter.builder.setInsertionPointToStart(branch.thenBlock());
  body();
}

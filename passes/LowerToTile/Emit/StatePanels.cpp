// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/StatePanels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

int64_t StatePanels::panelsOf(StatesOp op, int64_t size) {
  return llvm::divideCeil(uint64_t(*op.getFeatures().count()), uint64_t(size));
}

/// As few panels as the sizes allow, all of about as many features: what the last one lacks is computed for
/// nothing. Targets that multiply blocks of features want whole panels.
int64_t StatePanels::readPanelOf(const Features &features) {
  int64_t most = emitter.sizes.readFeatures, count = *features.count();
  if (emitter.sizes.featureBlock > 1)
    return most;
  int64_t panels = llvm::divideCeil(count, most);
  return std::min<int64_t>(most, llvm::alignTo(llvm::divideCeil(count, panels), 8));
}

tile::FeaturesAttr StatePanels::attributeOf(const Features &features) {
  return tile::FeaturesAttr::get(builder.getContext(), features.channels, features.first, features.last,
                                 features.block);
}

Value StatePanels::expand(Value vectors, const Features &features, Value start, int64_t size,
                          ArrayRef<double> weights) {
  auto type = cast<tile::TileType>(vectors.getType());
  SmallVector<tile::Axis> axes;
  StringRef channel;
  for (const tile::Axis &axis : type.getAxes())
    if (axis.getName() == AxisRole::Query || axis.getName() == AxisRole::Key)
      axes.push_back(axis);
    else
      channel = axis.getName();
  axes.push_back(tile::Axis::get(builder.getContext(), AxisRole::Feature, size));
  return tile::ExpandOp::create(builder, emitter.loc,
                                tile::TileType::get(builder.getContext(), axes, type.getElementType()),
                                vectors, channel, attributeOf(features), start, nameOf(AxisRole::Feature),
                                weights.empty() ? ArrayAttr() : builder.getF64ArrayAttr(weights));
}

Frame StatePanels::at(const Frame &frame, Value start) {
  Frame inside = frame;
  inside.indices[AxisRole::Feature] = start;
  return inside;
}

tile::TileType StatePanels::typeOf(Value memory, int64_t size) {
  auto array = cast<tile::ArrayType>(memory.getType());
  SmallVector<tile::Axis> axes;
  for (const tile::Axis &axis : array.getAxes())
    if (axis.getName() == AxisRole::Feature)
      axes.push_back(tile::Axis::get(builder.getContext(), AxisRole::Feature, size));
    else if (!tile::isRole(axis.getName()) && axis.getName() != TileEmitter::kChunkAxis)
      axes.push_back(axis);
  return tile::TileType::get(builder.getContext(), axes, array.getElementType());
}

Value StatePanels::load(Value memory, const Frame &frame, Value start, int64_t size) {
  return emitter.load(memory, typeOf(memory, size), at(frame, start));
}

SmallVector<Value> StatePanels::zeros(ValueRange memory, int64_t size) {
  return llvm::map_to_vector(memory, [&](Value array) { return emitter.splat(typeOf(array, size), 0.0); });
}

Value StatePanels::contract(Value panel, Value other, AxisRef over, Value sum) {
  if (cast<tile::TileType>(other.getType()).getAxes().size() > 1)
    return tile::DotOp::create(builder, emitter.loc, panel, other, {over}, sum);
  Value reduced =
      tile::ReduceOp::create(builder, emitter.loc, tile::ReductionKind::sum, multiply(panel, other), {over});
  return sum ? emitter.combine(Reduction::Sum, sum, reduced) : reduced;
}

Value StatePanels::multiply(Value a, Value b) {
  return emitter.map({a, b}, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
    return arith::MulFOp::create(inner, where, s[0], s[1]);
  });
}

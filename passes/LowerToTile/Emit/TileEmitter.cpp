// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/TileEmitter.h"
#include "passes/LowerToTile/Fusion/FusionDialect.h"
#include "passes/LowerToTile/LoweringInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace taylor;

//===----------------------------------------------------------------------===//
// Constants, maps and loops
//===----------------------------------------------------------------------===//

double taylor::leastOf(Type type) { return type.isF64() ? -1.0e300 : -2.0e38; }

TileEmitter::TileEmitter(OpBuilder &builder, Location loc, const ArrayMemory &memory, const TileSizes &sizes,
                         FunctionOp function)
    : IndexEmitter(builder, loc), memory(memory), sizes(sizes) {
  function.walk([&](Operation *op) {
    if (!fusion::isOfPlan(op))
      noteChannels(op);
  });
}

Value TileEmitter::lookup(Value array, Value key, const Frame &frame) {
  auto type = cast<ArrayType>(array.getType());
  SmallVector<Value> place = llvm::map_to_vector(type.getAxes(), [&](StringAttr axis) -> Value {
    return axis == AxisRole::Key ? key : frame.indices.lookup(axis.getValue());
  });
  return tile::LookupOp::create(builder, loc, builder.getIndexType(), memory.values.lookup(array), place);
}

Value TileEmitter::splat(tile::TileType type, double value) {
  TypedAttr number = isa<FloatType>(type.getElementType())
                         ? TypedAttr(builder.getFloatAttr(type.getElementType(), value))
                         : TypedAttr(builder.getIntegerAttr(type.getElementType(), int64_t(value)));
  Value scalar = arith::ConstantOp::create(builder, loc, number);
  return tile::SplatOp::create(builder, loc, type, scalar);
}

Value TileEmitter::map(ValueRange tiles, function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  auto op =
      tile::MapOp::create(builder, loc, tiles, [&](OpBuilder &inner, Location where, ValueRange scalars) {
        return SmallVector<Value>{body(inner, where, scalars)};
      });
  return op.getResult(0);
}

Value TileEmitter::combine(Reduction kind, Value a, Value b) {
  return map({a, b}, [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
    if (kind != Reduction::Max)
      return arith::AddFOp::create(inner, where, s[0], s[1]);
    return arith::MaximumFOp::create(inner, where, s[0], s[1]);
  });
}

SmallVector<Value> TileEmitter::loop(Value begin, Value end, int64_t step, ValueRange carried,
                                     function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  return loop(begin, end, constant(step), carried, body);
}

SmallVector<Value> TileEmitter::loop(Value begin, Value end, Value step, ValueRange carried,
                                     function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(builder, loc, begin, end, step, carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  builder.setInsertionPointToEnd(op.getBody());
  if (!carried.empty() || op.getBody()->empty() || !op.getBody()->back().hasTrait<OpTrait::IsTerminator>())
    scf::YieldOp::create(builder, loc, next);
  return llvm::to_vector(ValueRange(op.getResults()));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

tile::TileType TileEmitter::tileType(ArrayType array, const Frame &frame) {
  SmallVector<tile::Axis> axes;
  for (auto [name, size] : llvm::zip(array.getAxes(), array.getSizes())) {
    StringRef axis = name.getValue();
    if (axis == AxisRole::Lag && !frame.lagSize)
      for (AxisRef token : {AxisRole::Query, AxisRole::Key})
        axes.push_back(tile::Axis::get(builder.getContext(), token, frame.size(token)));
    else if (isTokenAxis(axis)) {
      if (frame.size(axis)) // else one token
        axes.push_back(tile::Axis::get(builder.getContext(), axis, frame.size(axis)));
    } else if (!tile::isRole(axis))
      axes.push_back(
          tile::Axis::get(builder.getContext(), axis, axis == frame.channel ? frame.channelSize : size));
  }
  return tile::TileType::get(builder.getContext(), axes, array.getScalarType());
}

/// Index of b, h or g; a group's index follows from its head's.
void TileEmitter::window(tile::ArrayType array, tile::TileType tile, const Frame &frame,
                         SmallVectorImpl<Attribute> &axes, SmallVectorImpl<Attribute> &tileAxes,
                         SmallVectorImpl<Value> &offsets) {
  for (const tile::Axis &axis : array.getAxes()) {
    Value offset;
    StringAttr inTile = axis.name;
    if (axis.getName() == AxisRole::Lag && !frame.lagSize) {
      inTile = builder.getStringAttr("t - u");
      offset = lagStart(frame);
    } else if (isTokenAxis(axis.getName()))
      offset = frame.start(axis.getName());
    else if (axis.getName() == frame.channel)
      offset = frame.channelStart;
    else if (axis.getName() == kLineAxis)
      offset = constant(0);
    else if (Value index = indexOf(axis.getName(), frame))
      offset = index;
    if (!offset)
      continue;
    axes.push_back(axis.name);
    tileAxes.push_back(inTile);
    offsets.push_back(offset);
  }
}

Value TileEmitter::load(Value array, tile::TileType type, const Frame &frame) {
  SmallVector<Attribute> axes, tileAxes;
  SmallVector<Value> offsets;
  window(cast<tile::ArrayType>(array.getType()), type, frame, axes, tileAxes, offsets);
  // Where pairs read lags they begin at a query and a key that there are.
  bool readsPairs = cast<tile::ArrayType>(array.getType()).find(AxisRole::Lag) >= 0 && !frame.lagSize;
  bool inside = readsPairs && std::max(frame.tSize, frame.uSize) <= tile::kLagMargin;
  Value end;
  StringAttr endAxis;
  for (auto [axis, ofFrame] : {std::pair(AxisRole::Query, frame.tEnd), std::pair(AxisRole::Key, frame.uEnd)})
    if (ofFrame && type.hasAxis(axis) && cast<tile::ArrayType>(array.getType()).find(axis) >= 0) {
      end = ofFrame;
      endAxis = axisAttr(builder, axis);
    }
  return tile::LoadOp::create(builder, loc, type, array, builder.getArrayAttr(axes),
                              builder.getArrayAttr(tileAxes), offsets, end, endAxis, inside);
}

Value TileEmitter::loadStored(Value array, tile::TileType type, const Frame &frame, StringRef from,
                              StringRef to) {
  auto renamed = [&](StringAttr name) {
    return !to.empty() && name == from ? builder.getStringAttr(to) : name;
  };
  SmallVector<tile::Axis> axes(type.getAxes());
  for (tile::Axis &axis : axes)
    axis.name = renamed(axis.name);
  auto result = tile::TileType::get(builder.getContext(), axes, type.getElementType());
  auto loadAt = [&](const Frame &place) -> Value {
    auto loaded = load(array, type, place).getDefiningOp<tile::LoadOp>();
    SmallVector<Attribute> names;
    for (auto name : loaded.getTileAxes().getAsRange<StringAttr>())
      names.push_back(renamed(name));
    loaded.setTileAxesAttr(builder.getArrayAttr(names));
    loaded.getResult().setType(result);
    return loaded;
  };
  auto arrayType = cast<tile::ArrayType>(array.getType());
  int64_t parts = arrayType.find(kPartAxis);
  if (parts < 0)
    return loadAt(frame);
  return loop(constant(0), extent(arrayType.getAxes()[parts].extent), 1, splat(result, 0.0),
              [&](Value part, ValueRange carried) {
                Frame inside = frame;
                inside.indices[kPartAxis] = part;
                return SmallVector<Value>{combine(Reduction::Sum, carried.front(), loadAt(inside))};
              })
      .front();
}

template <typename Op, typename... Extra>
void TileEmitter::write(Value tile, Value array, const Frame &frame, Extra... extra) {
  SmallVector<Attribute> axes, tileAxes;
  SmallVector<Value> offsets;
  window(cast<tile::ArrayType>(array.getType()), cast<tile::TileType>(tile.getType()), frame, axes, tileAxes,
         offsets);
  Op::create(builder, loc, tile, array, builder.getArrayAttr(axes), builder.getArrayAttr(tileAxes), offsets,
             extra...);
}

void TileEmitter::store(Value tile, Value array, const Frame &frame) {
  write<tile::StoreOp>(tile, array, frame);
}
void TileEmitter::accumulate(Value tile, Value array, const Frame &frame, bool atomic) {
  write<tile::AccumulateOp>(tile, array, frame, atomic);
}

void TileEmitter::storeWalk(Value tile, Value array, const Frame &pair) {
  SmallVector<Attribute> axes{builder.getStringAttr(kPartAxis)}, tileAxes{axisAttr(builder, AxisRole::Key)};
  SmallVector<Value> offsets{constant(0)};
  Frame place = pair;
  place.indices.erase(kPartAxis); // of the grid
  window(cast<tile::ArrayType>(array.getType()), cast<tile::TileType>(tile.getType()), place, axes, tileAxes,
         offsets);
  tile::StoreOp::create(builder, loc, tile, array, builder.getArrayAttr(axes), builder.getArrayAttr(tileAxes),
                        offsets);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value TileEmitter::emit(Value array, Frame &frame) {
  if (Value tile = frame.tiles.lookup(array))
    return tile;
  auto type = cast<ArrayType>(array.getType());
  Value tile;
  if (Value lies = memory.values.lookup(array)) {
    tile = loadStored(lies, tileType(type, frame), frame);
  } else {
    llvm::SaveAndRestore<Location> place(loc, array.getLoc());
    tile = cast<LoweringOpInterface>(array.getDefiningOp()).emitTile(array, *this, frame);
    tile = broadcastTile(builder, loc, tile, tileType(type, frame));
  }
  frame.tiles[array] = tile;
  return tile;
}

SmallVector<Value> TileEmitter::forHeads(const Frame &frame, ValueRange carried,
                                         function_ref<SmallVector<Value>(const Frame &, ValueRange)> body) {
  auto [first, count] = headsOf(frame);
  return loop(first, add(first, count), 1, carried, [&](Value head, ValueRange carried) {
    Frame inside = frame;
    inside.tiles.clear();
    inside.indices[AxisRole::Head] = head;
    return body(inside, carried);
  });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/SummedTokens.h"

#include "dialect/Taylor/ArrayBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

SummedTokens::SummedTokens(TileEmitter &emitter, StatePanels &panels, StatesOp op)
    : vectors(op.getVectors()), values(op.getValues()), own(op.getOwn()), features(op.getFeatures()),
      weights(op.getWeightValues()), mass(op.getMass()), token(op.getToken()),
      real(typeOf(op.getResult(0)).getScalarType()), emitter(emitter), panels(panels) {}

SummedTokens::SummedTokens(TileEmitter &emitter, StatePanels &panels, StepStatesOp op)
    : vectors(op.getVectors()), values(op.getValues()), features(op.getFeatures()), mass(op.getMass()),
      token(AxisRole::Key), real(typeOf(op.getStates().front()).getScalarType()), emitter(emitter),
      panels(panels) {}

/// Whether a tile is a window of which what lies at `end` of an axis or after it is 0.
static bool endsAt(Value tile, AxisRef axis, Value end) {
  auto load = tile.getDefiningOp<tile::LoadOp>();
  return load && load.getEnd() == end && load.getEndAxis() == axis;
}

SmallVector<Value> SummedTokens::mask(Frame &tokens, Value end) {
  // Tokens of the next chunk, or past the last, count as nothing.
  SmallVector<Value> conditions{emitter.tokenNumbers(token, tokens)};
  if (own)
    conditions.push_back(emitter.emit(own, tokens));
  auto within = [&](OpBuilder &inner, Location where, ValueRange s, Value value) -> Value {
    Value is = arith::CmpIOp::create(inner, where, arith::CmpIPredicate::slt, s[0], end);
    if (own)
      is = arith::AndIOp::create(inner, where, is, buildIsNonzero(inner, where, s[1]));
    return buildOrZero(inner, where, is, value);
  };
  SmallVector<Value> masked;
  for (Value value : values) {
    Value tile = emitter.emit(value, tokens);
    if (!own && endsAt(tile, token, end)) {
      masked.push_back(tile);
      continue;
    }
    SmallVector<Value> parts(conditions);
    parts.push_back(tile);
    masked.push_back(emitter.map(parts, [&](OpBuilder &inner, Location where, ValueRange s) {
      return within(inner, where, s, s.back());
    }));
  }
  if (mass)
    masked.push_back(emitter.map(conditions, [&](OpBuilder &inner, Location where, ValueRange s) {
      Value one = arith::ConstantOp::create(inner, where, inner.getFloatAttr(real, 1.0));
      return within(inner, where, s, one);
    }));
  return masked;
}

void SummedTokens::clearVectors(Frame &tokens) {
  if (!own)
    return;
  tokens.tiles[vectors] =
      emitter.map({emitter.emit(vectors, tokens), emitter.emit(own, tokens)},
                  [&](OpBuilder &inner, Location where, ValueRange s) -> Value {
                    return buildOrZero(inner, where, buildIsNonzero(inner, where, s[1]), s[0]);
                  });
}

SmallVector<Value> SummedTokens::add(Frame &tokens, ValueRange masked, Value start, int64_t size,
                                     ValueRange sums) {
  Value panel = panels.expand(emitter.emit(vectors, tokens), features, start, size, weights);
  SmallVector<Value> next;
  for (auto [sum, value] : llvm::zip(sums, masked))
    next.push_back(panels.contract(panel, value, token, sum));
  return next;
}

/// sum + a b, element by element.
static Value multiplyAdd(TileEmitter &emitter, Value a, Value b, Value sum) {
  return emitter.map({a, b, sum}, [](OpBuilder &inner, Location where, ValueRange s) -> Value {
    return math::FmaOp::create(inner, where, s[0], s[1], s[2]);
  });
}

SmallVector<Value> SummedTokens::maskOne(Frame &token, Value isThere) {
  auto orZero = [&](OpBuilder &inner, Location where, Value x) {
    return buildOrZero(inner, where, isThere, x);
  };
  SmallVector<Value> masked;
  for (Value value : values)
    masked.push_back(
        emitter.map(emitter.emit(value, token), [&](OpBuilder &inner, Location where, ValueRange s) {
          return orZero(inner, where, s[0]);
        }));
  if (mass) {
    Value one =
        arith::ConstantOp::create(emitter.builder, emitter.loc, emitter.builder.getFloatAttr(real, 1.0));
    Value number = orZero(emitter.builder, emitter.loc, one);
    masked.push_back(tile::SplatOp::create(
        emitter.builder, emitter.loc, tile::TileType::get(emitter.builder.getContext(), {}, real), number));
  }
  return masked;
}

SmallVector<Value> SummedTokens::addOne(Frame &token, ValueRange masked, Value start, int64_t size,
                                        ValueRange sums) {
  Value panel = panels.expand(emitter.emit(vectors, token), features, start, size, {});
  SmallVector<Value> next;
  for (auto [sum, value] : llvm::zip(sums, masked))
    next.push_back(multiplyAdd(emitter, panel, value, sum));
  return next;
}

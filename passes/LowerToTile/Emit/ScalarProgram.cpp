// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/ScalarProgram.h"
#include "dialect/Sources.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor;

ScalarProgram::ScalarProgram(IndexEmitter &emitter, const Frame &frame)
    : emitter(emitter), frame(frame), outer(emitter.builder), loc(emitter.loc),
      block(std::make_unique<Block>()), inner(emitter.builder.getContext()) {
  inner.setInsertionPointToEnd(block.get());
}

ScalarProgram::~ScalarProgram() {
  block->dropAllUses();
  for (Operation &op : *block)
    op.dropAllReferences();
}

Value ScalarProgram::input(Value tile) {
  Value &argument = inputs[tile];
  if (!argument) {
    argument = block->addArgument(cast<tile::TileType>(tile.getType()).getElementType(), loc);
    tiles.push_back(tile);
  }
  return argument;
}

Value ScalarProgram::position(AxisRef axis) {
  Value &position = positions[axis];
  if (!position)
    position = emitter.indexOf(axis, frame);
  if (!position)
    position = input(emitter.positions(axis, frame));
  return position;
}

static Value constantOf(OpBuilder &builder, Location loc, Type type, double value) {
  return arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, value));
}

/// An index as a float; positions stay far below 2^31.
static Value toFloat(OpBuilder &builder, Location loc, Value index, Type type) {
  Value integer = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
  return arith::SIToFPOp::create(builder, loc, type, integer);
}

static std::optional<arith::CmpIPredicate> integerPredicate(arith::CmpFPredicate predicate) {
  switch (predicate) {
  case arith::CmpFPredicate::OEQ:
    return arith::CmpIPredicate::eq;
  case arith::CmpFPredicate::OLT:
    return arith::CmpIPredicate::slt;
  case arith::CmpFPredicate::OLE:
    return arith::CmpIPredicate::sle;
  case arith::CmpFPredicate::OGT:
    return arith::CmpIPredicate::sgt;
  case arith::CmpFPredicate::OGE:
    return arith::CmpIPredicate::sge;
  default:
    return std::nullopt;
  }
}

/// The scalar operations of the taylor dialect in terms of arith and math; others are copied.
Value ScalarProgram::translate(Operation *op, ValueRange operands) {
  Type type = op->getResult(0).getType();
  auto one = [&] { return constantOf(inner, loc, type, 1.0); };
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](SigmoidOp) -> Value {
        Value negated = arith::NegFOp::create(inner, loc, operands[0]);
        Value exp = math::ExpOp::create(inner, loc, negated, tile::kRelaxed); // next to 1
        Value sum = arith::AddFOp::create(inner, loc, exp, one());
        return arith::DivFOp::create(inner, loc, one(), sum, tile::kRelaxedQuotient);
      })
      .Case([&](SoftplusOp) -> Value {
        Value positive =
            arith::MaximumFOp::create(inner, loc, operands[0], constantOf(inner, loc, type, 0.0));
        Value magnitude = math::AbsFOp::create(inner, loc, operands[0]);
        Value negated = arith::NegFOp::create(inner, loc, magnitude);
        Value exp = math::ExpOp::create(inner, loc, negated);
        Value log = math::Log1pOp::create(inner, loc, exp);
        return arith::AddFOp::create(inner, loc, positive, log);
      })
      .Case([&](StopGradientOp) -> Value { return operands[0]; })
      .Case([&](IndexOp index) -> Value {
        Value at = position(index.getAxis());
        if (isa<BlockArgument>(at) && at.getParentBlock() == block.get())
          return toFloat(inner, loc, at, type);
        return toFloat(outer, loc, at, type);
      })
      .Case([&](SizeOp size) -> Value {
        if (!tile::isRole(size.getAxis()))
          return constantOf(inner, loc, type, emitter.channelSize(size.getAxis()));
        if (size.getAxis() == AxisRole::Lag)
          return toFloat(outer, loc, emitter.add(emitter.size(AxisRole::Query), emitter.size(AxisRole::Key)),
                         type);
        return toFloat(outer, loc, emitter.size(size.getAxis()), type);
      })
      .Case([&](arith::CmpFOp compare) -> Value {
        // Positions compare as integers.
        auto lhs = compare.getLhs().getDefiningOp<IndexOp>(), rhs = compare.getRhs().getDefiningOp<IndexOp>();
        auto predicate = integerPredicate(compare.getPredicate());
        if (lhs && rhs && predicate)
          return arith::CmpIOp::create(inner, loc, *predicate, position(lhs.getAxis()),
                                       position(rhs.getAxis()));
        return arith::CmpFOp::create(inner, loc, compare.getPredicate(), operands[0], operands[1]);
      })
      .Default([](Operation *) { return Value(); });
}

SmallVector<Value> ScalarProgram::inlineRegion(Region &region, ValueRange arguments) {
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip(region.getArguments(), arguments))
    mapping.map(argument, value);
  for (Operation &op : region.front().without_terminator()) {
    SmallVector<Value> operands =
        llvm::map_to_vector(op.getOperands(), [&](Value v) { return mapping.lookupOrDefault(v); });
    if (Value value = translate(&op, operands))
      mapping.map(op.getResult(0), value);
    else
      inner.clone(op, mapping);
  }
  return llvm::map_to_vector(region.front().getTerminator()->getOperands(),
                             [&](Value v) { return mapping.lookupOrDefault(v); });
}

ScalarProgram::AxisSet ScalarProgram::axesOf(Value scalar) {
  if (auto it = axes.find(scalar); it != axes.end())
    return it->second;
  AxisSet set;
  auto argument = dyn_cast<BlockArgument>(scalar);
  if (argument && argument.getOwner() == block.get()) {
    for (const tile::Axis &axis : cast<tile::TileType>(tiles[argument.getArgNumber()].getType()).getAxes())
      set.push_back(axis.name);
  } else if (Operation *op = scalar.getDefiningOp(); op && op->getBlock() == block.get()) {
    for (Value operand : op->getOperands())
      for (StringAttr axis : axesOf(operand))
        if (!llvm::is_contained(set, axis))
          set.push_back(axis);
    llvm::sort(set, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  }
  axes[scalar] = set;
  return set;
}

void ScalarProgram::shareReciprocals() {
  for (Operation &op : llvm::make_early_inc_range(*block)) {
    auto divide = dyn_cast<arith::DivFOp>(op);
    if (!divide || axesOf(divide.getRhs()).size() >= axesOf(divide).size() || !tile::isRelaxed(divide))
      continue;
    OpBuilder::InsertionGuard guard(inner);
    inner.setInsertionPoint(divide);
    Value one = constantOf(inner, loc, divide.getType(), 1.0);
    Value reciprocal = arith::DivFOp::create(inner, loc, one, divide.getRhs(), tile::kRelaxedQuotient);
    Value product = arith::MulFOp::create(inner, loc, divide.getLhs(), reciprocal);
    divide.replaceAllUsesWith(product);
    axes.erase(divide.getResult());
    divide.erase();
  }
}

/// One emission of the program as maps.
class ScalarProgram::Emission {
public:
  /// `anchor` is the block's terminator; its operands are wanted.
  Emission(ScalarProgram &program, Operation *anchor);

  /// Computes what reads no tile, outside of maps.
  void emitScalars();
  /// The sets of axes that need a map, in an order in which each reads only those before it.
  SmallVector<AxisSet> axisSets();
  /// Emits all operations over one set of axes as one map.
  void emitMap(const AxisSet &set);
  /// The tile of a wanted scalar.
  Value tileOf(Value scalar);

private:
  /// Constants and conditions are copied to where they are used: a tile of truth values would be memory for
  /// nothing.
  bool isCopied(Operation *op);
  /// Whether a map of its own set of axes computes it.
  bool isMapped(Operation &op) { return needed.contains(&op) && ofTiles.contains(&op) && !isCopied(&op); }
  /// Adds the scalars with tiles that an operation reads, also through copies.
  void collectReads(Operation *op, llvm::SetVector<Value> &reads);
  /// Whether something outside of the group reads an operation's result, also through copies.
  bool isReadOutside(Operation *op, const llvm::SetVector<Operation *> &group);
  /// Clones an operation after what it reads of copied ones.
  void clone(Operation *op, OpBuilder &builder, IRMapping &mapping);

  ScalarProgram &program;
  Operation *anchor;
  DenseSet<Operation *> needed, ofTiles; // what is wanted or read for it; what reads tiles
  IRMapping scalars;                     // of what reads none
  DenseMap<Value, Value> tiles;
};

ScalarProgram::Emission::Emission(ScalarProgram &program, Operation *anchor)
    : program(program), anchor(anchor) {
  Block *block = program.block.get();
  walkSources(anchor->getOperands(), [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op && op->getBlock() == block && needed.insert(op).second;
  });
  for (auto [argument, tile] : llvm::zip(block->getArguments(), program.tiles))
    tiles[argument] = tile;
  for (Operation &op : *block)
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return tiles.contains(v) || ofTiles.contains(v.getDefiningOp()); }))
      ofTiles.insert(&op);
}

bool ScalarProgram::Emission::isCopied(Operation *op) {
  return op && op->getBlock() == program.block.get() &&
         (op->hasTrait<OpTrait::ConstantLike>() ||
          (ofTiles.contains(op) && op->getResult(0).getType().isInteger(1)));
}

void ScalarProgram::Emission::emitScalars() {
  auto readsNoTile = [&](Operation *user) { return user == anchor || !ofTiles.contains(user); };
  for (Operation &op : *program.block)
    if (needed.contains(&op) && !ofTiles.contains(&op) && &op != anchor)
      if (!op.hasTrait<OpTrait::ConstantLike>() || llvm::any_of(op.getUsers(), readsNoTile))
        program.outer.clone(op, scalars);
}

SmallVector<ScalarProgram::AxisSet> ScalarProgram::Emission::axisSets() {
  SmallVector<AxisSet> sets;
  for (Operation &op : *program.block)
    if (isMapped(op))
      if (AxisSet set = program.axesOf(op.getResult(0)); !llvm::is_contained(sets, set))
        sets.push_back(set);
  auto names = [](const AxisSet &set) {
    return llvm::map_to_vector(set, [](StringAttr axis) { return axis.getValue(); });
  };
  llvm::sort(sets, [&](const AxisSet &a, const AxisSet &b) {
    return a.size() != b.size() ? a.size() < b.size() : names(a) < names(b);
  });
  return sets;
}

void ScalarProgram::Emission::collectReads(Operation *op, llvm::SetVector<Value> &reads) {
  for (Value operand : op->getOperands()) {
    if (tiles.contains(operand))
      reads.insert(operand);
    else if (isCopied(operand.getDefiningOp()))
      collectReads(operand.getDefiningOp(), reads);
  }
}

bool ScalarProgram::Emission::isReadOutside(Operation *op, const llvm::SetVector<Operation *> &group) {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    if (user == anchor)
      return true;
    return needed.contains(user) && (isCopied(user) ? isReadOutside(user, group) : !group.contains(user));
  });
}

void ScalarProgram::Emission::clone(Operation *op, OpBuilder &builder, IRMapping &mapping) {
  for (Value operand : op->getOperands())
    if (isCopied(operand.getDefiningOp()) && !mapping.contains(operand))
      clone(operand.getDefiningOp(), builder, mapping);
  builder.clone(*op, mapping);
}

void ScalarProgram::Emission::emitMap(const AxisSet &set) {
  llvm::SetVector<Operation *> group;
  for (Operation &op : *program.block)
    if (isMapped(op) && program.axesOf(op.getResult(0)) == set)
      group.insert(&op);
  llvm::SetVector<Value> reads;
  SmallVector<Value> results;
  for (Operation *op : group) {
    collectReads(op, reads);
    if (isReadOutside(op, group))
      results.push_back(op->getResult(0));
  }
  SmallVector<Value> readTiles = llvm::map_to_vector(reads, [&](Value v) { return tiles[v]; });
  auto map = tile::MapOp::create(
      program.outer, program.loc, readTiles, [&](OpBuilder &builder, Location, ValueRange arguments) {
        IRMapping mapping = scalars;
        for (auto [read, argument] : llvm::zip(reads, arguments))
          mapping.map(read, argument);
        for (Operation *op : group)
          clone(op, builder, mapping);
        return llvm::map_to_vector(results, [&](Value v) { return mapping.lookup(v); });
      });
  for (auto [result, tile] : llvm::zip(results, map.getResults()))
    tiles[result] = tile;
}

Value ScalarProgram::Emission::tileOf(Value value) {
  if (auto it = tiles.find(value); it != tiles.end())
    return it->second;
  OpBuilder &outer = program.outer;
  Value scalar = scalars.lookupOrDefault(value);
  auto type = tile::TileType::get(outer.getContext(), ArrayRef<tile::Axis>(), scalar.getType());
  return tile::SplatOp::create(outer, program.loc, type, scalar);
}

SmallVector<Value> ScalarProgram::emit(ValueRange wanted) {
  // Results are kept by a terminator, so that rewriting follows their uses.
  OpBuilder::InsertionGuard guard(inner);
  inner.setInsertionPointToEnd(block.get());
  Operation *anchor = tile::YieldOp::create(inner, loc, wanted);
  shareReciprocals();

  Emission emission(*this, anchor);
  emission.emitScalars();
  for (const AxisSet &set : emission.axisSets())
    emission.emitMap(set);
  return llvm::map_to_vector(anchor->getOperands(), [&](Value value) { return emission.tileOf(value); });
}

Value taylor::broadcastTile(OpBuilder &builder, Location loc, Value tile, tile::TileType type) {
  auto from = cast<tile::TileType>(tile.getType());
  if (from.getAxes() == type.getAxes())
    return tile;
  // A splat needs a scalar, and a tile of one element has none to give: add zeros of the full shape.
  Type element = from.getElementType();
  TypedAttr zero = isa<FloatType>(element) ? TypedAttr(builder.getFloatAttr(element, 0.0))
                                           : TypedAttr(builder.getIntegerAttr(element, 0));
  Value scalar = arith::ConstantOp::create(builder, loc, zero);
  Value shape = tile::SplatOp::create(builder, loc, type.withElement(element), scalar);
  if (auto splat = tile.getDefiningOp<tile::SplatOp>())
    return tile::SplatOp::create(builder, loc, type.withElement(element), splat.getValue());
  auto map = tile::MapOp::create(
      builder, loc, ValueRange{tile, shape},
      [](OpBuilder &, Location, ValueRange scalars) { return SmallVector<Value>{scalars[0]}; });
  return map.getResult(0);
}

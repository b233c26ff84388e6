// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/Thread/MapEmitter.h"
#include "codegen/Targets/Frame/Scalars.h"
#include "dialect/Refusal.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

void MapEmitter::emitSplat(tile::SplatOp op) {
  Value value = places.scalar(op.getValue());
  if (op.getValue().getType().isIndex())
    value = places.at(op).narrow(value);
  tiles.setTile(op, SmallVector<Value>(layoutOf(op.getType()).getNumRegisters(), value));
}

void MapEmitter::emitPosition(tile::PositionOp op) {
  Code code = places.at(op);
  LayoutAttr layout = layoutOf(op.getType());
  StringRef axis = op.getType().getAxes().front().getName();
  Value first = code.add(code.narrow(places.scalar(op.getStart())), places.placeOf(layout, axis).value);
  SmallVector<Value> values;
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i)
    values.push_back(code.add(first, layout.getOffset(i, axis)));
  tiles.setTile(op, values);
}

namespace {

/// The region of one map, emitted once per register. What has the same operands as before is not repeated.
class MapBody {
public:
  MapBody(tile::MapOp map, Code code) : map(map), code(code) {}

  void setOutside(Value value, Value known) { outside.map(value, known); }
  /// The yielded numbers for these arguments.
  SmallVector<Value> emit(ArrayRef<Value> arguments) {
    IRMapping values = outside;
    values.map(map.getBlock()->getArguments(), arguments);
    for (Operation &op : map.getBlock()->without_terminator())
      values.map(op.getResult(0), once(&op, values));
    return llvm::map_to_vector(map.getBlock()->getTerminator()->getOperands(),
                               [&](Value value) { return values.lookup(value); });
  }

private:
  Value once(Operation *op, const IRMapping &values) {
    SmallVector<const void *> key = {op};
    for (Value operand : op->getOperands())
      key.push_back(values.lookup(operand).getAsOpaquePointer());
    Value &known = done[std::vector<const void *>(key.begin(), key.end())];
    if (!known)
      known = emitOnce(op, values);
    return known;
  }

  Value emitOnce(Operation *op, const IRMapping &values) {
    if (auto extend = dyn_cast<arith::ExtFOp>(op))
      return code.convert(values.lookup(extend.getIn()), extend.getType());
    auto operands =
        llvm::map_to_vector(op->getOperands(), [&](Value operand) { return values.lookup(operand); });
    Value value = tile::cloneScalar(code.builder, op, operands, code.builder.getI32Type());
    // A product that is only added may be rounded with the sum.
    auto fast = dyn_cast_or_null<arith::ArithFastMathInterface>(value.getDefiningOp());
    if (fast && isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(value.getDefiningOp()))
      value.getDefiningOp()->setAttr(
          "fastmath",
          arith::FastMathFlagsAttr::get(code.builder.getContext(), arith::FastMathFlags::contract));
    return value;
  }

  tile::MapOp map;
  Code code;
  IRMapping outside;
  std::map<std::vector<const void *>, Value> done;
};

} // namespace

/// Scalars from outside that the region reads.
static llvm::SetVector<Value> capturesOf(tile::MapOp op) {
  llvm::SetVector<Value> captures;
  for (Operation &inner : *op.getBlock())
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != op.getBlock())
        captures.insert(operand);
  return captures;
}

/// How long the code of a map's functions is for one number, in about six instructions: a polynomial has
/// fifty, an exponential, a quotient or a root a few.
static int64_t weighFunctions(tile::MapOp op) {
  int64_t weight = 0;
  for (Operation &inner : *op.getBlock())
    weight += isa<math::SinOp, math::CosOp, math::PowFOp, math::ErfOp, math::TanhOp, math::LogOp,
                  math::Log1pOp, math::Log2Op, math::Log10Op, math::ExpM1Op>(inner)
                  ? 8
              : isa<math::MathDialect>(inner.getDialect()) || isa<arith::DivFOp>(inner) ? 1
                                                                                        : 0;
  return weight;
}

bool MapEmitter::isLoop(tile::MapOp op) {
  // A kernel of more, unrolled, takes LLVM and ptxas tens of seconds.
  constexpr int64_t kMostUnrolled = 2048;
  if (!functions) {
    functions = 0;
    places.kernel.walk([&](tile::MapOp map) {
      if (map.getNumResults())
        *functions += weighFunctions(map) * layoutOf(map.getResult(0).getType()).getNumRegisters();
    });
  }
  return *functions > kMostUnrolled && weighFunctions(op);
}

/// An operand of a map that is a loop: where it is in local memory already, it stays there.
FailureOr<Value> MapEmitter::localOperand(tile::MapOp op, Value input, unsigned number) {
  LayoutAttr layout = layoutOf(op.getResult(0).getType());
  if (Value local = tiles.localOf(input); local && layoutOf(input.getType()) == layout)
    return local;
  Type element = elementTypeOf(cast<TileType>(input.getType()).getElementType());
  int64_t count = layout.getNumRegisters();
  Value &array = localOperands[{element.getAsOpaquePointer(), count, number}];
  if (!array)
    array = tiles.makeLocal(element, count);
  for (int64_t i = 0; i < count; ++i) {
    FailureOr<Value> value = argumentOf(op, input, i);
    if (failed(value))
      return failure();
    LLVM::StoreOp::create(places.builder, op.getLoc(), *value,
                          tiles.placeInLocal(array, element, places.at(op).i32(i)));
  }
  return array;
}

LogicalResult MapEmitter::emitMapAsLoop(tile::MapOp op,
                                        llvm::function_ref<SmallVector<Value>(ArrayRef<Value>)> body) {
  Code code = places.at(op);
  int64_t count = layoutOf(op.getResult(0).getType()).getNumRegisters();
  SmallVector<Value> inputs, outputs;
  for (auto [number, input] : llvm::enumerate(op.getInputs())) {
    FailureOr<Value> array = localOperand(op, input, number);
    if (failed(array))
      return failure();
    inputs.push_back(*array);
  }
  for (Value result : op.getResults()) {
    outputs.push_back(
        tiles.makeLocal(elementTypeOf(cast<TileType>(result.getType()).getElementType()), count));
    tiles.setLocal(result, outputs.back());
  }
  auto loop = scf::ForOp::create(code.builder, op.getLoc(), code.i32(0), code.i32(count), code.i32(1));
  OpBuilder::InsertionGuard guard(code.builder);
  code.builder.setInsertionPointToStart(loop.getBody());
  Value index = loop.getInductionVar();
  SmallVector<Value> arguments;
  for (auto [array, input] : llvm::zip(inputs, op.getInputs())) {
    Type element = elementTypeOf(cast<TileType>(input.getType()).getElementType());
    arguments.push_back(
        LLVM::LoadOp::create(code.builder, op.getLoc(), element, tiles.placeInLocal(array, element, index)));
  }
  for (auto [array, value] : llvm::zip(outputs, body(arguments)))
    LLVM::StoreOp::create(code.builder, op.getLoc(), value,
                          tiles.placeInLocal(array, value.getType(), index));
  return success();
}

FailureOr<Value> MapEmitter::argumentOf(tile::MapOp op, Value input, int64_t number) {
  LayoutAttr layout = layoutOf(op.getResult(0).getType());
  int64_t place = layoutOf(input.getType()).findRegister(layout, number);
  if (place < 0)
    return op.emitOpError() << "expected an operand in the layout of the result, but got " << input.getType();
  return tiles.elementForMap(input, place, op.getLoc());
}

LogicalResult MapEmitter::emitMap(tile::MapOp op) {
  Code code = places.at(op);
  MapBody body(op, code);
  for (Operation &inner : op.getBlock()->without_terminator())
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(inner.getDialect()) ||
        inner.getNumResults() != 1)
      return taylor::refuse(
          inner.emitOpError("unsupported op in a tile.map; expected ops of arith and math"));
  for (Value value : capturesOf(op)) {
    Value known = places.scalar(value);
    body.setOutside(value, value.getType().isIndex() ? code.narrow(known) : known);
  }
  if (op.getNumResults() == 0)
    return success();
  LayoutAttr layout = layoutOf(op.getResult(0).getType());
  for (Value input : op.getInputs())
    if (auto tile = cast<tile::TileType>(input.getType());
        !haveSamePlaces(layoutOf(tile), layout.project(tile.getAxes())))
      return op.emitOpError() << "expected an operand in the layout of the result, but got " << tile;
  auto emitBody = [&](ArrayRef<Value> arguments) { return body.emit(arguments); };
  if (isLoop(op))
    return emitMapAsLoop(op, emitBody);
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i) {
    SmallVector<Value> arguments;
    for (Value input : op.getInputs()) {
      FailureOr<Value> argument = argumentOf(op, input, i);
      if (failed(argument))
        return failure();
      arguments.push_back(*argument);
    }
    for (auto [result, value] : llvm::zip(results, emitBody(arguments)))
      result.push_back(value);
  }
  for (auto [result, values] : llvm::zip(op.getResults(), results))
    tiles.setTile(result, values);
  return success();
}

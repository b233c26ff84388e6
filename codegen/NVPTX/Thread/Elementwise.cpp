// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is local to elements: maps, splats, positions.
#include "codegen/NVPTX/Thread/KernelEmitter.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"
#include <map>

using namespace mlir;
using namespace mlir::simt;
using tile::TileType;

LogicalResult KernelEmitter::emitSplat(tile::SplatOp op) {
  Value value = scalar(op.getValue());
  if (op.getValue().getType().isIndex())
    value = at(op).narrow(value);
  setTile(op, SmallVector<Value>(layoutOf(op.getType()).getNumRegisters(), value));
  return success();
}

LogicalResult KernelEmitter::emitPosition(tile::PositionOp op) {
  Code code = at(op);
  LayoutAttr layout = layoutOf(op.getType());
  StringRef axis = op.getType().getAxes().front().getName();
  Value first = code.add(code.narrow(scalar(op.getStart())), placeOf(layout, axis).value);
  SmallVector<Value> values;
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i)
    values.push_back(code.add(first, layout.getOffset(i, axis)));
  setTile(op, values);
  return success();
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
    Value value = cloneScalar(code.builder, op, values, code.builder.getI32Type());
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

LogicalResult KernelEmitter::emitMap(tile::MapOp op) {
  Code code = at(op);
  MapBody body(op, code);
  for (Operation &inner : op.getBlock()->without_terminator())
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(inner.getDialect()) ||
        inner.getNumResults() != 1)
      return inner.emitOpError("unsupported op in a tile.map; expected ops of arith and math");
  for (Value value : capturesOf(op)) {
    Value known = scalar(value);
    body.setOutside(value, value.getType().isIndex() ? code.narrow(known) : known);
  }
  if (op.getNumResults() == 0)
    return success();
  LayoutAttr layout = layoutOf(op.getResult(0).getType());
  for (Value input : op.getInputs())
    if (auto tile = cast<tile::TileType>(input.getType());
        !haveSamePlaces(layoutOf(tile), layout.project(tile.getAxes())))
      return op.emitOpError() << "expected an operand in the layout of the result, but got " << tile;
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  for (int64_t i = 0, e = layout.getNumRegisters(); i < e; ++i) {
    SmallVector<Value> arguments;
    for (Value input : op.getInputs()) {
      int64_t place = layoutOf(input.getType()).findRegister(layout, i);
      if (place < 0)
        return op.emitOpError() << "expected an operand in the layout of the result, but got "
                                << input.getType();
      auto load = loadedByReaders.find(input);
      arguments.push_back(load == loadedByReaders.end() ? element(tileOf(input), place, op.getLoc())
                                                        : load->second(place));
    }
    for (auto [result, value] : llvm::zip(results, body.emit(arguments)))
      result.push_back(value);
  }
  for (auto [result, values] : llvm::zip(op.getResults(), results))
    setTile(result, values);
  return success();
}

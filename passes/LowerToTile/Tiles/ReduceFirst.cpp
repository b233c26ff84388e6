// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A maximum before what rises with its operand. Passes.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "taylor-reduce-first"

namespace taylor {
#define GEN_PASS_DEF_REDUCEFIRSTPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace mlir::tile;

namespace {

bool isPositive(Value value) {
  FloatAttr number;
  return matchPattern(value, m_Constant(&number)) && number.getValue().isFinite() &&
         !number.getValue().isNegative() && !number.getValue().isZero();
}

/// A map's result as a rising function of one of its inputs, the only one with reduced axes.
class RisingChain {
public:
  RisingChain(MapOp map, ArrayAttr over) : map(map), over(over) {}

  /// The input, or none. All operations between it and the result are rising in it, rounding included.
  std::optional<unsigned> find(Value scalar) {
    std::optional<unsigned> input;
    while (auto op = scalar.getDefiningOp()) {
      if (op->getBlock() != map.getBlock())
        return std::nullopt;
      Value wide;
      for (Value operand : op->getOperands()) {
        if (!isWide(operand))
          continue;
        if (wide)
          return std::nullopt;
        wide = operand;
      }
      if (!wide || !rises(op, wide))
        return std::nullopt;
      scalar = wide;
    }
    auto argument = cast<BlockArgument>(scalar);
    if (argument.getOwner() == map.getBlock() && isWide(argument))
      input = argument.getArgNumber();
    return input;
  }

private:
  static bool rises(Operation *op, Value in) {
    if (isa<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp>(op))
      return true;
    if (auto subtract = dyn_cast<arith::SubFOp>(op))
      return subtract.getLhs() == in;
    if (auto divide = dyn_cast<arith::DivFOp>(op))
      return divide.getLhs() == in && isPositive(divide.getRhs());
    if (auto multiply = dyn_cast<arith::MulFOp>(op))
      return isPositive(multiply.getLhs() == in ? multiply.getRhs() : multiply.getLhs());
    return false;
  }

  /// Whether a scalar of the map varies along a reduced axis.
  bool isWide(Value scalar) {
    if (auto argument = dyn_cast<BlockArgument>(scalar)) {
      if (argument.getOwner() != map.getBlock())
        return false;
      auto type = cast<TileType>(map.getInputs()[argument.getArgNumber()].getType());
      return llvm::any_of(over.getAsRange<StringAttr>(), [&](StringAttr axis) { return type.hasAxis(axis); });
    }
    Operation *op = scalar.getDefiningOp();
    return op->getBlock() == map.getBlock() &&
           llvm::any_of(op->getOperands(), [&](Value operand) { return isWide(operand); });
  }

  MapOp map;
  ArrayAttr over;
};

/// max over(u) F(x) becomes F(max over(u) x); the map goes on without u.
bool reduceFirst(ReduceOp reduce) {
  auto result = dyn_cast<OpResult>(reduce.getInput());
  auto map = result ? dyn_cast<MapOp>(result.getOwner()) : MapOp();
  if (!map || reduce.getKind() != ReductionKind::max)
    return false;
  Value scalar = map.getBlock()->getTerminator()->getOperand(result.getResultNumber());
  if (!scalar.getDefiningOp())
    return false;
  std::optional<unsigned> input = RisingChain(map, reduce.getOver()).find(scalar);
  if (!input)
    return false;
  // The input lacks an axis of the result only if another has it: that one then stays.
  auto reducedAxes = reduce.getOver().getAsRange<StringAttr>();
  auto inputType = cast<TileType>(map.getInputs()[*input].getType());
  if (!llvm::all_of(reducedAxes, [&](StringAttr axis) { return inputType.hasAxis(axis); }))
    return false;

  OpBuilder builder(reduce);
  SmallVector<AxisRef> over = llvm::map_to_vector(reducedAxes, [](StringAttr axis) { return AxisRef(axis); });
  SmallVector<Value> inputs;
  SmallVector<unsigned> kept;
  for (auto [number, tile] : llvm::enumerate(map.getInputs())) {
    auto type = cast<TileType>(tile.getType());
    bool isInput = number == *input;
    if (!isInput &&
        llvm::any_of(over, [&](StringRef axis) { return type.hasAxis(builder.getStringAttr(axis)); }))
      continue; // of other results
    kept.push_back(number);
    inputs.push_back(
        isInput ? Value(ReduceOp::create(builder, reduce.getLoc(), ReductionKind::max, tile, over)) : tile);
  }
  auto narrow =
      MapOp::create(builder, map.getLoc(), inputs, [&](OpBuilder &inner, Location, ValueRange scalars) {
        IRMapping mapping;
        for (auto [number, value] : llvm::zip(kept, scalars))
          mapping.map(map.getBlock()->getArgument(number), value);
        for (Operation &op : map.getBlock()->without_terminator())
          if (llvm::all_of(op.getOperands(), [&](Value v) {
                return v.getParentBlock() != map.getBlock() || mapping.contains(v);
              }))
            inner.clone(op, mapping);
        return SmallVector<Value>{mapping.lookup(scalar)};
      });
  if (narrow.getResult(0).getType() != reduce.getType()) { // an axis that only a dropped input had
    narrow.erase();
    return false;
  }
  LDBG() << reduce.getLoc() << ": the maximum of an operand of the map at " << map.getLoc();
  reduce.replaceAllUsesWith(narrow.getResult(0));
  reduce.erase();
  return true;
}

struct ReduceFirst : taylor::impl::ReduceFirstPassBase<ReduceFirst> {
  using ReduceFirstPassBase::ReduceFirstPassBase;

  void runOnOperation() override {
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp reduce) { reductions.push_back(reduce); });
    for (ReduceOp reduce : reductions)
      numMoved += reduceFirst(reduce);
  }
};

} // namespace

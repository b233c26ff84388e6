// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which axis of each tile lies in vector lanes.
#include "codegen/Targets/CPU/KernelPlan.h"
#include "dialect/Sources.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// The tile axis along the array's contiguous axis; else along its last axis that the tile has.
static StringAttr naturalLane(ArrayType array, TileType tile, ArrayAttr arrayAxes, ArrayAttr tileAxes,
                              ValueRange offsets) {
  StringAttr lane;
  for (const WindowAxis &axis : getWindow(array, tile, arrayAxes, tileAxes, offsets))
    if (!axis.tileAxis.empty())
      lane = StringAttr::get(array.getContext(), axis.tileAxis);
  return lane;
}

/// The axis of a tile of vectors (or of their features) that is not the one along which they lie.
static StringAttr tokensOf(TileType tile, StringRef along) {
  for (const Axis &axis : tile.getAxes())
    if (axis.getName() != along)
      return axis.name;
  return {};
}

/// Whether a carried tile is what a contraction adds to: it takes its lanes, wherever the tile comes from.
static bool isContracted(Value argument) {
  return llvm::any_of(argument.getUsers(), [&](Operation *user) {
    auto contract = dyn_cast<ContractOp>(user);
    auto inner = dyn_cast<scf::ForOp>(user);
    if (!inner)
      return contract && contract.getC() == argument;
    for (auto [init, carried] : llvm::zip(inner.getInitArgs(), inner.getRegionIterArgs()))
      if (init == argument && isContracted(carried))
        return true;
    return false;
  });
}

/// Gives each tile its lanes, block after block.
class KernelPlan::LaneChooser {
public:
  explicit LaneChooser(KernelPlan &plan) : plan(plan) {}

  void run() {
    // Twice: what is carried around a loop learns its lanes from what the body yields.
    chooseLanes(*plan.kernel.getBlock());
    chooseLanes(*plan.kernel.getBlock());
    plan.kernel.walk([&](Operation *op) {
      auto settle = [&](Value value) {
        auto type = dyn_cast<TileType>(value.getType());
        if (type && !type.getAxes().empty() && !plan.laneOf(value))
          setLane(value, type.getAxes().back().name);
      };
      llvm::for_each(op->getResults(), settle);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), settle);
    });
  }

private:
  void setLane(Value value, StringAttr lane) {
    if (lane)
      plan.lanes[value] = lane;
  }

  StringAttr laneOfDot(DotOp dot) const {
    // The operand that has the result's lanes is read as vectors along them; of the other, single
    // elements are broadcast.
    TileType type = dot.getType();
    auto contiguousFree = [&](Value operand) {
      StringAttr lane = plan.laneOf(operand);
      return lane && type.hasAxis(lane) ? lane : StringAttr();
    };
    Value a = dot.getA(), b = dot.getB();
    StringAttr laneA = contiguousFree(a), laneB = contiguousFree(b);
    if (laneA && laneB) {
      // Memory before computed values: those are stored anyway, in whatever order. On the matrix unit the
      // other operand is transposed, and one from memory changes less often.
      bool loadsA = isa_and_nonnull<LoadOp>(a.getDefiningOp()),
           loadsB = isa_and_nonnull<LoadOp>(b.getDefiningOp());
      if (loadsA == loadsB)
        return laneB;
      bool isTiled = plan.target.hasTiles && plan.isNarrow(a) && plan.isNarrow(b);
      return loadsA != isTiled ? laneA : laneB;
    }
    if (laneA || laneB)
      return laneA ? laneA : laneB;
    // One of them must be transposed: the one that changes least often.
    auto depth = [](Value value) {
      int depth = 0;
      for (Operation *op = value.getParentBlock()->getParentOp(); op && !isa<KernelOp>(op);
           op = op->getParentOp())
        ++depth;
      return depth;
    };
    auto firstFree = [&](Value operand) {
      for (const Axis &axis : cast<TileType>(operand.getType()).getAxes())
        if (type.hasAxis(axis.getName()))
          return axis.name;
      return StringAttr();
    };
    StringAttr freeA = firstFree(a), freeB = firstFree(b);
    if (!freeA || !freeB)
      return freeA ? freeA : freeB;
    // Unless sums of one row are made where both lie.
    if (StringAttr lane = KernelPlan::longAxisOf(type); lane && plan.mayBeRowSum(dot))
      return lane;
    return depth(b) < depth(a) ? freeB : freeA;
  }

  StringAttr laneOfMap(Operation *op, ValueRange inputs, TileType type) const {
    StringAttr lane;
    int64_t best = 0;
    for (Value input : inputs) {
      StringAttr candidate = plan.laneOf(input);
      int64_t elements = cast<TileType>(input.getType()).getNumElements();
      if (candidate && type.hasAxis(candidate) && elements > best) {
        lane = candidate;
        best = elements;
      }
    }
    // A vector over one axis says nothing about which of two axes should be contiguous.
    if (lane && best != type.getNumElements() && type.getAxes().size() > 1)
      return StringAttr();
    return lane;
  }

  /// Gives accumulators the lanes of what they add up, through maps that rescale them.
  void setAccumulatorLane(Value accumulators, StringAttr lane) {
    taylor::walkSources(accumulators, [&](Value value) {
      if (value.getType() != accumulators.getType() || plan.laneOf(value))
        return false;
      setLane(value, lane);
      return isa_and_nonnull<MapOp>(value.getDefiningOp());
    });
  }

  void chooseLanes(Block &block) {
    for (Operation &op : block) {
      TypeSwitch<Operation *>(&op)
          .Case([&](LoadOp load) {
            setLane(load.getResult(),
                    naturalLane(load.getArray().getType(), load.getType(), load.getArrayAxes(),
                                load.getTileAxes(), load.getOffsets()));
          })
          .Case<SplatOp, PositionOp>([&](auto) {})
          .Case([&](MapOp map) {
            StringAttr lane = laneOfMap(map, map.getInputs(), cast<TileType>(map.getResult(0).getType()));
            for (Value result : map.getResults())
              setLane(result, lane);
          })
          .Case([&](DotOp dot) {
            setLane(dot.getResult(), laneOfDot(dot));
            if (Value c = dot.getC())
              setAccumulatorLane(c, plan.laneOf(dot.getResult()));
          })
          .Case([&](ExpandOp expand) {
            setLane(expand.getResult(), tokensOf(expand.getType(), expand.getTo()));
          })
          .Case([&](ContractOp contract) {
            StringAttr lane = tokensOf(contract.getType(), contract.getAxis());
            setLane(contract.getResult(), lane);
            setAccumulatorLane(contract.getC(), lane);
          })
          .Case([&](ReduceOp reduce) {
            StringAttr lane = plan.laneOf(reduce.getInput());
            if (lane && reduce.getType().hasAxis(lane))
              setLane(reduce.getResult(), lane);
          })
          .Case([&](ScanOp scan) { setLane(scan.getResult(), plan.laneOf(scan.getInput())); })
          .Case([&](SliceOp slice) { setLane(slice.getResult(), plan.laneOf(slice.getInput())); })
          .Case([&](ConcatOp concat) {
            StringAttr lane = plan.laneOf(concat.getA());
            setLane(concat.getResult(), lane ? lane : plan.laneOf(concat.getB()));
          })
          .Case([&](scf::ForOp loop) {
            for (auto [argument, init, result] :
                 llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults()))
              if (!isContracted(argument))
                setLane(argument, plan.laneOf(init));
            chooseLanes(*loop.getBody());
            for (auto [argument, result, value] : llvm::zip(loop.getRegionIterArgs(), loop.getResults(),
                                                            loop.getBody()->getTerminator()->getOperands())) {
              if (!plan.laneOf(argument))
                setLane(argument, plan.laneOf(value));
              setLane(result, plan.laneOf(argument));
            }
          })
          .Case([&](scf::IfOp branch) {
            for (Region &region : branch->getRegions())
              for (Block &inner : region) {
                chooseLanes(inner);
                for (auto [result, value] :
                     llvm::zip(branch.getResults(), inner.getTerminator()->getOperands()))
                  setLane(result, plan.laneOf(value));
              }
          });
      // A tile with one axis has no choice.
      for (Value result : op.getResults())
        if (auto type = dyn_cast<TileType>(result.getType()))
          if (type.getAxes().size() == 1 && !isa<SplatOp, PositionOp>(op))
            setLane(result, type.getAxes().front().name);
    }
  }

  KernelPlan &plan;
};

void KernelPlan::chooseLanes() { LaneChooser(*this).run(); }

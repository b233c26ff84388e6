// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups a kernel's ops into sweeps.
#include "codegen/Targets/CPU/KernelPlan.h"

#include "dialect/Refusal.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

/// The axis of the tile along the array's last axis, if the tile has it.
template <typename Op> static StringAttr contiguousAxis(Op op) {
  auto window = getWindow(op.getArray().getType(), op.getTile().getType(), op.getArrayAxes(),
                          op.getTileAxes(), op.getOffsets());
  return window.empty() || window.back().tileAxis.empty()
             ? StringAttr()
             : StringAttr::get(op.getContext(), window.back().tileAxis);
}

/// Whether a step reads or writes an array.
static bool touches(const Step &step, Value array) {
  auto same = [&](Operation *other) { return other && llvm::is_contained(other->getOperands(), array); };
  return step.kind == Step::Window ? same(step.op)
                                   : step.kind == Step::SweepStep && llvm::any_of(step.sweep->ops, same);
}

/// Makes the steps of each block: copies, windows, and sweeps that ops join as early as their operands let
/// them.
class KernelPlan::SweepPlanner {
public:
  explicit SweepPlanner(KernelPlan &plan) : plan(plan) {}

  LogicalResult run() { return planBlock(*plan.kernel.getBlock()); }

private:
  LogicalResult planBlock(Block &block) {
    std::vector<Step> &list = plan.steps[&block];
    size_t segment = 0; // where the ops after the last loop or branch begin
    size_t front = 0;   // where the next scalar or load goes: ahead of the segment's sweeps
    for (Operation &op : block) {
      if (op.hasTrait<OpTrait::IsTerminator>())
        continue;
      if (isa<scf::ForOp, scf::IfOp>(op)) {
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            if (failed(planBlock(inner)))
              return failure();
        if (auto loop = dyn_cast<scf::ForOp>(op))
          for (auto [i, value] : llvm::enumerate(loop.getBody()->getTerminator()->getOperands()))
            if (isa<TileType>(value.getType()) && value != loop.getRegionIterArg(i) &&
                llvm::is_contained(loop.getRegionIterArgs(), value))
              return op.emitError(
                  "unsupported loop that hands on a carried tile as another; copy it with a tile.map");
        list.push_back({Step::Control, &op});
        segment = front = list.size();
      } else if (op.getDialect() && isa<TileDialect>(op.getDialect()) &&
                 !isa<SizeOp, RequestedOp, LookupOp>(op)) {
        if (failed(planTileOp(&op, list, segment, front)))
          return failure();
      } else if (op.getNumRegions()) {
        return op.emitError() << "unsupported op in a kernel: '" << op.getName()
                              << "'; expected scf.for or scf.if";
      } else {
        list.insert(list.begin() + front++, Step{Step::Scalar, &op});
      }
    }
    return success();
  }

  void requirePack(Copy copy) {
    bool isOwn = plan.laneOf(copy.value) == copy.lane && !copy.pairs && !plan.isInline(copy.value);
    if (isOwn || !plan.packs.insert(copy).second)
      return;
    Step step{Step::Pack};
    step.pack = copy;
    plan.steps[copy.value.getParentBlock()].push_back(std::move(step));
  }

  LogicalResult planTileOp(Operation *op, std::vector<Step> &list, size_t segment, size_t &front) {
    return TypeSwitch<Operation *, LogicalResult>(op)
        .Case<SplatOp, PositionOp>([&](auto inlineOp) {
          plan.inlined.insert(inlineOp.getResult());
          return success();
        })
        .Case([&](LoadOp load) {
          bool conflict = std::any_of(list.begin() + segment, list.end(), [&](const Step &step) {
            return step.kind == Step::SweepStep && touches(step, load.getArray());
          });
          list.insert(conflict ? list.end() : list.begin() + front++, Step{Step::Window, op});
          return success();
        })
        .Case([&](MapOp map) {
          if (feedsAccumulators(map) || isProductMask(map))
            plan.inlined.insert(map.getResult(0));
          else if (map.getNumResults())
            planMap(map, list, segment);
          return success();
        })
        .Case([&](SliceOp slice) {
          joinSweep(op, slice.getType().getAxes(), plan.laneOf(slice.getResult()), list, segment);
          return success();
        })
        .Case([&](ReduceOp reduce) {
          joinSweep(op, reduce.getInput().getType().getAxes(), plan.laneOf(reduce.getInput()), list, segment);
          return success();
        })
        .Case<StoreOp, AccumulateOp>([&](auto write) -> LogicalResult {
          if (auto accumulate = dyn_cast<AccumulateOp>(op); accumulate && accumulate.getAtomic())
            return taylor::refuse(op->emitError(
                "unsupported atomic additions on a CPU: lower with row-sums=parts or separate"));
          planWrite(write, write.getTile(), write.getArray(), contiguousAxis(write), list, segment);
          return success();
        })
        .Case([&](DotOp dot) {
          planProduct(dot, list);
          return success();
        })
        .Case<ExpandOp, ContractOp>([&](auto) {
          planFeatures(op, list);
          return success();
        })
        .Case<ScanOp, ConcatOp>([&](auto) {
          list.push_back({isa<ScanOp>(op) ? Step::Scan : Step::Concat, op});
          return success();
        })
        .Default([](Operation *other) {
          return other->emitError() << "unsupported op in a kernel: '" << other->getName() << "'";
        });
  }

  /// A map, after copies of the inputs that lie along other lanes than its own.
  void planMap(MapOp map, std::vector<Step> &list, size_t segment) {
    StringAttr lane = plan.laneOf(map.getResult(0));
    for (Value input : map.getInputs())
      requireLane(input, lane);
    joinSweep(map, cast<TileType>(map.getResult(0).getType()).getAxes(), lane, list, segment);
  }

  /// A copy of what a sweep along `lane` reads next to others, if squares of vectors make it up: a gather
  /// of each vector takes several times as long.
  void requireLane(Value tile, StringAttr lane) {
    auto type = cast<TileType>(tile.getType());
    StringAttr own = plan.laneOf(tile);
    bool isOther = lane && own && own != lane && type.hasAxis(lane) && !plan.isInline(tile) &&
                   type.getElementType().isIntOrFloat();
    auto isWhole = [&](StringAttr axis) { return type.getSize(axis) % plan.wholeLanes() == 0; };
    if (isOther && type.getElementType().getIntOrFloatBitWidth() >= 16 && isWhole(own) && isWhole(lane))
      requirePack({tile, lane});
  }

  /// Whether the map's only use is as what a product of its block adds to.
  bool feedsAccumulators(MapOp map) const {
    if (map.getNumResults() != 1 || !map->hasOneUse())
      return false;
    auto dot = dyn_cast<DotOp>(*map->user_begin());
    return dot && !plan.tileProductOf(dot) && dot.getC() == map.getResult(0) && dot.getA() != dot.getC() &&
           dot.getB() != dot.getC() && dot->getBlock() == map->getBlock();
  }

  /// Whether only products read the map, as their mask: few of them ever do.
  bool isProductMask(MapOp map) {
    return map.getNumResults() == 1 && !map->use_empty() &&
           llvm::all_of(map->getUsers(), [&](Operation *user) {
             auto dot = dyn_cast<DotOp>(user);
             return dot && dot.getWhere() == map.getResult(0);
           });
  }

  /// A store or accumulate of `tile` into `array`, which has the tile's axis `contiguous` last.
  void planWrite(Operation *op, Value tile, Value array, StringAttr contiguous, std::vector<Step> &list,
                 size_t segment) {
    StringAttr lane = plan.laneOf(tile);
    if (contiguous && contiguous != lane) {
      requirePack({tile, contiguous});
      lane = contiguous;
    }
    // After everything that touches the same array.
    size_t after = segment;
    for (size_t i = segment; i < list.size(); ++i)
      if (touches(list[i], array))
        after = i + 1;
    joinSweep(op, cast<TileType>(tile.getType()).getAxes(), lane, list, after);
  }

  void planProduct(DotOp dot, std::vector<Step> &list) {
    StringAttr lane = plan.laneOf(dot.getResult()), pairs = plan.pairsOf(dot);
    if (std::optional<TileProduct> product = plan.tileProductOf(dot)) {
      requirePack({product->a, product->pairs});
      requirePack({product->b, lane, product->pairs});
      if (dot.getC())
        requirePack({dot.getC(), lane});
      addSweep(dot, dot.getType().getAxes(), lane, list).dot = dot;
      return;
    }
    if (dot.getC())
      requireLane(dot.getC(), lane);
    bool isRowSum = bool(plan.rowSumOf(dot));
    for (Value operand : {dot.getA(), dot.getB()}) {
      auto type = cast<TileType>(operand.getType());
      if (isRowSum)
        break;
      if (pairs && type.hasAxis(lane))
        requirePack({operand, lane, pairs});
      else if (pairs && plan.laneOf(operand) != pairs)
        requirePack({operand, plan.laneOf(operand), pairs});
      else if (lane && type.hasAxis(lane))
        requirePack({operand, lane});
      else if (plan.isInline(operand))
        requirePack({operand, type.getAxes().front().name});
    }
    Sweep &sweep = addSweep(dot, dot.getType().getAxes(), lane, list);
    sweep.dot = dot;
    if (dot.getC() && plan.isInline(dot.getC()) && dot.getC().getDefiningOp<MapOp>())
      plan.sweepOf[dot.getC().getDefiningOp()] = &sweep;
  }

  /// An expansion or its adjoint, whose tokens lie in lanes; so do those of the tiles it reads.
  void planFeatures(Operation *op, std::vector<Step> &list) {
    StringAttr lane = plan.laneOf(op->getResult(0));
    if (auto expand = dyn_cast<ExpandOp>(op); expand && expand.getType().getAxes().size() == 1)
      lane = expand.getAxisAttr(); // of one vector
    for (Value operand : op->getOperands())
      if (isa<TileType>(operand.getType()) && (plan.isInline(operand) || plan.laneOf(operand) != lane))
        requirePack({operand, lane});
    list.push_back({Step::Features, op});
  }

  /// A new sweep at the end of the list, on account of `op`.
  Sweep &addSweep(Operation *op, ArrayRef<Axis> axes, StringAttr lane, std::vector<Step> &list) {
    Step &step = list.emplace_back(Step{Step::SweepStep});
    step.sweep = std::make_unique<Sweep>();
    step.sweep->axes.assign(axes.begin(), axes.end());
    step.sweep->lane = lane;
    plan.sweepOf[op] = step.sweep.get();
    return *step.sweep;
  }

  /// Whether the sweep with one op more is still a basic block of a size that LLVM takes well.
  bool hasRoom(const Sweep &sweep, Operation *op) const {
    // Sums and stores read registers; only maps may be long.
    if (!isa<MapOp>(op) || (sweep.ops.empty() && !sweep.dot))
      return true;
    int64_t vectors = sweep.dot ? plan.target.accumulators : 1;
    return (plan.weightOf(sweep) + plan.weightOf(op)) * vectors <= kBlockWeight;
  }

  /// Adds the op to the earliest sweep at or after `segment` that has its elements and follows its operands'
  /// definitions.
  void joinSweep(Operation *op, ArrayRef<Axis> axes, StringAttr lane, std::vector<Step> &list,
                 size_t segment) {
    auto sameAxes = [&](ArrayRef<Axis> other) {
      return other.size() == axes.size() &&
             llvm::all_of(axes, [&](const Axis &axis) { return llvm::is_contained(other, axis); });
    };
    // What a product on the matrix unit gives is in memory, not in registers.
    auto isClosed = [&](const Sweep &sweep) { return sweep.dot && plan.tileProductOf(sweep.dot); };
    size_t earliest = segment;
    for (Value operand : op->getOperands()) {
      if (!isa<TileType>(operand.getType()))
        continue;
      for (size_t i = segment; i < list.size(); ++i) {
        const Step &step = list[i];
        bool defines = step.op && step.op == operand.getDefiningOp();
        if (step.kind == Step::Pack)
          defines = step.pack == Copy{operand, lane};
        if (step.kind == Step::SweepStep && operand.getDefiningOp() &&
            plan.sweepOf.lookup(operand.getDefiningOp()) == step.sweep.get()) {
          bool sameElement = !isClosed(*step.sweep) && !isa<ReduceOp>(operand.getDefiningOp()) &&
                             sameAxes(step.sweep->axes) && step.sweep->lane == lane && !isa<SliceOp>(op) &&
                             cast<TileType>(operand.getType()).getAxes().size() == axes.size();
          earliest = std::max(earliest, sameElement ? i : i + 1);
        }
        if (defines)
          earliest = std::max(earliest, i + 1);
      }
    }
    for (size_t i = earliest; i < list.size(); ++i)
      if (list[i].kind == Step::SweepStep && !isClosed(*list[i].sweep) && list[i].sweep->lane == lane &&
          sameAxes(list[i].sweep->axes) && hasRoom(*list[i].sweep, op)) {
        list[i].sweep->ops.push_back(op);
        plan.sweepOf[op] = list[i].sweep.get();
        return;
      }
    addSweep(op, axes, lane, list).ops.push_back(op);
  }

  KernelPlan &plan;
};

LogicalResult KernelPlan::planSweeps() { return SweepPlanner(*this).run(); }

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups a kernel's ops into sweeps.
#include "codegen/Targets/CPU/KernelPlan.h"
#include "codegen/Targets/Math/VectorMath.h"
#include "dialect/Refusal.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tile;
using namespace mlir::tile::cpu;

Type KernelPlan::storedElement(Value value) const {
  Type element = cast<TileType>(value.getType()).getElementType();
  if (isStreamed(value))
    return value.getDefiningOp<LoadOp>().getArray().getType().getElementType();
  if (element.isF64() || element.isF32() || isNarrow(value))
    return element;
  if (isa<FloatType>(element))
    return Float32Type::get(element.getContext());
  return IntegerType::get(element.getContext(), 32);
}

/// Scratch of one thread: far more than a cache holds, and what a machine can give to each of its threads.
static constexpr int64_t kMostScratch = int64_t(1) << 30;

FailureOr<std::unique_ptr<KernelPlan>> KernelPlan::build(KernelOp kernel, const Processor &target) {
  std::unique_ptr<KernelPlan> plan(new KernelPlan(kernel, target));
  unsigned bits = 32;
  kernel.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (auto tile = dyn_cast<TileType>(value.getType()); tile && tile.getElementType().isF64())
        bits = 64;
    if (auto store = dyn_cast<StoreOp>(op))
      plan->writtenArrays.insert(store.getArray());
    if (auto accumulate = dyn_cast<AccumulateOp>(op))
      plan->writtenArrays.insert(accumulate.getArray());
  });
  plan->vectorLanes = target.lanes(bits);
  plan->chooseLanes();
  if (failed(plan->planBlock(*kernel.getBlock())))
    return failure();
  plan->moveProducts(*kernel.getBlock());
  plan->storePairs(*kernel.getBlock());
  int position = 0;
  plan->numberSteps(*kernel.getBlock(), position);
  plan->collectPlaces(*kernel.getBlock());
  plan->collectUses(*kernel.getBlock());
  plan->shareInit(*kernel.getBlock());
  plan->shareYield(*kernel.getBlock());
  plan->shareInPlace(*kernel.getBlock());
  plan->findSkips(*kernel.getBlock());
  plan->allocate();
  if (plan->scratchBytes > kMostScratch)
    return taylor::refuse(kernel.emitError("unsupported on a processor: a kernel with "))
           << plan->scratchBytes << " bytes of tiles, where a thread may use " << kMostScratch
           << "; choose smaller axes or fewer channels";
  return plan;
}

const ScratchPlace *KernelPlan::placeOf(Value value, StringAttr lane, StringAttr pairs) const {
  auto it = places.find({value, lane, pairs});
  return it == places.end() ? nullptr : &it->second;
}

ArrayRef<Step> KernelPlan::stepsOf(Block *block) const {
  auto it = steps.find(block);
  return it == steps.end() ? ArrayRef<Step>() : ArrayRef<Step>(it->second);
}

bool KernelPlan::isNarrow(Value value) const {
  Operation *op = value.getDefiningOp();
  return target.prefersPairs() && vectorLanes == target.lanes(32) &&
         cast<TileType>(value.getType()).getElementType().isBF16() && isa_and_nonnull<LoadOp, MapOp>(op) &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           auto dot = dyn_cast<DotOp>(user);
           return dot && dot.getC() != value;
         });
}

bool KernelPlan::isReadOnce(Value value) const {
  auto load = value.getDefiningOp<LoadOp>();
  return load && llvm::all_of(value.getUsers(), [&](Operation *user) {
           auto dot = dyn_cast<DotOp>(user);
           return dot && (dot.getA() == value) != (dot.getB() == value) && dot.getC() != value &&
                  llvm::all_of(dot.getType().getAxes(), [&](const Axis &axis) {
                    return axis.getSize() == 1 || load.getType().hasAxis(axis.name);
                  });
         });
}

bool KernelPlan::isStreamed(Value value) const {
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || !load.getType().getElementType().isF32() || vectorLanes != target.lanes(32))
    return false;
  Type element = load.getArray().getType().getElementType();
  return (element.isBF16() || element.isF16()) && isReadOnce(value);
}

StringAttr KernelPlan::pairsOf(DotOp dot) const {
  StringAttr lane = laneOf(dot.getResult());
  if (!target.fastPairs || !lane || !isNarrow(dot.getA()) || !isNarrow(dot.getB()) || rowSumOf(dot))
    return {};
  // Pairs of the broadcast operand are free along its own lanes.
  auto over = llvm::to_vector(dot.getOver().getAsRange<StringAttr>());
  TileType a = dot.getA().getType();
  StringAttr pairs = laneOf(a.hasAxis(lane) ? dot.getB() : dot.getA());
  if (!llvm::is_contained(over, pairs))
    pairs = over.back();
  return a.getSize(pairs) % 2 == 0 ? pairs : StringAttr();
}

bool KernelPlan::mayReadInPlace(LoadOp load) const {
  ArrayType array = load.getArray().getType();
  StringAttr lane = laneOf(load.getResult());
  if (!lane || array.getElementType() != storedElement(load.getResult()) ||
      (array.getElementType() != load.getType().getElementType() && !isStreamed(load.getResult())) ||
      writtenArrays.contains(load.getArray()) || load.getType().getSize(lane) % wholeLanes())
    return false;
  auto window = getWindow(array, load.getType(), load.getArrayAxes(), load.getTileAxes(), load.getOffsets());
  if (window.back().tileAxis != lane)
    return false;
  // A slice of no whole vectors reads ones that end past it.
  return llvm::none_of(load->getUsers(), [&](Operation *user) {
    auto slice = dyn_cast<SliceOp>(user);
    return slice && slice.getType().getSize(lane) % wholeLanes();
  });
}

/// The axis of the tile along the array's last axis, if the tile has it.
template <typename Op> static StringAttr contiguousAxis(Op op) {
  auto window = getWindow(op.getArray().getType(), op.getTile().getType(), op.getArrayAxes(),
                          op.getTileAxes(), op.getOffsets());
  return window.empty() || window.back().tileAxis.empty()
             ? StringAttr()
             : StringAttr::get(op.getContext(), window.back().tileAxis);
}

LogicalResult KernelPlan::planBlock(Block &block) {
  std::vector<Step> &list = steps[&block];
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

void KernelPlan::requirePack(Copy copy) {
  bool isOwn = laneOf(copy.value) == copy.lane && !copy.pairs && !isInline(copy.value);
  if (isOwn || !packs.insert(copy).second)
    return;
  Step step{Step::Pack};
  step.pack = copy;
  steps[copy.value.getParentBlock()].push_back(std::move(step));
}

/// Whether a step reads or writes an array.
static bool touches(const Step &step, Value array) {
  auto same = [&](Operation *other) { return other && llvm::is_contained(other->getOperands(), array); };
  return step.kind == Step::Window ? same(step.op)
                                   : step.kind == Step::SweepStep && llvm::any_of(step.sweep->ops, same);
}

LogicalResult KernelPlan::planTileOp(Operation *op, std::vector<Step> &list, size_t segment, size_t &front) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<SplatOp, PositionOp>([&](auto inlineOp) {
        inlined.insert(inlineOp.getResult());
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
          inlined.insert(map.getResult(0));
        else if (map.getNumResults())
          planMap(map, list, segment);
        return success();
      })
      .Case([&](SliceOp slice) {
        joinSweep(op, slice.getType().getAxes(), laneOf(slice.getResult()), list, segment);
        return success();
      })
      .Case([&](ReduceOp reduce) {
        joinSweep(op, reduce.getInput().getType().getAxes(), laneOf(reduce.getInput()), list, segment);
        return success();
      })
      .Case<StoreOp, AccumulateOp>([&](auto write) -> LogicalResult {
        if (auto accumulate = dyn_cast<AccumulateOp>(op); accumulate && accumulate.getAtomic())
          return taylor::refuse(
              op->emitError("unsupported atomic additions on a CPU: lower with row-sums=parts or separate"));
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

void KernelPlan::planMap(MapOp map, std::vector<Step> &list, size_t segment) {
  StringAttr lane = laneOf(map.getResult(0));
  for (Value input : map.getInputs())
    requireLane(input, lane);
  joinSweep(map, cast<TileType>(map.getResult(0).getType()).getAxes(), lane, list, segment);
}

void KernelPlan::requireLane(Value tile, StringAttr lane) {
  auto type = cast<TileType>(tile.getType());
  StringAttr own = laneOf(tile);
  bool isOther = lane && own && own != lane && type.hasAxis(lane) && !isInline(tile) &&
                 type.getElementType().isIntOrFloat();
  auto isWhole = [&](StringAttr axis) { return type.getSize(axis) % wholeLanes() == 0; };
  if (isOther && type.getElementType().getIntOrFloatBitWidth() >= 16 && isWhole(own) && isWhole(lane))
    requirePack({tile, lane});
}

/// Whether the map's only use is as what a product of its block adds to.
bool KernelPlan::feedsAccumulators(MapOp map) const {
  if (map.getNumResults() != 1 || !map->hasOneUse())
    return false;
  auto dot = dyn_cast<DotOp>(*map->user_begin());
  return dot && !tileProductOf(dot) && dot.getC() == map.getResult(0) && dot.getA() != dot.getC() &&
         dot.getB() != dot.getC() && dot->getBlock() == map->getBlock();
}

bool KernelPlan::isProductMask(MapOp map) {
  return map.getNumResults() == 1 && !map->use_empty() && llvm::all_of(map->getUsers(), [&](Operation *user) {
           auto dot = dyn_cast<DotOp>(user);
           return dot && dot.getWhere() == map.getResult(0);
         });
}

void KernelPlan::planWrite(Operation *op, Value tile, Value array, StringAttr contiguous,
                           std::vector<Step> &list, size_t segment) {
  StringAttr lane = laneOf(tile);
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

void KernelPlan::planProduct(DotOp dot, std::vector<Step> &list) {
  StringAttr lane = laneOf(dot.getResult()), pairs = pairsOf(dot);
  if (std::optional<TileProduct> product = tileProductOf(dot)) {
    requirePack({product->a, product->pairs});
    requirePack({product->b, lane, product->pairs});
    if (dot.getC())
      requirePack({dot.getC(), lane});
    addSweep(dot, dot.getType().getAxes(), lane, list).dot = dot;
    return;
  }
  if (dot.getC())
    requireLane(dot.getC(), lane);
  bool isRowSum = bool(rowSumOf(dot));
  for (Value operand : {dot.getA(), dot.getB()}) {
    auto type = cast<TileType>(operand.getType());
    if (isRowSum)
      break;
    if (pairs && type.hasAxis(lane))
      requirePack({operand, lane, pairs});
    else if (pairs && laneOf(operand) != pairs)
      requirePack({operand, laneOf(operand), pairs});
    else if (lane && type.hasAxis(lane))
      requirePack({operand, lane});
    else if (isInline(operand))
      requirePack({operand, type.getAxes().front().name});
  }
  Sweep &sweep = addSweep(dot, dot.getType().getAxes(), lane, list);
  sweep.dot = dot;
  if (dot.getC() && isInline(dot.getC()) && dot.getC().getDefiningOp<MapOp>())
    sweepOf[dot.getC().getDefiningOp()] = &sweep;
}

void KernelPlan::planFeatures(Operation *op, std::vector<Step> &list) {
  StringAttr lane = laneOf(op->getResult(0));
  if (auto expand = dyn_cast<ExpandOp>(op); expand && expand.getType().getAxes().size() == 1)
    lane = expand.getAxisAttr(); // of one vector
  for (Value operand : op->getOperands())
    if (isa<TileType>(operand.getType()) && (isInline(operand) || laneOf(operand) != lane))
      requirePack({operand, lane});
  list.push_back({Step::Features, op});
}

Sweep &KernelPlan::addSweep(Operation *op, ArrayRef<Axis> axes, StringAttr lane, std::vector<Step> &list) {
  Step &step = list.emplace_back(Step{Step::SweepStep});
  step.sweep = std::make_unique<Sweep>();
  step.sweep->axes.assign(axes.begin(), axes.end());
  step.sweep->lane = lane;
  sweepOf[op] = step.sweep.get();
  return *step.sweep;
}

int64_t KernelPlan::weightOf(Operation *op) const {
  auto map = dyn_cast<MapOp>(op);
  if (!map)
    return 1;
  int64_t weight = 0;
  for (Operation &inner : map.getBlock()->without_terminator())
    weight += countInstructions(&inner, /*vectors=*/vectorLanes / target.lanes(64));
  return weight;
}

int64_t KernelPlan::weightOf(const Sweep &sweep) const {
  int64_t weight = 0;
  for (Operation *op : sweep.ops)
    weight += weightOf(op);
  return weight;
}

bool KernelPlan::hasRoom(const Sweep &sweep, Operation *op) const {
  // Sums and stores read registers; only maps may be long.
  if (!isa<MapOp>(op) || (sweep.ops.empty() && !sweep.dot))
    return true;
  int64_t vectors = sweep.dot ? target.accumulators : 1;
  return (weightOf(sweep) + weightOf(op)) * vectors <= kBlockWeight;
}

/// Adds the op to the earliest sweep at or after `segment` that has its elements and follows its operands'
/// definitions.
void KernelPlan::joinSweep(Operation *op, ArrayRef<Axis> axes, StringAttr lane, std::vector<Step> &list,
                           size_t segment) {
  auto sameAxes = [&](ArrayRef<Axis> other) {
    return other.size() == axes.size() &&
           llvm::all_of(axes, [&](const Axis &axis) { return llvm::is_contained(other, axis); });
  };
  // What a product on the matrix unit gives is in memory, not in registers.
  auto isClosed = [&](const Sweep &sweep) { return sweep.dot && tileProductOf(sweep.dot); };
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
          sweepOf.lookup(operand.getDefiningOp()) == step.sweep.get()) {
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
      sweepOf[op] = list[i].sweep.get();
      return;
    }
  addSweep(op, axes, lane, list).ops.push_back(op);
}

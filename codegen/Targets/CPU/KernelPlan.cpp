// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of a kernel, and the order in which it is decided.
#include "codegen/Targets/CPU/KernelPlan.h"
#include "codegen/Targets/Math/VectorMath.h"
#include "dialect/Refusal.h"

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
  plan->chooseTileProducts();
  if (failed(plan->planSweeps()))
    return failure();
  plan->moveTileProducts();
  plan->allocatePlaces();
  plan->findSkips();
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

StringAttr KernelPlan::longAxisOf(TileType tile) {
  StringAttr found;
  for (const Axis &axis : tile.getAxes())
    if (axis.getSize() > 1 && std::exchange(found, axis.name))
      return {};
  return found;
}

bool KernelPlan::mayBeRowSum(DotOp dot) const {
  if (dot.getC() || dot.getWhere() || dot.getOver().size() != 1)
    return false;
  auto over = cast<StringAttr>(dot.getOver()[0]);
  return laneOf(dot.getA()) == over && laneOf(dot.getB()) == over &&
         dot.getA().getType().getSize(over) % vectorLanes == 0;
}

StringAttr KernelPlan::rowSumOf(DotOp dot) const {
  StringAttr lane = longAxisOf(dot.getType());
  if (!lane || lane != laneOf(dot.getResult()) || !mayBeRowSum(dot) || isInline(dot.getA()) ||
      isInline(dot.getB()) || tileProductOf(dot))
    return {};
  return cast<StringAttr>(dot.getOver()[0]);
}

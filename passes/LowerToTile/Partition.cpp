// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Partition.h"
#include "dialect/Sources.h"
#include "passes/Debug.h"
#include "passes/LowerToTile/LoweringInterface.h"
#include "passes/LowerToTile/PairEmitter.h"
#include "passes/LowerToTile/PreparePairs.h"
#include "passes/LowerToTile/RootOrder.h"
#include "passes/LowerToTile/TokenBytes.h"

#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Carried.h"

#define DEBUG_TYPE "taylor-lower-to-tile"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

PairwiseOp Partition::columnPairs(Value value) {
  auto op = value.getDefiningOp<PairwiseOp>();
  return op && !PairEmitter::isRowsOnly(op) ? op : PairwiseOp();
}

bool Partition::isSummedApart(Value value) {
  auto steps = value.getDefiningOp<StepStatesOp>();
  return columnPairs(value) || (steps && llvm::is_contained(steps.getRows(), value));
}

PairOutput Partition::sumKind(Value value) {
  auto result = cast<OpResult>(value);
  return cast<PairwiseOp>(result.getOwner()).getSum(result.getResultNumber()).getKind();
}

bool Partition::isOptional(unsigned result) const {
  auto yield = cast<YieldOp>(FunctionOp(function).getBody().front().getTerminator());
  // A recurrence works in the memory of its states.
  if (yield.getValues()[result].getDefiningOp<StepStatesOp>())
    return false;
  StringRef name = cast<StringAttr>((*yield.getNames())[result]).getValue();
  return !name.consume_front("output:") || isCarried(name);
}

LogicalResult Partition::run() {
  if (failed(check()))
    return failure();
  widenPairSums(function);
  addDocumentEnds(function);
  if (!sizes.storesRowProducts)
    rowProducts = splitRowFactors(function);
  if (sizes.productType == ProductType::F32 && !sizes.readsOnce)
    convertKeys();
  chooseStored();
  do {
    roots.clear();
    kernels.clear();
    stages.clear();
    operationStages.clear();
    addRoots();
    placeRoots();
    delayRoots();
    for (KernelPlan &kernel : kernels)
      orderRoots(kernel.roots, stored);
    joinRows();
  } while (storeSharedRows() || storeCrowdedRows() || storeCrowdedColumns());
  propagateDemand();
  nameKernels();
  for (const KernelPlan &kernel : kernels)
    LDBG() << "kernel " << kernel.name << ": stage " << kernel.stage << ", " << kernel.roots.size()
           << " arrays, sums of " << kernel.rowPairs.size() << " operations over pairs into rows";
  for (Value value : stored)
    LDBG() << "in memory: " << value.getType() << " of " << value.getLoc();
  return success();
}

//===----------------------------------------------------------------------===//
// What computing a value reads, and when it can be computed
//===----------------------------------------------------------------------===//

void Partition::collectOperands(Operation *op, Leaves &leaves) {
  for (Value operand : op->getOperands())
    collect(operand, leaves, /*top=*/false);
}

void Partition::collect(Value value, Leaves &leaves, bool top) {
  if (isa<BlockArgument>(value))
    return;
  if ((stored.contains(value) && !top) || isSummedApart(value)) {
    leaves.values.insert(value);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!leaves.seen.insert(op).second)
    return;
  if (partials.contains(op)) {
    leaves.partials.insert(op);
    return;
  }
  auto lowering = cast<LoweringOpInterface>(op);
  leaves.loops |= lowering.readsElsewhere();
  if (std::optional<AngleTable> table = lowering.getAngles())
    leaves.angles = std::max(leaves.angles, stageOfAngles(*table));
  if (isa<PairwiseOp>(op))
    leaves.rowPairs.insert(op);
  for (Value operand : lowering.getTileOperands())
    collect(operand, leaves, /*top=*/false);
}

Partition::Leaves Partition::leavesOf(const Root &root) {
  Leaves leaves;
  if (root.partial)
    collectOperands(root.value.getDefiningOp(), leaves);
  else
    collect(root.value, leaves, /*top=*/true);
  return leaves;
}

int64_t Partition::stageOf(const Leaves &leaves) {
  int64_t stage = leaves.angles;
  for (Value value : leaves.values)
    stage = std::max(stage, stageOf(value));
  for (Operation *op : leaves.partials)
    stage = std::max(stage, stageOfPartial(op));
  return stage;
}

int64_t Partition::stageOfOperands(Operation *op) {
  if (auto it = operationStages.find(op); it != operationStages.end())
    return it->second;
  Leaves leaves;
  collectOperands(op, leaves);
  return operationStages[op] = 1 + stageOf(leaves);
}

int64_t Partition::stageOfPairs(PairwiseOp op) { return stageOfOperands(op); }

int64_t Partition::stageOfPartial(Operation *op) { return stageOfOperands(op); }

int64_t Partition::stageOfAngles(const AngleTable &table) {
  return table.positions && stored.contains(table.positions) ? 1 + stageOf(table.positions) : 0;
}

int64_t Partition::stageOf(Value value) {
  if (isSummedApart(value))
    return stageOfOperands(value.getDefiningOp());
  if (auto it = stages.find(value); it != stages.end())
    return it->second;
  Leaves leaves;
  collect(value, leaves, /*top=*/true);
  PairwiseOp pairs = fusedInto(value, leaves);
  int64_t stage = pairs ? stageOfPairs(pairs) : 1 + stageOf(leaves);
  return stages[value] = stage;
}

PairwiseOp Partition::fusedInto(Value value, const Leaves &leaves) {
  if (leaves.loops || !leaves.partials.empty() || !leaves.rowPairs.empty() ||
      !typeOf(value).has(AxisRole::Key))
    return {};
  PairwiseOp pairs;
  for (Value leaf : leaves.values) {
    PairwiseOp op = columnPairs(leaf);
    if (!op)
      continue;
    if ((pairs && pairs != op) || sumKind(leaf) != PairOutput::Columns || finishedElsewhere.contains(leaf))
      return {};
    for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead})
      if (typeOf(leaf).has(axis) != typeOf(value).has(axis))
        return {};
    pairs = op;
  }
  if (!pairs)
    return {};
  int64_t stage = stageOfPairs(pairs);
  for (Value leaf : leaves.values)
    if (!columnPairs(leaf) && stageOf(leaf) >= stage)
      return {};
  if (!fitsBlock(value, PairEmitter::columnTile(pairs, sizes).keys))
    return {};
  return leaves.angles >= stage ? PairwiseOp() : pairs;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void Partition::addRoots() {
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    auto root = llvm::find_if(roots, [&](const Root &root) { return root.value == value; });
    if (root == roots.end()) {
      roots.emplace_back().value = value;
      root = std::prev(roots.end());
    }
    root->results.push_back(index);
  }
  for (Value value : stored) {
    if (isSummedApart(value))
      continue;
    auto root = llvm::find_if(roots, [&](const Root &root) { return root.value == value; });
    if (root == roots.end()) {
      roots.emplace_back().value = value;
      root = std::prev(roots.end());
    }
    root->workspace = true;
  }
  for (Operation *op : partials) {
    Root root;
    root.value = op->getResult(0);
    root.partial = root.workspace = true;
    roots.push_back(root);
  }
}

KernelPlan &Partition::kernelFor(KernelPlan::Kind kind, int64_t stage, ArrayRef<AxisRef> axes, Operation *op,
                                 ChannelAxis channels) {
  for (KernelPlan &kernel : kernels)
    if (kernel.kind == kind && kernel.stage == stage && ArrayRef(kernel.axes) == axes && kernel.op == op &&
        kernel.channels == channels)
      return kernel;
  KernelPlan &kernel = kernels.emplace_back();
  kernel.kind = kind;
  kernel.stage = stage;
  kernel.axes.assign(axes.begin(), axes.end());
  kernel.op = op;
  kernel.channels = channels;
  return kernel;
}

/// More than heads or learned features on GPUs have: a block of so many would be most of a kernel's code.
static constexpr int64_t kLongChannels = 256;

ChannelAxis Partition::longAxisOf(const Root &root) {
  ArrayType type = typeOf(root.value);
  if (root.partial || !tokenAxis(type).empty())
    return {};
  // Formulas of what lies in memory, element by element.
  bool isFormula = true;
  walkSources(root.value, [&](Value value) {
    if (isa<BlockArgument>(value) || (value != root.value && stored.contains(value)))
      return false;
    isFormula = isFormula && value.getDefiningOp<MapOp>();
    return isFormula;
  });
  if (!isFormula)
    return {};
  ChannelAxis longest;
  for (auto [name, size] : llvm::zip(type.getAxes(), type.getSizes()))
    if (!isRuntimeAxis(name) && size > std::max(longest.size, kLongChannels))
      longest = {name.getValue(), size};
  return longest;
}

SmallVector<AxisRef> taylor::gridAxes(ArrayRef<Value> arrays, Operation *op) {
  SmallVector<AxisRef> present, axes;
  for (Value array : arrays)
    for (StringAttr name : typeOf(array).getAxes())
      present.push_back(name.getValue());
  if (op)
    op->walk([&](IndexOp index) { present.push_back(index.getAxis()); });
  for (AxisRef axis :
       {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead, AxisRole::Query, AxisRole::Key, AxisRole::Lag})
    if (llvm::is_contained(present, axis) &&
        !(axis == AxisRole::KeyHead && llvm::is_contained(present, AxisRole::Head)))
      axes.push_back(axis);
  return axes;
}

void Partition::placeRoots() {
  for (const AngleTable &table : angles) {
    KernelPlan &kernel = kernels.emplace_back();
    kernel.kind = KernelPlan::Kind::Angles;
    kernel.stage = stageOfAngles(table);
    kernel.axes = table.axes();
    kernel.angles.emplace(table);
  }
  for (Operation &op : function.getBody().front())
    if (auto pairs = dyn_cast<PairwiseOp>(op); pairs && !PairEmitter::isRowsOnly(pairs)) {
      // Groups where some array has them, so that their sums stay in one block; else heads.
      SmallVector<Value> arrays(pairs.getArrays());
      arrays.append(pairs.getResults().begin(), pairs.getResults().end());
      bool groups = llvm::any_of(arrays, [](Value array) { return typeOf(array).has(AxisRole::KeyHead); });
      SmallVector<AxisRef> axes = gridAxes(arrays);
      for (AxisRef &axis : axes)
        if (axis == AxisRole::Head && groups && !PairEmitter::hasDiagonalsOnGrid(pairs, sizes))
          axis = AxisRole::KeyHead;
      llvm::erase_if(axes, isTokenAxis);
      kernelFor(KernelPlan::Kind::Pairs, stageOfPairs(pairs), axes, pairs);
    }
  for (Root &root : roots) {
    Operation *op = root.value.getDefiningOp();
    auto lowering = dyn_cast_or_null<LoweringOpInterface>(op);
    if (std::optional<AxisRef> walk = lowering ? lowering.getWalk() : std::nullopt) {
      root.stage = stageOf(root.value);
      SmallVector<AxisRef> axes = gridAxes(root.value);
      llvm::erase(axes, *walk);
      kernelFor(KernelPlan::Kind::Scan, root.stage, axes, op).roots.push_back(root);
      continue;
    }
    bool isSteps = isa_and_nonnull<StepStatesOp>(op) && !isSummedApart(root.value);
    if (isSteps || isa_and_nonnull<StatesOp>(op)) {
      root.stage = stageOf(root.value);
      SmallVector<AxisRef> axes = gridAxes(root.value);
      llvm::erase_if(axes, isTokenAxis);
      auto kind = isSteps ? KernelPlan::Kind::Steps : KernelPlan::Kind::States;
      kernelFor(kind, root.stage, axes, op).roots.push_back(root);
      continue;
    }
    Leaves leaves = leavesOf(root);
    PairwiseOp pairs = root.partial ? PairwiseOp() : fusedInto(root.value, leaves);
    if (pairs) {
      root.stage = stageOfPairs(pairs);
      for (KernelPlan &kernel : kernels)
        if (kernel.op == pairs)
          kernel.roots.push_back(root);
      continue;
    }
    root.stage = root.partial ? stageOfPartial(op) : 1 + stageOf(leaves);
    // What was not fused is read from memory.
    for (Value leaf : leaves.values)
      stored.insert(leaf);
    SmallVector<AxisRef> axes =
        root.partial ? gridAxes(llvm::to_vector(cast<ReduceOp>(op).getArrays()), op) : gridAxes(root.value);
    kernelFor(KernelPlan::Kind::Local, root.stage, axes, nullptr, longAxisOf(root)).roots.push_back(root);
  }
  // So is what other pairs and scans read.
  for (KernelPlan &kernel : kernels)
    if (kernel.op) {
      Leaves leaves;
      collectOperands(kernel.op, leaves);
      for (Value leaf : leaves.values)
        stored.insert(leaf);
    }
}

void Partition::delayRoots() {
  // Fewer kernels: what is ready early waits for a later kernel over the same axes, if nobody reads it
  // before.
  DenseMap<Value, int64_t> firstRead;
  DenseMap<Operation *, int64_t> firstPartialRead;
  auto note = [&](const Leaves &leaves, int64_t stage) {
    for (Value value : leaves.values) {
      auto [it, fresh] = firstRead.try_emplace(value, stage);
      it->second = std::min(it->second, stage);
    }
    for (Operation *op : leaves.partials) {
      auto [it, fresh] = firstPartialRead.try_emplace(op, stage);
      it->second = std::min(it->second, stage);
    }
  };
  for (KernelPlan &kernel : kernels) {
    for (Root &root : kernel.roots)
      note(leavesOf(root), kernel.stage);
    if (kernel.angles && kernel.angles->positions)
      firstRead.try_emplace(kernel.angles->positions, kernel.stage);
    if (kernel.op) {
      Leaves leaves;
      collectOperands(kernel.op, leaves);
      note(leaves, kernel.stage);
    }
  }
  for (KernelPlan &early : kernels) {
    if (early.kind != KernelPlan::Kind::Local)
      continue;
    int64_t latest = std::numeric_limits<int64_t>::max();
    for (Root &root : early.roots) {
      if (root.partial) {
        if (auto it = firstPartialRead.find(root.value.getDefiningOp()); it != firstPartialRead.end())
          latest = std::min(latest, it->second - 1);
      } else if (auto it = firstRead.find(root.value); it != firstRead.end()) {
        latest = std::min(latest, it->second - 1);
      }
    }
    for (KernelPlan &late : kernels)
      if (late.kind == KernelPlan::Kind::Local && late.axes == early.axes &&
          late.channels == early.channels && late.stage > early.stage && late.stage <= latest &&
          !early.roots.empty()) {
        late.roots.insert(late.roots.end(), early.roots.begin(), early.roots.end());
        early.roots.clear();
      }
  }
  llvm::erase_if(kernels, [](const KernelPlan &kernel) {
    return kernel.kind == KernelPlan::Kind::Local && kernel.roots.empty();
  });
}

bool Partition::canJoin(const KernelPlan &early, const KernelPlan &late) {
  if (early.kind != KernelPlan::Kind::Local || early.axes != late.axes || early.channels != late.channels ||
      early.stage >= late.stage || early.roots.empty())
    return false;
  llvm::SmallPtrSet<Value, 8> values;
  int64_t queries = std::numeric_limits<int64_t>::max();
  for (const Root &root : late.roots)
    for (Operation *op : leavesOf(root).rowPairs)
      queries = std::min(queries, PairEmitter::rowTile(cast<PairwiseOp>(op), sizes).queries);
  for (const Root &root : early.roots) {
    if (root.partial || !leavesOf(root).rowPairs.empty() || !fitsBlock(root.value, queries))
      return false;
    values.insert(root.value);
  }
  auto reads = [&](const Leaves &leaves) {
    return llvm::any_of(leaves.values, [&](Value value) { return values.contains(value); });
  };
  bool isRead = false;
  for (const KernelPlan &kernel : kernels) {
    Leaves ofOp;
    if (kernel.op)
      collectOperands(kernel.op, ofOp);
    bool readsAny = reads(ofOp) || (kernel.angles && values.contains(kernel.angles->positions)) ||
                    llvm::any_of(kernel.roots, [&](const Root &root) { return reads(leavesOf(root)); });
    if (&kernel == &late)
      isRead = readsAny;
    // At one stage, kernels that are local to tokens come first.
    bool comesLater =
        kernel.stage > late.stage || (kernel.stage == late.stage && kernel.kind > KernelPlan::Kind::Local);
    if (readsAny && &kernel != &late && !comesLater)
      return false;
  }
  return isRead;
}

void Partition::joinRows() {
  // Operands of two numbers leave no registers for it.
  if (!sizes.joinsKernels || sizes.splitProducts)
    return;
  for (KernelPlan &late : kernels) {
    auto loops = [&](const Root &root) { return !leavesOf(root).rowPairs.empty(); };
    if (late.kind != KernelPlan::Kind::Local || llvm::none_of(late.roots, loops) ||
        llvm::any_of(late.roots, [](const Root &root) { return root.partial; }))
      continue;
    for (KernelPlan &early : kernels)
      if (canJoin(early, late)) {
        late.roots.insert(late.roots.begin(), early.roots.begin(), early.roots.end());
        early.roots.clear();
      }
  }
  llvm::erase_if(kernels, [](const KernelPlan &kernel) {
    return kernel.kind == KernelPlan::Kind::Local && kernel.roots.empty();
  });
}

//===----------------------------------------------------------------------===//
// Demand and names
//===----------------------------------------------------------------------===//

void Partition::propagateDemand() {
  for (auto [index, kernel] : llvm::enumerate(kernels))
    kernel.number = index;
  llvm::sort(kernels, [](const KernelPlan &a, const KernelPlan &b) {
    return std::tuple(a.stage, int(a.kind), a.number) < std::tuple(b.stage, int(b.kind), b.number);
  });
  DenseMap<Operation *, Demand> ofPartials;
  auto ask = [&](const Leaves &leaves, const Demand &demand) {
    for (Value value : leaves.values)
      demands[value].join(demand);
    for (Operation *op : leaves.partials)
      ofPartials[op].join(demand);
  };
  for (KernelPlan &kernel : llvm::reverse(kernels)) {
    Demand all;
    for (Root &root :
         llvm::reverse(kernel.roots)) { // those that others of the kernel are computed from come first
      root.demand = root.partial ? ofPartials.lookup(root.value.getDefiningOp()) : demands.lookup(root.value);
      if (!root.partial && columnPairs(root.value))
        root.demand = {};
      for (unsigned result : root.results) {
        root.demand.always |= !isOptional(result);
        root.demand.results.insert(result);
      }
      ask(leavesOf(root), root.demand);
      all.join(root.demand);
    }
    if (kernel.angles && kernel.angles->positions)
      demands[kernel.angles->positions].always = true;
    if (!kernel.op)
      continue;
    if (auto pairs = dyn_cast<PairwiseOp>(kernel.op))
      for (Value result : pairs.getResults())
        all.join(demands[result]);
    Leaves leaves;
    collectOperands(kernel.op, leaves);
    ask(leaves, all);
  }
}

Demand Partition::demandOfRows(const KernelPlan &kernel, Operation *pairs) {
  Demand demand;
  for (const Root &root : kernel.roots)
    if (leavesOf(root).rowPairs.contains(pairs))
      demand.join(root.demand);
  return demand;
}

void Partition::nameKernels() {
  llvm::StringMap<int> used;
  int64_t firstPairs = std::numeric_limits<int64_t>::max();
  for (const KernelPlan &kernel : kernels)
    if (kernel.kind == KernelPlan::Kind::Pairs)
      firstPairs = std::min(firstPairs, kernel.stage);
  for (KernelPlan &kernel : kernels) {
    std::string name;
    switch (kernel.kind) {
    case KernelPlan::Kind::Angles:
      name = "angles_" + kernel.angles->token.str();
      break;
    case KernelPlan::Kind::Scan:
      name = "scan";
      break;
    case KernelPlan::Kind::States:
      name = "states";
      break;
    case KernelPlan::Kind::Steps:
      name = "steps";
      break;
    case KernelPlan::Kind::Pairs:
      name = PairEmitter::hasDiagonalsOnGrid(cast<PairwiseOp>(kernel.op), sizes) ? "diagonals" : "pairs";
      break;
    case KernelPlan::Kind::Local: {
      for (const Root &root : kernel.roots) {
        Leaves leaves = leavesOf(root);
        kernel.rowPairs.insert(leaves.rowPairs.begin(), leaves.rowPairs.end());
      }
      auto token = llvm::find_if(kernel.axes, isTokenAxis);
      if (!kernel.rowPairs.empty())
        name = "attend";
      else if (token == kernel.axes.end())
        name = "combine";
      else
        name =
            std::string(kernel.stage > firstPairs ? "finish_" : "") + (*token == AxisRole::Query ? "rows"
                                                                       : *token == AxisRole::Key ? "columns"
                                                                                                 : "lags");
    }
    }
    int count = used[name]++;
    kernel.name = count ? name + "_" + std::to_string(count + 1) : name;
  }
}

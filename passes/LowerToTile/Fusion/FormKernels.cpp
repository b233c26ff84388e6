// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel for each value that has memory or is a result; those of one stage and grid share one.
// FusionPasses.td has the rule.
#include "passes/Debug.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"
#include "passes/LowerToTile/Passes.h"

#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

#define DEBUG_TYPE "taylor-form-kernels"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_FORMKERNELSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {

using fusion::KernelKind;
using fusion::KernelOp;

/// A value that a kernel computes and stores.
struct Root {
  Value value;
  /// Not the value but its sums over blocks of tokens.
  bool parts = false;
  bool workspace = false;
  SmallVector<StringRef> names; // results of the function that it is
};

/// A channel axis, or none where the name is empty.
struct ChannelAxis {
  StringRef name;
  int64_t size = 0;
};

class KernelFormer {
public:
  explicit KernelFormer(FunctionOp function)
      : function(function), kept(function), builder(function.getBody().front().getTerminator()) {}

  /// Returns how many kernels there are.
  int64_t run();

private:
  void addRoots();
  void addAngles();
  void addPairs();
  void place(const Root &root);

  KernelOp addKernel(KernelKind kind, int64_t stage, ArrayRef<AxisRef> axes, Location loc);
  /// The kernel that is local to tokens, over this grid; made where there is none.
  KernelOp localKernel(int64_t stage, ArrayRef<AxisRef> axes, ChannelAxis channels, Location loc);
  /// The kernel of an operation of its own, with all of its results.
  KernelOp kernelOf(Operation *op, KernelKind kind, int64_t stage, ArrayRef<AxisRef> axes);
  void store(const Root &root, KernelOp kernel);

  // Stages, one more than the last stage of what is read
  int64_t lastStage(const Reads &reads);
  int64_t stageOf(Value value);
  int64_t stageOfOperands(Operation *op);
  int64_t stageOfAngles(const AngleTable &table);
  /// The operation with columns into whose kernel a value fits, or null.
  PairwiseOp fusedInto(Value value, const Reads &reads);
  /// The longest channel axis along which blocks can compute a root by themselves, where it is long.
  ChannelAxis longAxisOf(const Root &root);

  FunctionOp function;
  FunctionMemory kept;
  OpBuilder builder;
  std::vector<Root> roots;
  SmallVector<KernelOp> kernels;
  DenseMap<Value, int64_t> stages;
  DenseMap<Operation *, int64_t> operationStages;
};

//===----------------------------------------------------------------------===//
// When a value can be computed
//===----------------------------------------------------------------------===//

int64_t KernelFormer::lastStage(const Reads &reads) {
  int64_t stage = -1;
  for (const AngleTable &table : reads.tables)
    stage = std::max(stage, stageOfAngles(table));
  for (Value value : reads.values)
    stage = std::max(stage, stageOf(value));
  for (Operation *op : reads.parts)
    stage = std::max(stage, stageOfOperands(op));
  return stage;
}

int64_t KernelFormer::stageOfOperands(Operation *op) {
  if (auto it = operationStages.find(op); it != operationStages.end())
    return it->second;
  int64_t stage = 1 + lastStage(kept.readsOfOperands(op));
  return operationStages[op] = stage;
}

int64_t KernelFormer::stageOfAngles(const AngleTable &table) {
  return table.positions && kept.contains(table.positions) ? 1 + stageOf(table.positions) : 0;
}

int64_t KernelFormer::stageOf(Value value) {
  if (isSummedApart(value))
    return stageOfOperands(value.getDefiningOp());
  if (auto it = stages.find(value); it != stages.end())
    return it->second;
  Reads reads = kept.readsOf(value);
  PairwiseOp pairs = fusedInto(value, reads);
  int64_t stage = pairs ? stageOfOperands(pairs) : 1 + lastStage(reads);
  return stages[value] = stage;
}

PairwiseOp KernelFormer::fusedInto(Value value, const Reads &reads) {
  if (reads.elsewhere || !reads.parts.empty() || !reads.rowPairs.empty() ||
      !arrayTypeOf(value).has(AxisRole::Key))
    return {};
  PairwiseOp pairs;
  for (Value read : reads.values) {
    PairwiseOp op = columnPairs(read);
    if (!op)
      continue;
    PairOutput kind = op.getSum(cast<OpResult>(read).getResultNumber()).getKind();
    if ((pairs && pairs != op) || kind != PairOutput::Columns || kept.isApart(read))
      return {};
    for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead})
      if (arrayTypeOf(read).has(axis) != arrayTypeOf(value).has(axis))
        return {};
    pairs = op;
  }
  if (!pairs)
    return {};
  int64_t stage = stageOfOperands(pairs);
  for (Value read : reads.values)
    if (!columnPairs(read) && stageOf(read) >= stage)
      return {};
  if (!kept.fitsBlock(value, columnTile(pairs, kept.getSizes()).keys))
    return {};
  auto isLate = [&](const AngleTable &table) { return stageOfAngles(table) >= stage; };
  return llvm::any_of(reads.tables, isLate) ? PairwiseOp() : pairs;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

/// More than heads or learned features on GPUs have: a block of so many would be most of a kernel's code.
constexpr int64_t kLongChannels = 256;

ChannelAxis KernelFormer::longAxisOf(const Root &root) {
  ArrayType type = arrayTypeOf(root.value);
  if (root.parts || !tokenAxis(type).empty())
    return {};
  // Formulas of what lies in memory, element by element.
  bool isFormula = true;
  walkSources(root.value, [&](Value value) {
    if (isa<BlockArgument>(value) || (value != root.value && kept.contains(value)))
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

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

KernelOp KernelFormer::addKernel(KernelKind kind, int64_t stage, ArrayRef<AxisRef> axes, Location loc) {
  return kernels.emplace_back(KernelOp::create(builder, loc, kind, stage, axes));
}

KernelOp KernelFormer::localKernel(int64_t stage, ArrayRef<AxisRef> axes, ChannelAxis channels,
                                   Location loc) {
  ArrayAttr grid = axesAttr(builder, axes);
  StringAttr name = channels.size ? builder.getStringAttr(channels.name) : StringAttr();
  IntegerAttr size = channels.size ? builder.getI64IntegerAttr(channels.size) : IntegerAttr();
  for (KernelOp kernel : kernels)
    if (kernel.isLocal() && int64_t(kernel.getStage()) == stage && kernel.getGridAttr() == grid &&
        kernel.getChannelsAttr() == name && kernel.getChannelsSizeAttr() == size)
      return kernel;
  KernelOp kernel = addKernel(KernelKind::Local, stage, axes, loc);
  kernel.setChannelsAttr(name);
  kernel.setChannelsSizeAttr(size);
  return kernel;
}

KernelOp KernelFormer::kernelOf(Operation *op, KernelKind kind, int64_t stage, ArrayRef<AxisRef> axes) {
  ArrayAttr grid = axesAttr(builder, axes);
  for (KernelOp kernel : kernels)
    if (kernel.getKind() == kind && kernel.getPlanned() == op && kernel.getGridAttr() == grid)
      return kernel;
  return addKernel(kind, stage, axes, op->getLoc());
}

void KernelFormer::store(const Root &root, KernelOp kernel) {
  OpBuilder inside = OpBuilder::atBlockEnd(kernel.getBlock());
  ArrayAttr names = root.names.empty() ? ArrayAttr() : builder.getStrArrayAttr(root.names);
  fusion::StoreOp::create(inside, root.value.getLoc(), root.value, root.parts, root.workspace, names);
}

void KernelFormer::addRoots() {
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  auto rootOf = [&](Value value) -> Root & {
    auto root = llvm::find_if(roots, [&](const Root &root) { return root.value == value; });
    if (root != roots.end())
      return *root;
    roots.emplace_back().value = value;
    return roots.back();
  };
  for (auto [value, name] : llvm::zip(yield.getValues(), *yield.getNames()))
    rootOf(value).names.push_back(cast<StringAttr>(name));
  for (Value value : kept.getValues())
    if (!isSummedApart(value))
      rootOf(value).workspace = true;
  for (Operation *op : kept.getParts())
    roots.push_back({op->getResult(0), /*parts=*/true, /*workspace=*/true, /*names=*/{}});
}

void KernelFormer::addAngles() {
  SmallVector<AngleTable> tables;
  for (auto op : function.getBody().getOps<LoweringOpInterface>()) {
    std::optional<AngleTable> table = op.getAngles();
    if (!table || llvm::is_contained(tables, *table))
      continue;
    tables.push_back(*table);
    KernelOp kernel = addKernel(KernelKind::Angles, stageOfAngles(*table), table->axes(), op->getLoc());
    OpBuilder inside = OpBuilder::atBlockEnd(kernel.getBlock());
    fusion::TableOp::create(inside, op->getLoc(), op->getResult(0),
                            "rotations of the same positions and frequencies read it");
  }
}

void KernelFormer::addPairs() {
  for (auto pairs : function.getBody().getOps<PairwiseOp>()) {
    if (isRowsOnly(pairs))
      continue;
    // Groups where some array has them, so that their sums stay in one block; else heads.
    SmallVector<Value> arrays(pairs.getArrays());
    arrays.append(pairs.getResults().begin(), pairs.getResults().end());
    bool groups = llvm::any_of(arrays, [](Value array) { return arrayTypeOf(array).has(AxisRole::KeyHead); });
    SmallVector<AxisRef> axes = gridAxes(arrays);
    for (AxisRef &axis : axes)
      if (axis == AxisRole::Head && groups && !hasDiagonalsOnGrid(pairs, kept.getSizes()))
        axis = AxisRole::KeyHead;
    llvm::erase_if(axes, isTokenAxis);
    KernelOp kernel = addKernel(KernelKind::Pairs, stageOfOperands(pairs), axes, pairs.getLoc());
    OpBuilder inside = OpBuilder::atBlockEnd(kernel.getBlock());
    for (Value result : pairs.getResults())
      fusion::SumOp::create(inside, pairs.getLoc(), result, ArrayAttr());
  }
}

void KernelFormer::place(const Root &root) {
  Operation *op = root.value.getDefiningOp();
  auto lowering = dyn_cast_or_null<LoweringOpInterface>(op);
  if (std::optional<AxisRef> walk = lowering ? lowering.getWalk() : std::nullopt) {
    SmallVector<AxisRef> axes = gridAxes(root.value);
    llvm::erase(axes, *walk);
    return store(root, kernelOf(op, KernelKind::Scan, stageOf(root.value), axes));
  }
  bool isSteps = isa_and_nonnull<StepStatesOp>(op) && !isSummedApart(root.value);
  if (isSteps || isa_and_nonnull<StatesOp>(op)) {
    SmallVector<AxisRef> axes = gridAxes(root.value);
    llvm::erase_if(axes, isTokenAxis);
    KernelKind kind = isSteps ? KernelKind::Steps : KernelKind::States;
    KernelOp kernel = kernelOf(op, kind, stageOf(root.value), axes);
    if (isSteps)
      kernel.setBecause("a recurrence sums it up panel after panel");
    return store(root, kernel);
  }
  Reads reads = root.parts ? kept.readsOfOperands(op) : kept.readsOf(root.value);
  if (PairwiseOp pairs = root.parts ? PairwiseOp() : fusedInto(root.value, reads)) {
    for (KernelOp kernel : kernels)
      if (kernel.getKind() == KernelKind::Pairs && kernel.getPlanned() == pairs)
        store(root, kernel);
    return;
  }
  int64_t stage = root.parts ? stageOfOperands(op) : 1 + lastStage(reads);
  // What was not fused is read from memory.
  for (Value value : reads.values)
    kept.keep(value, "a later kernel reads it");
  SmallVector<AxisRef> axes =
      root.parts ? gridAxes(llvm::to_vector(cast<ReduceOp>(op).getArrays()), op) : gridAxes(root.value);
  store(root, localKernel(stage, axes, longAxisOf(root), root.value.getLoc()));
}

int64_t KernelFormer::run() {
  addRoots();
  addAngles();
  addPairs();
  for (const Root &root : roots)
    place(root);
  // What other pairs and scans read is in memory too.
  for (KernelOp kernel : kernels)
    for (Value value : kept.readsOfPlanned(kernel).values)
      kept.keep(value, "a later kernel reads it");
  kept.write();
  return kernels.size();
}

struct FormKernels : taylor::impl::FormKernelsPassBase<FormKernels> {
  void getDependentDialects(DialectRegistry &registry) const override {
    FormKernelsPassBase::getDependentDialects(registry);
    registerLowering(registry);
  }
  void runOnOperation() override {
    fusion::eraseKernels(getOperation());
    numFormed += KernelFormer(getOperation()).run();
    for (fusion::KernelOp kernel : fusion::getKernels(getOperation()))
      LDBG() << stringifyKernelKind(kernel.getKind()) << " kernel: stage " << kernel.getStage() << ", "
             << kernel.getStores().size() << " arrays";
  }
};

} // namespace

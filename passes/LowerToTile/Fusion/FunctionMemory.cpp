// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Fusion/FunctionMemory.h"

#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/Carried.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/Algebra/ScalarRanges.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"

using namespace mlir;
using namespace taylor;

FunctionMemory::FunctionMemory(FunctionOp function)
    : function(function), sizes(tile::getTileSizes(function)) {
  for (fusion::KeepOp keep : fusion::getKept(function)) {
    if (keep.getParts())
      parts.insert(keep.getValue().getDefiningOp());
    else
      values.insert(keep.getValue());
    if (keep.getApart())
      apart.insert(keep.getValue());
  }
}

StringAttr FunctionMemory::getReason(Value value, bool ofParts) const {
  for (fusion::KeepOp keep : fusion::getKept(function))
    if (keep.getValue() == value && keep.getParts() == ofParts)
      return keep.getBecauseAttr();
  return {};
}

//===----------------------------------------------------------------------===//
// Keeping more
//===----------------------------------------------------------------------===//

bool FunctionMemory::keep(Value value, StringRef because) {
  if (isa<BlockArgument>(value) || !values.insert(value))
    return false;
  newValues.try_emplace(value, because.str());
  return true;
}

void FunctionMemory::keepSummed(Value vectors) {
  if (!isFinitePastEnd(vectors))
    keep(vectors, "past the last token it may be no number");
}

void FunctionMemory::keepParts(ReduceOp op) {
  if (parts.insert(op))
    newParts.push_back(op);
}

bool FunctionMemory::keepApart(Value sum, StringRef because) {
  keep(sum, because);
  if (!apart.insert(sum).second)
    return false;
  newApart.try_emplace(sum, because.str());
  return true;
}

int64_t FunctionMemory::write() {
  Block &body = function.getBody().front();
  SmallVector<fusion::KernelOp> kernels = fusion::getKernels(function);
  OpBuilder builder(kernels.empty() ? body.getTerminator() : kernels.front().getOperation());
  auto add = [&](Value value, bool isParts, StringRef because) {
    return fusion::KeepOp::create(builder, value.getLoc(), value, isParts, /*apart=*/false, because);
  };
  for (auto &[value, because] : newValues)
    add(value, /*isParts=*/false, because);
  for (ReduceOp op : newParts)
    add(op.getResult(), /*isParts=*/true, "each block of tokens has a sum of its own");
  for (auto &[sum, because] : newApart)
    for (fusion::KeepOp keep : fusion::getKept(function))
      if (keep.getValue() == sum && !keep.getParts()) {
        keep.setApart(true);
        keep.setBecause(because);
      }
  int64_t count = newValues.size() + newParts.size();
  newValues.clear();
  newParts.clear();
  newApart.clear();
  return count;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool FunctionMemory::isFinitePastEnd(Value array) const {
  return isFiniteOfZeros(array, [&](Value value) {
    return values.contains(value) || (isa<BlockArgument>(value) && !tokenAxis(arrayTypeOf(value)).empty());
  });
}

bool FunctionMemory::readsSums(Value value) const {
  bool readsSum = false;
  walkSources(value, [&](Value source) {
    bool isComputed = source.getDefiningOp() && !values.contains(source);
    readsSum =
        readsSum || (isComputed && isa<PairwiseOp, ReadStatesOp, ContractStatesOp>(source.getDefiningOp()));
    return isComputed && !readsSum;
  });
  return readsSum;
}

bool FunctionMemory::fitsBlock(Value value, int64_t tokens, int64_t waiting) const {
  if (sizes.productBytes && countProductBytes(value, values, tokens) > sizes.productBytes)
    return false;
  return !sizes.blockBytes || (countTokenBytes(value, values) + waiting) * tokens <= sizes.blockBytes;
}

PairwiseOp taylor::columnPairs(Value value) {
  auto op = value.getDefiningOp<PairwiseOp>();
  return op && !isRowsOnly(op) ? op : PairwiseOp();
}

bool taylor::isSummedApart(Value value) {
  auto steps = value.getDefiningOp<StepStatesOp>();
  return columnPairs(value) || (steps && llvm::is_contained(steps.getRows(), value));
}

Value taylor::positionsOf(fusion::KernelOp kernel) {
  Value rotated = kernel.getRotated();
  return rotated ? cast<LoweringOpInterface>(rotated.getDefiningOp()).getAngles()->positions : Value();
}

bool taylor::isOptional(FunctionOp function, unsigned result) {
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  // A recurrence works in the memory of its states.
  if (yield.getValues()[result].getDefiningOp<StepStatesOp>())
    return false;
  StringRef name = cast<StringAttr>((*yield.getNames())[result]).getValue();
  return !name.consume_front("output:") || isCarried(name);
}

SmallVector<AxisRef> taylor::gridAxes(ArrayRef<Value> arrays, Operation *op) {
  SmallVector<AxisRef> present, axes;
  for (Value array : arrays)
    for (StringAttr name : arrayTypeOf(array).getAxes())
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

bool taylor::keepResults(FunctionMemory &kept, Operation *op, StringRef because) {
  bool any = false;
  for (Value result : op->getResults())
    if (!result.use_empty())
      any |= kept.keep(result, because);
  return any;
}

//===----------------------------------------------------------------------===//
// What computing a value reads
//===----------------------------------------------------------------------===//

void FunctionMemory::collect(Value value, Reads &reads, llvm::SmallPtrSetImpl<Operation *> &seen,
                             bool anew) const {
  if (isa<BlockArgument>(value))
    return;
  if ((values.contains(value) && !anew) || isSummedApart(value)) {
    reads.values.insert(value);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!seen.insert(op).second) // values share operands
    return;
  if (parts.contains(op)) {
    reads.parts.insert(op);
    return;
  }
  auto lowering = cast<LoweringOpInterface>(op);
  reads.elsewhere |= lowering.readsElsewhere();
  if (std::optional<AngleTable> table = lowering.getAngles();
      table && !llvm::is_contained(reads.tables, *table))
    reads.tables.push_back(*table);
  if (isa<PairwiseOp>(op))
    reads.rowPairs.insert(op);
  for (Value operand : lowering.getTileOperands())
    collect(operand, reads, seen, /*anew=*/false);
}

Reads FunctionMemory::readsOf(Value value) const {
  Reads reads;
  llvm::SmallPtrSet<Operation *, 16> seen;
  collect(value, reads, seen, /*anew=*/true);
  return reads;
}

Reads FunctionMemory::readsOf(fusion::StoreOp store) const {
  return store.getParts() ? readsOfOperands(store.getValue().getDefiningOp()) : readsOf(store.getValue());
}

Reads FunctionMemory::readsOfOperands(Operation *op) const {
  Reads reads;
  llvm::SmallPtrSet<Operation *, 16> seen;
  for (Value operand : op->getOperands())
    collect(operand, reads, seen, /*anew=*/false);
  return reads;
}

Reads FunctionMemory::readsOfPlanned(fusion::KernelOp kernel) const {
  Operation *planned = kernel.getPlanned();
  return planned ? readsOfOperands(planned) : Reads();
}

void FunctionMemory::collectNeeds(Value value, Needs &needs) const {
  Operation *op = value.getDefiningOp();
  if (op && isa<PairwiseOp>(op)) {
    needs.sums.insert(value);
    return;
  }
  if (!op || !needs.operations.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    if (values.contains(operand) || isa<BlockArgument>(operand))
      needs.loaded.insert(operand);
    else
      collectNeeds(operand, needs);
}

Needs FunctionMemory::needsOf(Value value) const {
  Needs needs;
  collectNeeds(value, needs);
  return needs;
}

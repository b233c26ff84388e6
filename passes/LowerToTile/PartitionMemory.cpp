// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values get memory: what other blocks read, what is read again and again, and what a block has no room
// for.
#include "passes/Debug.h"
#include "passes/LowerToTile/LoweringInterface.h"
#include "passes/LowerToTile/PairEmitter.h"
#include "passes/LowerToTile/Partition.h"
#include "passes/LowerToTile/RootOrder.h"
#include "passes/LowerToTile/TokenBytes.h"

#include "dialect/Taylor/Axes.h"
#include "passes/Algebra/ScalarRanges.h"

#define DEBUG_TYPE "taylor-lower-to-tile"

using namespace mlir;
using namespace taylor;

static ArrayType typeOf(Value value) { return cast<ArrayType>(value.getType()); }

void Partition::store(Value value) {
  if (!isa<BlockArgument>(value))
    stored.insert(value);
}

bool Partition::fitsBlock(Value value, int64_t tokens, int64_t waiting) const {
  if (sizes.productBytes && countProductBytes(value, stored, tokens) > sizes.productBytes)
    return false;
  return !sizes.blockBytes || (countTokenBytes(value, stored) + waiting) * tokens <= sizes.blockBytes;
}

/// 16-bit keys and values are converted once, not for every block of queries.
void Partition::convertKeys() {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(&function.getBody().front());
  for (BlockArgument argument : function.getBody().getArguments()) {
    ArrayType type = typeOf(argument);
    Type scalar = type.getScalarType();
    if (scalar == type.getElementType() || !type.has(AxisRole::Key))
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : argument.getUses())
      if (auto pairs = dyn_cast<PairwiseOp>(use.getOwner()); pairs && PairEmitter::isRowsOnly(pairs))
        uses.push_back(&use);
    if (uses.empty())
      continue;
    auto op =
        MapOp::create(builder, argument.getLoc(), type.clone(scalar), ValueRange{argument}, ValueRange{});
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&op.getBody(), {}, {scalar}, {argument.getLoc()});
    YieldOp::create(builder, argument.getLoc(), block->getArgument(0), ArrayAttr());
    for (OpOperand *use : uses)
      use->set(op);
  }
}

bool Partition::readsSums(Value value) const {
  llvm::SetVector<Value> values; // each once: values share operands
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op || stored.contains(values[i]))
      continue;
    if (isa<PairwiseOp, ReadStatesOp, ContractStatesOp>(op))
      return true;
    values.insert(op->operand_begin(), op->operand_end());
  }
  return false;
}

bool Partition::isFinitePastEnd(Value array) const {
  return isFiniteOfZeros(array, [&](Value value) {
    return stored.contains(value) || (isa<BlockArgument>(value) && !tokenAxis(typeOf(value)).empty());
  });
}

void Partition::storeSummed(Value vectors) {
  if (!isFinitePastEnd(vectors))
    store(vectors);
}

void Partition::storeAngles(const AngleTable &table) {
  if (!llvm::is_contained(angles, table))
    angles.push_back(table);
  if (table.positions)
    store(table.positions);
}

void Partition::chooseStored() {
  for (Operation &op : function.getBody().front())
    if (auto lowering = dyn_cast<LoweringOpInterface>(op))
      lowering.chooseStored(*this);
}

//===----------------------------------------------------------------------===//
// What turns out to need it when kernels are known
//===----------------------------------------------------------------------===//

bool Partition::storeResults(Operation *op) {
  bool any = false;
  for (Value result : op->getResults())
    if (!result.use_empty())
      any |= stored.insert(result);
  return any;
}

bool Partition::storeSharedRows() {
  DenseMap<Operation *, const KernelPlan *> computedIn;
  bool shared = false;
  for (const KernelPlan &kernel : kernels) {
    Leaves leaves;
    for (const Root &root : kernel.roots) {
      Leaves ofRoot = leavesOf(root);
      leaves.rowPairs.insert(ofRoot.rowPairs.begin(), ofRoot.rowPairs.end());
    }
    for (Operation *op : leaves.rowPairs) {
      auto [it, fresh] = computedIn.try_emplace(op, &kernel);
      if (fresh || it->second == &kernel)
        continue;
      LDBG() << op->getLoc() << ": stored, two kernels would compute it";
      shared |= storeResults(op);
    }
  }
  return shared;
}

bool Partition::storeCrowdedRows() {
  bool crowded = false;
  for (const KernelPlan &kernel : kernels)
    for (const Root &root : kernel.roots) {
      auto operations = leavesOf(root).rowPairs;
      if (isa_and_nonnull<PairwiseOp>(root.value.getDefiningOp()))
        continue;
      // Sums of one loop wait while the next one runs with its own, beside a score tile.
      int64_t sums = 0;
      for (Value sum : findSums(root.value, stored))
        sums += countTokenBytes(sum, stored);
      for (Operation *op : operations) {
        ScoreTile tile = PairEmitter::rowTile(cast<PairwiseOp>(op), sizes);
        bool waits = operations.size() > 1 && sizes.blockBytes &&
                     (sums + sums / 4 + 4 * tile.keys) * tile.queries > sizes.blockBytes;
        if (!waits && fitsBlock(root.value, tile.queries))
          continue;
        LDBG() << op->getLoc() << ": stored, a block has no room for " << root.value.getLoc()
               << " at its end";
        crowded |= storeResults(op);
      }
    }
  return crowded;
}

bool Partition::storeCrowdedColumns() {
  for (const KernelPlan &kernel : kernels) {
    auto pairs = dyn_cast_or_null<PairwiseOp>(kernel.op);
    if (!pairs)
      continue;
    for (auto root = kernel.roots.begin(); root != kernel.roots.end(); ++root) {
      auto sums = findSums(root->value, stored);
      llvm::SmallSetVector<Value, 4> later;
      for (auto next = std::next(root); next != kernel.roots.end(); ++next)
        later.insert_range(findSums(next->value, stored));
      int64_t waiting = 0;
      for (Value sum : later)
        if (!sums.contains(sum))
          waiting += countTokenBytes(sum, stored);
      // As in a loop, what waits can neither be computed again nor in parts: it counts a quarter more.
      if (sums.contains(root->value) ||
          fitsBlock(root->value, PairEmitter::columnTile(pairs, sizes).keys, waiting + waiting / 4))
        continue;
      LDBG() << root->value.getLoc() << ": computed by another kernel, a block of columns has no room for it";
      finishedElsewhere.insert_range(sums);
      return true;
    }
  }
  return false;
}

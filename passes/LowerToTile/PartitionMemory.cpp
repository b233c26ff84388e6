// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values get memory: what other blocks read, what is read again and again, and what a block has no room
// for.
#include "passes/Debug.h"
#include "passes/LowerToTile/PairEmitter.h"
#include "passes/LowerToTile/Partition.h"
#include "passes/LowerToTile/RootOrder.h"
#include "passes/LowerToTile/TokenBytes.h"

#include "dialect/Taylor/Axes.h"
#include "passes/ScalarRanges.h"

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

/// Whether nothing but maps stands between the value and the function's results.
static bool isFinished(Value value) {
  llvm::SetVector<Value> values; // each once: values share users
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers())
      if (isa<MapOp>(user))
        values.insert(user->getResult(0));
      else if (!isa<YieldOp>(user))
        return false;
  return true;
}

/// Whether sums over tokens, which a block makes for its own place alone, are among what it is computed from.
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

/// Whether what an array holds past the last token is a number. What lies in memory is 0 there.
bool Partition::isFinitePastEnd(Value array) const {
  return isFiniteOfZeros(array, [&](Value value) {
    return stored.contains(value) || (isa<BlockArgument>(value) && !tokenAxis(typeOf(value)).empty());
  });
}

/// Whether what an array holds past the last token meets a weight of 0 in a sum over tokens, and is no
/// number.
bool Partition::spoilsSums(PairwiseOp pairs, Value array) const {
  auto summedOver = [](PairOutput kind) -> AxisRef {
    return kind == PairOutput::Rows      ? nameOf(AxisRole::Key)
           : kind == PairOutput::Columns ? nameOf(AxisRole::Query)
                                         : "";
  };
  auto isSummed = [&](PairSumAttr sum) {
    StringRef token = summedOver(sum.getKind());
    return sum.getArray() >= 0 && pairs.getArrays()[sum.getArray()] == array && !token.empty() &&
           typeOf(array).has(token);
  };
  return llvm::any_of(pairs.getSums().getAsRange<PairSumAttr>(), isSummed) && !isFinitePastEnd(array);
}

void Partition::chooseStored() {
  auto onlyYielded = [](Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      return isa<YieldOp>(user) && isa<FunctionOp>(user->getParentOp());
    });
  };
  // Features of tokens that do not count meet values of 0.
  auto storeSummed = [&](Value vectors) {
    if (!isFinitePastEnd(vectors))
      store(vectors);
  };
  for (Operation &op : function.getBody().front()) {
    if (auto pairs = dyn_cast<PairwiseOp>(op)) {
      bool rowsOnly = PairEmitter::isRowsOnly(pairs),
           diagonals = PairEmitter::hasDiagonalsOnGrid(pairs, sizes);
      for (Value array : pairs.getArrays()) {
        // Sums that a block makes for its own place are made nowhere in a loop.
        bool isOuter = ((sizes.readsOnce && !readsSums(array)) ||
                        !typeOf(array).has(rowsOnly ? AxisRole::Key : AxisRole::Query)) &&
                       !typeOf(array).has(AxisRole::Lag) && (!diagonals || tokenAxis(typeOf(array)).empty());
        ScoreTile tile =
            rowsOnly ? PairEmitter::rowTile(pairs, sizes) : PairEmitter::columnTile(pairs, sizes);
        // It is itself there too, before it is rounded, and stays through the loop: it counts a quarter more.
        int64_t result = countTokenBytes(typeOf(array), typeOf(array).getScalarType());
        if (isOuter && fitsBlock(array, rowsOnly ? tile.queries : tile.keys, result + result / 4) &&
            !spoilsSums(pairs, array))
          continue;
        if (rowProducts.contains(array.getDefiningOp()))
          store(cast<MapOp>(array.getDefiningOp()).getArrays()[1]);
        else
          store(array);
      }
      if (!rowsOnly)
        for (Value result : pairs.getResults())
          if (sumKind(result) != PairOutput::Columns)
            store(result);
    } else if (auto align = dyn_cast<AlignOp>(op)) {
      store(align.getArray());
    } else if (auto edge = dyn_cast<EdgeOp>(op)) {
      store(edge.getArray());
    } else if (auto convolve = dyn_cast<ConvolveOp>(op)) {
      store(convolve.getArray()); // read once per tap
      if (convolve.getWithin())
        store(convolve.getWithin());
      if (!isFinished(convolve))
        store(convolve);
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      if (!scan.isShift())
        store(scan);
      else // read at another place, where a block may lie across chunks
        for (Value array : scan.getArrays())
          if (readsSums(array))
            store(array);
      if (scan.getWithin())
        store(scan.getWithin());
    } else if (auto states = dyn_cast<StatesOp>(op)) {
      for (Value state : states.getResults())
        store(state);
      for (Value atEdges : {states.getDecay(), states.getWithin()})
        if (atEdges)
          store(atEdges);
      for (Value initial : states.getInitial())
        store(initial);
      storeSummed(states.getVectors());
    } else if (auto steps = dyn_cast<StepStatesOp>(op)) {
      for (Value result : steps.getResults())
        store(result);
      for (Value initial : steps.getInitial())
        store(initial);
      storeSummed(steps.getVectors());
      if (steps.getKeep())
        store(steps.getKeep());
      // One for every head of a group, panel after panel; one token is read where it lies.
      bool ofGroup = typeOf(steps.getReaders()).has(AxisRole::Head) &&
                     !typeOf(steps.getStates().front()).has(AxisRole::Head);
      if (ofGroup || sizes.stepTokens == 1)
        store(steps.getReaders());
      if (sizes.stepTokens == 1) {
        store(steps.getVectors());
        for (Value value : steps.getValues())
          store(value);
      }
    } else if (isa<ReadStatesOp, ContractStatesOp>(op)) {
      // A panel of features at a time.
      for (Value operand : op.getOperands())
        if (typeOf(operand).has(AxisRole::Feature))
          store(operand);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (reducesTokens(reduce))
        partials.insert(reduce);
      if (reducesBlocks(reduce) && !onlyYielded(reduce))
        store(reduce);
    } else if (auto rope = dyn_cast<RopeOp>(op)) {
      AngleTable table = AngleTable::of(rope);
      if (!llvm::is_contained(angles, table))
        angles.push_back(table);
      if (table.positions)
        store(table.positions);
    }
  }
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

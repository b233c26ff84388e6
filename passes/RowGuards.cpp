// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/RowGuards.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "passes/PositionConditions.h"
#include "passes/ScalarRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace taylor;

namespace {

void guard(MutableOperandRange live, ArrayRef<Value> wanted) {
  llvm::SmallSetVector<Value, 2> values;
  for (OpOperand &operand : live)
    values.insert(operand.get());
  values.insert_range(wanted);
  live.assign(values.getArrayRef());
}

/// The formula over `domain` becomes a guarded map, and where that is dead `none` is read in its place: no
/// term of the scan or reduction that follows.
template <typename Op> void leaveOutDead(Op op, ArrayType domain, ArrayRef<Value> wanted, double none) {
  bool isArray = op.getArrays().size() == 1 && op.getBody().front().without_terminator().empty();
  if (isArray && none == 0)
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto map = MapOp::create(builder, loc, domain.clone(domain.getScalarType()), op.getArrays(), wanted);
  map.getBody().takeBody(op.getBody());
  SmallVector<Value> arrays = {map.getResult()};
  if (none != 0)
    llvm::append_range(arrays, wanted);
  op.getArraysMutable().assign(arrays);
  Block *block = addBlock(op.getBody(), scalarTypesOf(arrays), loc);
  builder.setInsertionPointToEnd(block);
  Value term = block->getArgument(0);
  for (Value count : block->getArguments().drop_front()) {
    Value isAlive = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT,
                                          buildNumber(builder, loc, count.getType(), 0.0), count);
    term =
        arith::SelectOp::create(builder, loc, isAlive, term, buildNumber(builder, loc, term.getType(), none));
  }
  YieldOp::create(builder, loc, term, ArrayAttr());
}

/// The formula's points: of a reduction, before it reduces.
ArrayType domainOf(Operation *op) {
  if (auto map = dyn_cast<MapOp>(op))
    return map.getResult().getType();
  auto reduce = cast<ReduceOp>(op);
  return joinAxes(reduce.getArrays(), reduce.getResult().getType().getElementType(),
                  indexedAxes(reduce.getBody()));
}

/// Whether a value, which stands behind `op`, is made of results of it.
bool isMadeOf(Value value, Operation *op) {
  SmallVector<Value> open{value};
  llvm::SmallDenseSet<Operation *> seen;
  while (!open.empty()) {
    Operation *made = open.pop_back_val().getDefiningOp();
    if (made == op)
      return true;
    if (made && op->isBeforeInBlock(made) && seen.insert(made).second)
      llvm::append_range(open, made->getOperands());
  }
  return false;
}

/// Moves what a value is made of, as far as it stands behind, in front of `op`.
void hoist(Value value, Operation *op) {
  Operation *made = value.getDefiningOp();
  if (!made || made->isBeforeInBlock(op))
    return;
  made->moveBefore(op);
  for (Value operand : made->getOperands())
    hoist(operand, made);
}

} // namespace

void RowGuards::start(Value value, Value count) {
  counts[value].insert(count);
  if (auto sums = value.getDefiningOp<PairwiseOp>()) {
    // Sums of one mask have a count each.
    Value &known = countOfSums[sums];
    known = count;
    for (auto &[other, ofOther] : countOfSums)
      if (other != sums &&
          OperationEquivalence::isEquivalentTo(count.getDefiningOp(), ofOther.getDefiningOp(),
                                               OperationEquivalence::IgnoreLocations))
        known = ofOther;
  }
}

void RowGuards::guardResults(Block &block) {
  for (Operation &op : block) {
    Counts dependsOn;
    for (Value operand : op.getOperands())
      if (auto it = counts.find(operand); it != counts.end())
        dependsOn.insert_range(it->second);
    if (dependsOn.empty())
      continue;
    if (auto map = dyn_cast<MapOp>(op)) {
      warnOfMixedMasks(map, dependsOn);
      guard(map.getLiveMutable(), dependsOn.getArrayRef());
      counts[map.getResult()].insert_range(dependsOn);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      Counts reduced = reduceCounts(reduce, dependsOn);
      if (reduce.getKind() == Reduction::Max && reduced != dependsOn) {
        ArrayType domain = joinAxes(reduce.getArrays(), reduce.getResult().getType().getElementType(),
                                    indexedAxes(reduce.getBody()));
        leaveOutDead(reduce, domain, dependsOn.getArrayRef(), -std::numeric_limits<double>::infinity());
        guard(reduce.getLiveMutable(), reduced.getArrayRef());
      } else {
        guard(reduce.getLiveMutable(), dependsOn.getArrayRef());
      }
      counts[reduce.getResult()] = reduced;
    } else if (auto scan = dyn_cast<ScanOp>(op)) {
      leaveOutDead(scan, scan.getResult().getType(), dependsOn.getArrayRef(), scan.getIdentity());
    } else if (isa<RopeOp, NormalizeOp>(op)) {
      counts[op.getResult(0)].insert_range(dependsOn);
    }
  }
}

/// Of a number of visible keys, as taylor-recurrences-to-pairwise makes it; none of another.
static std::optional<VisibleKeys> visibleKeysOf(Value count) {
  if (auto pairs = count.getDefiningOp<PairwiseOp>())
    return VisibleKeys{
        pairs.getVisible().empty() ? Value() : pairs.getVisible().front().getTerminator()->getOperand(0)};
  if (auto map = count.getDefiningOp<MapOp>(); map && map.getArrays().empty())
    return VisibleKeys{{}, /*causal=*/arrayTypeOf(count).has("t")};
  return std::nullopt;
}

void RowGuards::warnOfMixedMasks(MapOp map, const Counts &dependsOn) {
  auto mixedBefore = [&](Value a, Value b) {
    return llvm::any_of(map.getArrays(), [&](Value array) {
      auto known = counts.find(array);
      return known != counts.end() && known->second.contains(a) && known->second.contains(b);
    });
  };
  for (Value one : dependsOn)
    for (Value other : dependsOn) {
      std::optional<VisibleKeys> hidden = visibleKeysOf(one), seen = visibleKeysOf(other);
      if (one == other || !hidden || !seen || mixedBefore(one, other))
        continue;
      std::optional<int64_t> row = findRowOfOneMask(*hidden, *seen);
      if (!row)
        continue;
      InFlightDiagnostic warning = map.emitWarning();
      warning << "this is 0 where one of its sums sees no key, also where another sees some, as at t = "
              << *row << "; write the condition on keys of that sum in its weight, which may be 0: "
              << "weight(select(CONDITION, s, 0.0)) for visible(CONDITION)";
      warning.attachNote(one.getLoc()) << "this sum sees no key there";
      warning.attachNote(other.getLoc()) << "this sum sees some";
      return;
    }
}

/// A reduction is dead where all its terms are, and a term is where one of its counts is 0.
RowGuards::Counts RowGuards::reduceCounts(ReduceOp reduce, const Counts &terms) {
  auto varies = [](Value count, StringRef axis) {
    return arrayTypeOf(count).has(axis == "group" ? "h" : axis);
  };
  SmallVector<StringRef> axes;
  for (StringRef axis : reduce.getAxes().getAsValueRange<StringAttr>())
    if (llvm::any_of(terms, [&](Value count) { return varies(count, axis); }))
      axes.push_back(axis);
  Counts result;
  SmallVector<Value> varying;
  for (Value count : terms)
    if (llvm::any_of(axes, [&](StringRef axis) { return varies(count, axis); }))
      varying.push_back(count);
    else
      result.insert(count);
  if (varying.empty())
    return result;
  OpBuilder builder(reduce);
  Value &known = reducedCounts[builder.getStrArrayAttr(axes)][varying];
  if (!known)
    known = buildReduce(builder, reduce.getLoc(), Reduction::Max, axes, varying, {},
                        [](OpBuilder &b, Location loc, ValueRange x) {
                          Value least = x.front();
                          for (Value count : x.drop_front())
                            least = arith::MinimumFOp::create(b, loc, least, count);
                          return least;
                        });
  result.insert(known);
  return result;
}

namespace {

/// Where a value over rows is read: in all of them, or where one of the counts is not 0. To begin with
/// nowhere.
struct Readers {
  bool all = false;
  llvm::SmallSetVector<Value, 2> counts;

  void add(const Readers &other) {
    all |= other.all;
    counts.insert_range(other.counts);
  }
};

/// Walks from the results of a block to its arguments.
class ReaderAnalysis {
public:
  ReaderAnalysis(Block &block, const llvm::DenseMap<Operation *, Value> &countOfSums)
      : countOfSums(countOfSums) {
    for (Operation &op : llvm::reverse(block))
      visit(op);
  }

  /// Of the results of an operation.
  Readers of(Operation &op) const {
    Readers readers;
    for (Value result : op.getResults())
      readers.add(known.lookup(result));
    return readers;
  }

private:
  static constexpr bool kEverywhere = true;

  void read(Value array, const Readers &where) {
    known[array].add(
        isa<ArrayType>(array.getType()) && arrayTypeOf(array).has("t") ? where : Readers{kEverywhere, {}});
  }
  void readLocal(Operation &op, ValueRange arrays, ValueRange live) {
    Readers where = of(op);
    if (where.all && !live.empty()) {
      where.all = false;
      where.counts.insert(live.front());
    }
    for (Value array : arrays)
      read(array, where);
    for (Value count : live)
      read(count, {kEverywhere, {}});
  }
  void visit(Operation &op);
  void visitSums(PairwiseOp op, Value count);

  const llvm::DenseMap<Operation *, Value> &countOfSums;
  llvm::DenseMap<Value, Readers> known;
};

void ReaderAnalysis::visit(Operation &op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  bool mixesRows = reduce && llvm::is_contained(reduce.getAxes().getAsValueRange<StringAttr>(), "t");
  if (auto map = dyn_cast<MapOp>(op))
    return readLocal(op, map.getArrays(), map.getLive());
  if (reduce && !mixesRows)
    return readLocal(op, reduce.getArrays(), reduce.getLive());
  if (auto count = countOfSums.find(&op); count != countOfSums.end())
    return visitSums(cast<PairwiseOp>(op), count->second);
  for (Value operand : op.getOperands())
    read(operand, isa<RopeOp>(op) && operand == op.getOperand(0) ? of(op) : Readers{kEverywhere, {}});
}

/// Which rows are dead the mask itself says, so what it reads is read in all.
void ReaderAnalysis::visitSums(PairwiseOp op, Value count) {
  Readers seen;
  seen.counts.insert(count);
  for (int64_t i = 0; i < op.getNumProducts(); ++i) {
    auto [row, column] = op.getProduct(i);
    read(row, seen);
    read(column, {kEverywhere, {}});
  }
  for (auto [i, scalar] : llvm::enumerate(op.getScalars())) {
    bool isInMask = !op.getVisible().empty() && !op.getVisible().getArgument(i).use_empty();
    read(op.getArrays()[scalar], isInMask ? Readers{kEverywhere, {}} : seen);
  }
  for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>())
    if (sum.getArray() >= 0)
      read(op.getArrays()[sum.getArray()], {kEverywhere, {}});
}

} // namespace

/// Above 0 where one of the counts is, over axes that `domain` has.
Value RowGuards::buildAny(Operation *op, ArrayRef<Value> given, ArrayType domain) {
  OpBuilder builder(op);
  SmallVector<Value> fitting;
  for (Value count : given) {
    hoist(count, op);
    SmallVector<StringRef> axes;
    for (StringAttr axis : arrayTypeOf(count).getAxes())
      if (!domain.has(axis.getValue()))
        axes.push_back(axis == "h" && domain.has("g") ? StringRef("group") : axis.getValue());
    if (!axes.empty()) {
      Value &known = reducedCounts[builder.getStrArrayAttr(axes)][SmallVector<Value>{count}];
      if (known)
        hoist(known, op);
      else
        known = buildReduce(builder, op->getLoc(), Reduction::Max, axes, count, {},
                            [](OpBuilder &, Location, ValueRange x) { return x[0]; });
      count = known;
    }
    fitting.push_back(count);
  }
  if (fitting.size() == 1)
    return fitting.front();
  Value &known = largestCounts[fitting];
  if (!known)
    known = buildMap(builder, op->getLoc(), fitting, {}, [](OpBuilder &b, Location loc, ValueRange x) {
      Value largest = x.front();
      for (Value count : x.drop_front())
        largest = arith::MaximumFOp::create(b, loc, largest, count);
      return largest;
    });
  return known;
}

void RowGuards::guardOperands(Block &block) {
  ReaderAnalysis analysis(block, countOfSums);
  // From the first on: what a guard makes 0 may be divided by.
  for (Operation &op : block) {
    if (!isa<MapOp, ReduceOp>(op))
      continue;
    Readers readers = analysis.of(op);
    // A mask may read what this gives.
    if (readers.all || readers.counts.empty() ||
        llvm::any_of(readers.counts, [&](Value count) { return isMadeOf(count, &op); }))
      continue;
    ArrayType domain = domainOf(&op);
    if (!domain.has("t") || staysFinite(&op))
      continue;
    auto live = isa<MapOp>(op) ? cast<MapOp>(op).getLiveMutable() : cast<ReduceOp>(op).getLiveMutable();
    guard(live, buildAny(&op, readers.counts.getArrayRef(), domain));
  }
}

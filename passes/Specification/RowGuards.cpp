// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Specification/RowGuards.h"

#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/EmptySums.h"
#include "passes/Algebra/ScalarRanges.h"

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

/// Makes the formula of a scan or reduction, over `domain`, a guarded map, and lets the operation read
/// `none`, its neutral number, where the map is dead.
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

/// The axes over which an operation's formula is computed; of a reduction, before it reduces.
ArrayType domainOf(Operation *op) {
  if (isa<MapOp, ScanOp>(op))
    return cast<ArrayType>(op->getResult(0).getType());
  auto reduce = cast<ReduceOp>(op);
  return joinAxes(reduce.getArrays(), reduce.getResult().getType().getElementType(),
                  indexedAxes(reduce.getBody()));
}

/// A map that computes one scalar of an operation's formula.
template <typename Op> MapOp buildPart(Op op, Value scalar, ArrayType domain) {
  Block &block = op.getBody().front();
  llvm::SetVector<Value> made = collectScalars(scalar);
  SmallVector<Value> arrays;
  SmallVector<BlockArgument> arguments;
  for (BlockArgument argument : block.getArguments())
    if (made.contains(argument)) {
      arguments.push_back(argument);
      arrays.push_back(op.getArrays()[argument.getArgNumber()]);
    }
  llvm::SmallDenseSet<StringRef> axes;
  for (Value array : arrays)
    for (StringAttr axis : arrayTypeOf(array).getAxes())
      axes.insert(axis == AxisRole::KeyHead && domain.has(AxisRole::Head) ? AxisRef(AxisRole::Head)
                                                                          : axis.getValue());
  for (Value part : made)
    if (Operation *from = part.getDefiningOp(); isa_and_nonnull<IndexOp>(from))
      axes.insert(cast<IndexOp>(from).getAxis());
  SmallVector<AxisRef> absent;
  for (StringAttr axis : domain.getAxes())
    if (!axes.contains(axis.getValue()))
      absent.push_back(axis.getValue());
  OpBuilder builder(op);
  Value array = buildMap(
      builder, scalar.getLoc(), arrays, {},
      [&](OpBuilder &b, Location, ValueRange x) {
        IRMapping values;
        for (auto [argument, now] : llvm::zip_equal(arguments, x))
          values.map(Value(argument), now);
        return cloneScalar(b, scalar, values);
      },
      domain.without(absent).clone(scalar.getType()));
  return array.getDefiningOp<MapOp>();
}

/// Scalars of a formula that nothing uses, and arrays that it then does not read.
template <typename Op> void dropUnused(Op op) {
  Block &block = op.getBody().front();
  SmallVector<Operation *> scalars =
      llvm::map_to_vector(block.without_terminator(), [](Operation &scalar) { return &scalar; });
  for (Operation *scalar : llvm::reverse(scalars))
    if (scalar->use_empty())
      scalar->erase();
  SmallVector<AxisRef> indexed = indexedAxes(op.getBody());
  Type real = realTypeOf(op.getContext(), op.getArrays().getTypes());
  for (int64_t i = op.getArrays().size() - 1; i >= 0; --i) {
    SmallVector<Value> rest(op.getArrays());
    rest.erase(rest.begin() + i);
    if (!block.getArgument(i).use_empty() ||
        realTypeOf(op.getContext(), ValueRange(rest).getTypes()) != real ||
        joinAxes(rest, real, indexed) != joinAxes(op.getArrays(), real, indexed))
      continue;
    block.eraseArgument(i);
    op.getArraysMutable().erase(i);
  }
}

/// Whether a value, which stands behind `op`, is made of results of it.
bool isMadeOf(Value value, Operation *op) {
  bool isFound = false;
  walkSources(value, [&](Value part) {
    Operation *made = part.getDefiningOp();
    isFound |= made == op;
    return !isFound && made && op->isBeforeInBlock(made);
  });
  return isFound;
}

/// Moves a value's operation, and all that it is computed from, before `op` if they stand after it.
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
  auto *known = llvm::find_if(distinctCounts, [&](Value other) {
    return OperationEquivalence::isEquivalentTo(count.getDefiningOp(), other.getDefiningOp(),
                                                OperationEquivalence::IgnoreLocations);
  });
  if (known != distinctCounts.end())
    count = *known;
  else
    distinctCounts.push_back(count);
  sums[value].counts.insert(count);
  if (auto pairs = value.getDefiningOp<PairwiseOp>())
    countOfSums[pairs] = count;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void RowGuards::Sums::add(const Sums &other) {
  counts.insert_range(other.counts);
  everywhere |= other.everywhere;
}

bool RowGuards::Sums::operator==(const Sums &other) const {
  return everywhere == other.everywhere && counts.size() == other.counts.size() &&
         llvm::all_of(counts, [&](Value count) { return other.counts.contains(count); });
}

RowGuards::Sums RowGuards::sumsOf(ValueRange arrays) const {
  Sums joined;
  for (Value array : arrays)
    if (auto known = sums.find(array); known != sums.end())
      joined.add(known->second);
  return joined;
}

void RowGuards::guardResults(Block &block) {
  for (Operation &op : block) {
    Sums dependsOn = sumsOf(op.getOperands());
    if (dependsOn.isNone() || isa<PairwiseOp>(op))
      continue;
    if (auto map = dyn_cast<MapOp>(op)) {
      guardMap(map);
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      guardReduce(reduce);
    } else if (auto array = dyn_cast<ArrayOpInterface>(op); array && array.getReach() == Reach::Own) {
      sums[op.getResult(0)].add(dependsOn);
    } else {
      if (auto scan = dyn_cast<ScanOp>(op)) {
        ArrayType domain = domainOf(scan);
        leaveOutParts(scan, domain);
        if (dependsOn.mayBeDead())
          leaveOutDead(scan, domain, guardsOf(scan, dependsOn, domain), scan.getIdentity());
      }
      for (Value result : op.getResults())
        sums[result].everywhere = true;
    }
  }
}

void RowGuards::guardMap(MapOp map) {
  ArrayType domain = domainOf(map);
  Sums dependsOn = sumsOf(map.getArrays());
  leaveOutParts(map, domain);
  guard(map.getLiveMutable(), guardsOf(map, dependsOn, domain));
  sums[map.getResult()] = dependsOn;
}

void RowGuards::guardReduce(ReduceOp reduce) {
  ArrayType domain = domainOf(reduce);
  Sums terms = sumsOf(reduce.getArrays()), reduced = reduceSums(reduce, terms);
  leaveOutParts(reduce, domain);
  if (reduce.getKind() == Reduction::Max && !(reduced == terms)) {
    leaveOutDead(reduce, domain, guardsOf(reduce, terms, domain), -std::numeric_limits<double>::infinity());
    guard(reduce.getLiveMutable(), guardsOf(reduce, reduced, domain));
  } else {
    guard(reduce.getLiveMutable(), guardsOf(reduce, terms, domain));
  }
  sums[reduce.getResult()] = reduced;
}

SmallVector<Value> RowGuards::guardsOf(Operation *op, const Sums &of, ArrayType domain) {
  if (!of.mayBeDead())
    return {};
  return {buildAny(op, of.counts.getArrayRef(), domain)};
}

/// Where a formula joins sums of which some may be empty: functions of those alone become maps with guards of
/// their own.
template <typename Op> void RowGuards::leaveOutParts(Op op, ArrayType domain) {
  Sums whole = sumsOf(op.getArrays());
  Block &block = op.getBody().front();
  llvm::DenseMap<Value, Sums> scalars;
  for (auto [argument, array] : llvm::zip_equal(block.getArguments(), op.getArrays()))
    scalars[argument] = sumsOf(array);
  SmallVector<Operation *> parts;
  llvm::SmallDenseSet<Operation *> isPart;
  for (Operation &scalar : block.without_terminator()) {
    Sums &depends = scalars[scalar.getResult(0)];
    for (Value operand : scalar.getOperands())
      depends.add(scalars.lookup(operand));
    auto dependsOnSum = [&](Value operand) { return !scalars.lookup(operand).isNone(); };
    if (depends.mayBeDead() && !(depends == whole) && !runsOnEmptySums(&scalar, dependsOnSum))
      isPart.insert(&scalar);
  }
  // Only parts that are not within another part.
  llvm::SetVector<Value> open;
  open.insert(block.getTerminator()->getOperand(0));
  for (size_t i = 0; i < open.size(); ++i)
    if (Operation *scalar = open[i].getDefiningOp()) {
      if (isPart.contains(scalar))
        parts.push_back(scalar);
      else
        open.insert(scalar->operand_begin(), scalar->operand_end());
    }
  if (parts.empty())
    return;
  llvm::sort(parts, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *part : parts) {
    MapOp map = buildPart(op, part->getResult(0), domain);
    guardMap(map);
    op.getArraysMutable().append(map.getResult());
    part->getResult(0).replaceAllUsesWith(block.addArgument(part->getResult(0).getType(), part->getLoc()));
  }
  dropUnused(op);
}

/// A reduction is dead where all its terms are.
RowGuards::Sums RowGuards::reduceSums(ReduceOp reduce, const Sums &terms) {
  auto varies = [](Value count, AxisRef axis) {
    return arrayTypeOf(count).has(axis == kGroup ? AxisRole::Head : axis);
  };
  Sums result;
  result.everywhere = terms.everywhere;
  for (Value count : terms.counts) {
    SmallVector<AxisRef> axes;
    for (StringRef axis : reduce.getAxes().getAsValueRange<StringAttr>())
      if (varies(count, axis))
        axes.push_back(axis);
    result.counts.insert(axes.empty() ? count : buildLargest(reduce, axes, count));
  }
  return result;
}

Value RowGuards::buildLargest(Operation *op, ArrayRef<AxisRef> axes, Value count) {
  OpBuilder builder(op);
  Value &known = reducedCounts[axesAttr(builder, axes)][SmallVector<Value>{count}];
  if (known)
    hoist(known, op);
  else
    known = buildReduce(builder, op->getLoc(), Reduction::Max, axes, count, {},
                        [](OpBuilder &, Location, ValueRange x) { return x[0]; });
  return known;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

namespace {

/// In which rows a value is read: in all, or in those where one of the counts is not 0. At first in none.
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
    known[array].add(isa<ArrayType>(array.getType()) && arrayTypeOf(array).has(AxisRole::Query)
                         ? where
                         : Readers{kEverywhere, {}});
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
  bool mixesRows =
      reduce && llvm::is_contained(reduce.getAxes().getAsValueRange<StringAttr>(), AxisRole::Query);
  if (auto map = dyn_cast<MapOp>(op))
    return readLocal(op, map.getArrays(), map.getLive());
  if (reduce && !mixesRows)
    return readLocal(op, reduce.getArrays(), reduce.getLive());
  if (auto count = countOfSums.find(&op); count != countOfSums.end())
    return visitSums(cast<PairwiseOp>(op), count->second);
  auto array = dyn_cast<ArrayOpInterface>(op);
  for (Value operand : op.getOperands()) {
    bool isRotated = array && array.isRotation() && operand == op.getOperand(0);
    read(operand, isRotated ? of(op) : Readers{kEverywhere, {}});
  }
}

/// The mask decides which rows are dead, so it is computed in all rows, and reads its arrays in all.
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
    read(scalar, isInMask ? Readers{kEverywhere, {}} : seen);
  }
  for (Value array : op.getWeighted())
    read(array, {kEverywhere, {}});
}

} // namespace

/// Above 0 where one of the counts is, over axes that `domain` has.
Value RowGuards::buildAny(Operation *op, ArrayRef<Value> given, ArrayType domain) {
  OpBuilder builder(op);
  SmallVector<Value> fitting;
  for (Value count : given) {
    hoist(count, op);
    SmallVector<AxisRef> axes;
    for (StringAttr axis : arrayTypeOf(count).getAxes())
      if (!domain.has(axis.getValue()))
        axes.push_back(axis == AxisRole::Head && domain.has(AxisRole::KeyHead) ? StringRef(kGroup)
                                                                               : axis.getValue());
    if (!axes.empty())
      count = buildLargest(op, axes, count);
    fitting.push_back(count);
  }
  if (fitting.size() == 1)
    return fitting.front();
  Value &known = largestCounts[fitting];
  if (known)
    hoist(known, op);
  else
    known = buildMap(builder, op->getLoc(), fitting, {}, [](OpBuilder &b, Location loc, ValueRange x) {
      Value largest = x.front();
      for (Value count : x.drop_front())
        largest = arith::MaximumFOp::create(b, loc, largest, count);
      return largest;
    });
  largestOf[known].insert_range(fitting);
  return known;
}

void RowGuards::guardOperands(Block &block) {
  ReaderAnalysis analysis(block, countOfSums);
  // In order: a later formula may divide by a value that a guard has made 0.
  for (Operation &op : block) {
    if (!isa<MapOp, ReduceOp>(op))
      continue;
    Readers readers = analysis.of(op);
    // A mask may read what this gives.
    if (readers.all || readers.counts.empty() ||
        llvm::any_of(readers.counts, [&](Value count) { return isMadeOf(count, &op); }))
      continue;
    ArrayType domain = domainOf(&op);
    if (!domain.has(AxisRole::Query) || staysFinite(&op))
      continue;
    auto live = isa<MapOp>(op) ? cast<MapOp>(op).getLiveMutable() : cast<ReduceOp>(op).getLiveMutable();
    Value any = buildAny(&op, readers.counts.getArrayRef(), domain);
    // A row that one of its guards keeps alive is read.
    bool isGuarded =
        llvm::any_of(live, [&](OpOperand &own) { return largestOf.lookup(any).contains(own.get()); });
    if (!isGuarded)
      guard(live, any);
  }
}

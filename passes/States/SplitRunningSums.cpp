// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Differences of running sums, with each sum as two numbers. Passes.td has the rule.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"

#define DEBUG_TYPE "taylor-split-running-sums"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_SPLITRUNNINGSUMSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// How often a number that grows as a running sum contains it: D[t] - m once, D[t] - D[u] not at all.
using Multiples = llvm::SmallMapVector<Value, int, 2>;

void addMultiples(Multiples &sum, const Multiples &term, int sign) {
  for (auto [root, count] : term)
    sum[root] += sign * count;
}

bool isEmpty(const Multiples &multiples) {
  return llvm::all_of(multiples, [](auto &entry) { return entry.second == 0; });
}

/// A term of a sum. Of an array that an argument of the formula stands for: both; of a product, a number or
/// another formula: `scalar` alone; of what a map adds up that is read through: `array` alone, or a number.
struct RunningTerm {
  int sign;
  Value array, scalar;
  /// What such a map adds to a running sum may be as large as the sum is.
  bool isCompanion = false;
};

/// Formulas with more terms are left alone: scalars that several others read are counted for each of them.
constexpr size_t kMostTerms = 16;

bool isNumber(const RunningTerm &term) { return term.scalar && matchPattern(term.scalar, m_Constant()); }

/// Whether scalars of the region add up: a + b, a - b, -a.
bool isAdded(Operation *op) { return isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::NegFOp>(op); }

/// One region of an operation on arrays.
struct RunningFormula {
  Operation *op;
  Region *region;

  /// Drops an argument that nobody reads, if the others have its array's axes. (One of a taylor.pairwise
  /// stays: its other regions may read it.)
  void dropArgument(unsigned number) const {
    if (isa<PairwiseOp>(op))
      return;
    auto hasElsewhere = [&](StringAttr axis) {
      for (BlockArgument other : region->getArguments())
        if (other.getArgNumber() != number && arrayTypeOf(arrayOf(other)).has(axis))
          return true;
      return false;
    };
    if (!llvm::all_of(arrayTypeOf(op->getOperand(number)).getAxes(), hasElsewhere))
      return;
    arrays().erase(number);
    region->front().eraseArgument(number);
  }

  /// The argument for an array, which is added if it is new.
  Value argumentOf(Value array) const {
    if (auto pairs = dyn_cast<PairwiseOp>(op))
      return addScalarOperand(pairs, array, region);
    MutableOperandRange known = arrays();
    for (OpOperand &operand : MutableArrayRef<OpOperand>(known))
      if (operand.get() == array)
        return region->getArgument(operand.getOperandNumber());
    known.append(array);
    return region->front().addArgument(arrayTypeOf(array).getScalarType(), op->getLoc());
  }

  /// Of an operation that is no taylor.pairwise.
  MutableOperandRange arrays() const { return cast<FormulaOpInterface>(op).getArraysMutable(); }
};

/// The running sums of one function.
class RunningSums {
public:
  explicit RunningSums(Block &block) : block(block) {}

  /// Returns the number of differences that are two numbers now.
  unsigned split() {
    SmallVector<Operation *> ops;
    for (Operation &op : block)
      if (isa<FormulaOpInterface, PairwiseOp>(op))
        ops.push_back(&op);
    // Readers first: the maps that they read through are as they were. Nothing is erased meanwhile, so no
    // array comes to stand where `multiples` knew another.
    llvm::SetVector<Operation *> changed;
    auto rewriteAll = [&](Operation *op) {
      for (Region &region : op->getRegions())
        if (!region.empty() && rewrite({op, &region}))
          changed.insert(op);
    };
    for (Operation *op : llvm::reverse(ops)) {
      rewriteAll(op);
      llvm::for_each(partsOfMap.lookup(op), rewriteAll);
    }
    if (changed.empty() && parts.empty())
      return 0;
    for (Operation *op : changed)
      if (auto pairs = dyn_cast<PairwiseOp>(op))
        dropUnread(pairs);
    // Maps that were read through, and parts of some that were not.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
    return count;
  }

private:
  using Scalars = llvm::DenseMap<Value, Multiples>;

  bool isRunningSum(Value array) const;
  Value findSum(Value array) const;
  Multiples multiplesOf(Value array);
  Multiples multiplesOf(Value scalar, Scalars &known);
  Multiples multiplesOfFormula(Region &body);
  Multiples multiplesOf(const RunningTerm &term);
  void collectTerms(Value scalar, int sign, SmallVectorImpl<RunningTerm> &terms);
  void addTerm(Value scalar, int sign, SmallVectorImpl<RunningTerm> &terms);
  bool rewrite(const RunningFormula &formula);
  Value buildDifference(const RunningFormula &formula, OpBuilder &builder, Location loc,
                        ArrayRef<RunningTerm> terms);
  Value partOf(MapOp map, Value scalar);
  Value alignedOf(Value array, AlignOp align);
  Value lowOf(Value array);

  Block &block;
  unsigned count = 0;
  llvm::DenseMap<Value, Multiples> multiples;
  llvm::DenseMap<Value, Value> lows;
  llvm::DenseMap<std::pair<Value, StringAttr>, Value> aligns;
  llvm::DenseMap<Value, Value> parts;
  llvm::DenseMap<Operation *, SmallVector<Operation *>> partsOfMap;
};

bool RunningSums::isRunningSum(Value array) const {
  auto scan = array.getDefiningOp<ScanOp>();
  return scan && scan.getResult().getType().getScalarType().isF32() &&
         (scan.getKind() == ScanKind::Sum || lows.contains(array));
}

/// The running sum of which an array has elements, at its tokens or at others; null if there is none.
Value RunningSums::findSum(Value array) const {
  while (auto align = array.getDefiningOp<AlignOp>())
    array = align.getArray();
  return isRunningSum(array) ? array : Value();
}

Multiples RunningSums::multiplesOfFormula(Region &body) {
  Scalars known;
  return multiplesOf(body.front().getTerminator()->getOperand(0), known);
}

Multiples RunningSums::multiplesOf(const RunningTerm &term) {
  if (term.array)
    return multiplesOf(term.array);
  Scalars known;
  return isNumber(term) ? Multiples() : multiplesOf(term.scalar, known);
}

Multiples RunningSums::multiplesOf(Value array) {
  if (auto known = multiples.find(array); known != multiples.end())
    return known->second;
  Multiples result;
  Operation *op = array.getDefiningOp();
  if (isRunningSum(array)) {
    result[array] = 1;
  } else if (isa_and_nonnull<AlignOp, EdgeOp>(op)) {
    result = multiplesOf(op->getOperand(0));
  } else if (auto scan = dyn_cast_or_null<ScanOp>(op); scan && scan.getKind() == ScanKind::Max) {
    result = multiplesOfFormula(scan.getBody());
  } else if (auto map = dyn_cast_or_null<MapOp>(op)) {
    result = multiplesOfFormula(map.getBody());
  } else if (auto reduce = dyn_cast_or_null<ReduceOp>(op); reduce && reduce.getKind() == Reduction::Sum) {
    // One element of an array: x where a condition holds, else 0.
    Value yielded = reduce.getBody().front().getTerminator()->getOperand(0);
    auto chosen = yielded.getDefiningOp<arith::SelectOp>();
    if (chosen && matchPattern(chosen.getFalseValue(), m_AnyZeroFloat()))
      result = multiplesOfFormula(reduce.getBody());
  }
  return multiples[array] = std::move(result);
}

Multiples RunningSums::multiplesOf(Value scalar, Scalars &known) {
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    Value array = arrayOf(argument);
    return array ? multiplesOf(array) : Multiples();
  }
  if (auto found = known.find(scalar); found != known.end())
    return found->second;
  Operation *op = scalar.getDefiningOp();
  Multiples result;
  if (isAdded(op)) {
    addMultiples(result, multiplesOf(op->getOperand(0), known), isa<arith::NegFOp>(op) ? -1 : 1);
    if (op->getNumOperands() == 2)
      addMultiples(result, multiplesOf(op->getOperand(1), known), isa<arith::SubFOp>(op) ? -1 : 1);
    result.remove_if([](auto &entry) { return entry.second == 0; });
  } else if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::SelectOp, StopGradientOp>(op)) {
    // One of several numbers; one that is no multiple of a sum, such as a first edge, stands for none. If
    // others are of different sums, nothing is known.
    for (Value operand : op->getOperands()) {
      if (!isa<FloatType>(operand.getType()))
        continue;
      Multiples one = multiplesOf(operand, known);
      if (isEmpty(one))
        continue;
      bool isSame = isEmpty(result) || llvm::equal(result, one);
      result = isSame ? one : Multiples();
      if (!isSame)
        break;
    }
  }
  return known[scalar] = std::move(result);
}

void RunningSums::addTerm(Value scalar, int sign, SmallVectorImpl<RunningTerm> &terms) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  Value array = argument ? arrayOf(argument) : Value();
  // A map that adds up a running sum and something else rounds what it gives: its terms are added here. So
  // they are where queries read it at their keys; where keys read queries, some stand before the first, and
  // get 0.
  auto align = array ? array.getDefiningOp<AlignOp>() : AlignOp();
  auto map = align && align.getAxis() == AxisRole::Query ? align.getArray().getDefiningOp<MapOp>()
             : array && !align                           ? array.getDefiningOp<MapOp>()
                                                         : MapOp();
  if (map && map.getLive().empty() && !isEmpty(multiplesOf(array))) {
    Value yielded = map.getBody().front().getTerminator()->getOperand(0);
    SmallVector<RunningTerm> inner;
    collectTerms(yielded, sign, inner);
    auto isKnown = [](const RunningTerm &term) {
      return term.array || isNumber(term) || isa<arith::SelectOp>(term.scalar.getDefiningOp());
    };
    if (isAdded(yielded.getDefiningOp()) && inner.size() <= kMostTerms && llvm::all_of(inner, isKnown)) {
      for (RunningTerm &term : inner) {
        if (!term.array && !isNumber(term))
          term.array = partOf(map, term.scalar);
        if (!term.array) {
          terms.push_back(term);
          continue;
        }
        bool isCompanion = isEmpty(multiplesOf(term.array));
        terms.push_back({term.sign, align ? alignedOf(term.array, align) : term.array, {}, isCompanion});
      }
      return;
    }
  }
  terms.push_back({sign, array, scalar});
}

void RunningSums::collectTerms(Value scalar, int sign, SmallVectorImpl<RunningTerm> &terms) {
  if (terms.size() > kMostTerms)
    return;
  Operation *op = scalar.getDefiningOp();
  // Derivatives have been taken: a number that is a constant to them is that number.
  if (isa_and_nonnull<StopGradientOp>(op))
    return collectTerms(op->getOperand(0), sign, terms);
  if (!isAdded(op))
    return addTerm(scalar, sign, terms);
  collectTerms(op->getOperand(0), isa<arith::NegFOp>(op) ? -sign : sign, terms);
  if (op->getNumOperands() == 2)
    collectTerms(op->getOperand(1), isa<arith::SubFOp>(op) ? -sign : sign, terms);
}

/// A number that a map computes on the way, as an array of its own, of the axes that it depends on.
Value RunningSums::partOf(MapOp map, Value scalar) {
  Value &known = parts[scalar];
  if (known)
    return known;
  OpBuilder builder(map);
  IRMapping copied;
  auto part = cast<MapOp>(builder.clone(*map, copied));
  Block &body = part.getBody().front();
  body.getTerminator()->setOperand(0, copied.lookup(scalar));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  llvm::BitVector unread(body.getNumArguments());
  SmallVector<Value> arrays;
  for (auto [argument, array] : llvm::zip_equal(body.getArguments(), part.getArrays()))
    if (argument.use_empty())
      unread.set(argument.getArgNumber());
    else
      arrays.push_back(array);
  ArrayType type = joinAxes(arrays, part.getType().getScalarType());
  if (llvm::all_of(indexedAxes(part.getBody()), [&](StringRef axis) { return type.has(axis); })) {
    body.eraseArguments(unread);
    auto narrow = MapOp::create(builder, map.getLoc(), type, arrays, ValueRange());
    narrow.getBody().takeBody(part.getBody());
    part.erase();
    part = narrow;
  }
  partsOfMap[map].push_back(part);
  return known = part.getResult();
}

/// The array at the tokens that `align` reads.
Value RunningSums::alignedOf(Value array, AlignOp align) {
  if (tokenAxis(arrayTypeOf(array)).empty())
    return array;
  Value &aligned = aligns[{array, align.getAxisAttr()}];
  if (!aligned) {
    OpBuilder builder(align.getContext());
    builder.setInsertionPointAfterValue(array);
    StringRef from = tokenAxis(arrayTypeOf(array));
    aligned = AlignOp::create(builder, align.getLoc(), arrayTypeOf(array).renamed(from, align.getAxis()),
                              array, align.getAxisAttr());
  }
  return aligned;
}

Value RunningSums::lowOf(Value array) {
  if (Value known = lows.lookup(array))
    return known;
  OpBuilder builder(array.getContext());
  Operation *low;
  if (auto align = array.getDefiningOp<AlignOp>()) {
    Value source = lowOf(align.getArray());
    bool isBehind = align->isBeforeInBlock(source.getDefiningOp());
    builder.setInsertionPointAfterValue(isBehind ? source : array);
    low = builder.clone(*align);
    low->setOperand(0, source);
  } else {
    builder.setInsertionPointAfterValue(array);
    low = builder.clone(*array.getDefiningOp());
    cast<ScanOp>(array.getDefiningOp()).setKind(ScanKind::High);
    cast<ScanOp>(low).setKind(ScanKind::Low);
  }
  return lows[array] = low->getResult(0);
}

/// Adds up scalars of a region. No pass behind this one changes the order of additions, nor does a target.
struct RunningSum {
  OpBuilder &builder;
  Location loc;
  Value value;

  void add(int sign, Value x) {
    if (!value)
      value = sign > 0 ? x : Value(arith::NegFOp::create(builder, loc, x));
    else
      value = sign > 0 ? plus(value, x) : minus(value, x);
  }

  /// The same, and adds what this rounds off to `error` (Knuth's two-sum, The Art of Computer
  /// Programming 4.2.2).
  void addExactly(int sign, Value x, RunningSum &error) {
    Value before = value;
    add(sign, x);
    if (!before)
      return;
    Value added = minus(value, before);
    error.add(1, minus(before, minus(value, added)));
    Value rest = sign > 0 ? minus(x, added) : plus(x, added);
    error.add(sign, rest);
  }

private:
  Value plus(Value a, Value b) { return arith::AddFOp::create(builder, loc, a, b); }
  Value minus(Value a, Value b) { return arith::SubFOp::create(builder, loc, a, b); }
};

/// The sum of the terms: running sums and what is made of them first, then what these lack, then all others.
Value RunningSums::buildDifference(const RunningFormula &formula, OpBuilder &builder, Location loc,
                                   ArrayRef<RunningTerm> terms) {
  auto scalarOf = [&](RunningTerm term) -> Value {
    if (!term.scalar)
      return formula.argumentOf(term.array);
    bool isOfMap = term.scalar.getParentRegion() != formula.region;
    return isOfMap ? builder.clone(*term.scalar.getDefiningOp())->getResult(0) : term.scalar;
  };
  auto rootOf = [&](const RunningTerm &term) -> Value {
    for (auto [root, count] : multiplesOf(term))
      if (count != 0)
        return root;
    return {};
  };
  // Sum by sum, the added ones first, in pairs that cancel.
  llvm::SmallMapVector<Value, SmallVector<RunningTerm>, 2> large;
  SmallVector<RunningTerm> others;
  bool isExact = llvm::any_of(terms, [](const RunningTerm &term) { return term.isCompanion; });
  for (int sign : {1, -1})
    for (const RunningTerm &term : terms)
      if (Value root = rootOf(term); root && term.sign == sign)
        large[root].push_back(term);
  RunningSum difference{builder, loc, {}}, low{builder, loc, {}};
  for (auto &[root, group] : large) {
    // Two sums that are not of each other's size would round each other's differences.
    RunningSum own{builder, loc, {}};
    for (const RunningTerm &term : group)
      if (isExact)
        difference.addExactly(term.sign, scalarOf(term), low);
      else
        own.add(term.sign, scalarOf(term));
    if (own.value)
      difference.add(1, own.value);
  }
  // Beside a companion any other array may be as large, such as an edge of the same call.
  for (const RunningTerm &term : terms)
    if (!rootOf(term)) {
      if (isExact && term.array)
        difference.addExactly(term.sign, scalarOf(term), low);
      else
        others.push_back(term);
    }
  for (auto &[root, group] : large)
    for (const RunningTerm &term : group)
      if (term.array && findSum(term.array))
        (low.value || term.sign > 0 ? low : difference).add(term.sign, formula.argumentOf(lowOf(term.array)));
  if (low.value && isExact) {
    // Of an infinite sum, what is rounded off is no number.
    Value size = math::AbsFOp::create(builder, loc, difference.value);
    Value limit = buildNumber(builder, loc, size.getType(), std::numeric_limits<double>::infinity());
    Value isFinite = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, size, limit);
    Value exact = arith::AddFOp::create(builder, loc, difference.value, low.value);
    difference.value = arith::SelectOp::create(builder, loc, isFinite, exact, difference.value);
  } else if (low.value) {
    difference.add(1, low.value);
  }
  for (const RunningTerm &term : others)
    difference.add(term.sign, scalarOf(term));
  return difference.value;
}

/// Without pairs of one array, or one number, that is added and subtracted.
static void cancelTerms(SmallVectorImpl<RunningTerm> &terms) {
  auto isSame = [](const RunningTerm &a, const RunningTerm &b) {
    Attribute x, y;
    return a.array || b.array ? a.array == b.array
                              : isNumber(a) && isNumber(b) && matchPattern(a.scalar, m_Constant(&x)) &&
                                    matchPattern(b.scalar, m_Constant(&y)) && x == y;
  };
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t j = i + 1; j < terms.size(); ++j)
      if (terms[i].sign != terms[j].sign && isSame(terms[i], terms[j])) {
        terms.erase(terms.begin() + j);
        terms.erase(terms.begin() + i--);
        break;
      }
}

bool RunningSums::rewrite(const RunningFormula &formula) {
  llvm::SmallBitVector mayDrop(formula.region->getNumArguments());
  for (BlockArgument argument : formula.region->getArguments())
    mayDrop[argument.getArgNumber()] = !argument.use_empty();
  // From the end: the whole of a sum comes before its parts, and these go with it.
  bool isChanged = false;
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(formula.region->front()))) {
    if (isChanged && isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    if (!isAdded(&op))
      continue;
    SmallVector<RunningTerm> terms;
    collectTerms(op.getResult(0), 1, terms);
    if (terms.size() > kMostTerms)
      continue;
    cancelTerms(terms);
    Multiples total;
    bool hasSum = false, hasCompanion = false, hasOther = false;
    for (const RunningTerm &term : terms) {
      Multiples own = multiplesOf(term);
      addMultiples(total, own, term.sign);
      hasSum |= term.array && findSum(term.array);
      hasCompanion |= term.isCompanion;
      hasOther |= term.array && !term.isCompanion && isEmpty(own);
    }
    // With what a call before left, an array that is none of the function's sums may be one of that call's.
    if (!hasSum || !(isEmpty(total) || (hasCompanion && hasOther)))
      continue;
    LDBG() << op.getLoc() << ": " << terms.size() << " terms, running sums "
           << (isEmpty(total) ? "cancel" : "stand next to what an earlier call left");
    ++count;
    OpBuilder builder(&op);
    op.getResult(0).replaceAllUsesWith(buildDifference(formula, builder, op.getLoc(), terms));
    op.erase();
    isChanged = true;
  }
  // Their maps were read through.
  for (int i = mayDrop.find_last(); i >= 0; i = mayDrop.find_prev(i))
    if (formula.region->getArgument(i).use_empty())
      formula.dropArgument(i);
  return isChanged;
}

class SplitRunningSums : public taylor::impl::SplitRunningSumsPassBase<SplitRunningSums> {
  void runOnOperation() override { numSplit += RunningSums(getOperation().getBody().front()).split(); }
};

} // namespace

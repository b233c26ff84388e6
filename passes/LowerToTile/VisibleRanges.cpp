// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/VisibleRanges.h"
#include "passes/Specification/DocumentMask.h"
#include "passes/Specification/MaskConditions.h"

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace taylor;

using Condition = VisibleRanges::Condition;

namespace {

/// Index arithmetic with the constants written as numbers.
struct IndexMath {
  OpBuilder &builder;
  Location loc;
  Value number(int64_t n) const { return arith::ConstantIndexOp::create(builder, loc, n); }
  Value add(Value a, Value b) const { return arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) const { return arith::SubIOp::create(builder, loc, a, b); }
  Value min(Value a, Value b) const { return arith::MinSIOp::create(builder, loc, a, b); }
  Value max(Value a, Value b) const { return arith::MaxSIOp::create(builder, loc, a, b); }
  Value times(Value a, int64_t n) const {
    return n == 1 ? a : Value(arith::MulIOp::create(builder, loc, a, number(n)));
  }
  Value select(Value condition, Value a, Value b) const {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value isAtMost(Value a, Value b) const {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, a, b);
  }
  Value plus(Value a, int64_t n) const { return n == 0 ? a : add(a, number(n)); }
  Value floorDiv(Value a, int64_t n) const {
    return n == 1 ? a : Value(arith::FloorDivSIOp::create(builder, loc, a, number(n)));
  }
  Value ceilDiv(Value a, int64_t n) const {
    return n == 1 ? a : Value(arith::CeilDivSIOp::create(builder, loc, a, number(n)));
  }
};

/// What a condition says of an axis x, for a block of the other axis y.
struct Solver {
  IndexMath math;
  /// The block of y, and all there is of x.
  Value first, last, low, high;
  bool forKeys, causal;
  VisibleRanges::Lookup lookup;

  VisibleRange everything() const {
    return {low,
            low,
            high,
            high,
            /*fullFromStart=*/true,
            /*neverFull=*/false,
            /*fromFirst=*/true,
            /*toLast=*/true};
  }
  /// In no order; they may overlap.
  VisibleRangeList solve(const Condition &condition) const;
  VisibleRange solveAffine(const Condition &condition) const;
  VisibleRange solveDocument(const Condition &condition) const;
  VisibleRange both(const VisibleRange &a, const VisibleRange &b) const;
  VisibleRangeList both(VisibleRangeList a, VisibleRangeList b) const;
  VisibleRange around(const VisibleRange &a, const VisibleRange &b) const;
  VisibleRange around(ArrayRef<VisibleRange> ranges) const;
  bool areOne(const VisibleRange &a, const VisibleRange &b) const;
  VisibleRangeList either(VisibleRangeList a, ArrayRef<VisibleRange> b) const;
};

/// Ranges of a list; more become one around several.
constexpr size_t kMostRanges = 4;

VisibleRange Solver::both(const VisibleRange &a, const VisibleRange &b) const {
  auto max = [&](Value x, Value y) { return x == low || x == y ? y : y == low ? x : math.max(x, y); };
  auto min = [&](Value x, Value y) { return x == high || x == y ? y : y == high ? x : math.min(x, y); };
  return {max(a.begin, b.begin),
          max(a.fullBegin, b.fullBegin),
          min(a.fullEnd, b.fullEnd),
          min(a.end, b.end),
          a.fullFromStart && b.fullFromStart,
          a.neverFull || b.neverFull,
          a.fromFirst && b.fromFirst,
          a.toLast && b.toLast};
}

VisibleRangeList Solver::both(VisibleRangeList a, VisibleRangeList b) const {
  if (a.size() * b.size() > kMostRanges)
    (a.size() > b.size() ? a : b) = {around(a.size() > b.size() ? a : b)};
  VisibleRangeList ranges;
  for (const VisibleRange &ofA : a)
    for (const VisibleRange &ofB : b)
      ranges.push_back(both(ofA, ofB));
  return ranges;
}

/// One range around both.
VisibleRange Solver::around(const VisibleRange &a, const VisibleRange &b) const {
  // Where one sees nothing, its bounds mean nothing.
  Value seenByA = math.isAtMost(math.plus(a.begin, 1), a.end),
        seenByB = math.isAtMost(math.plus(b.begin, 1), b.end);
  VisibleRange range = a;
  range.begin = math.min(math.select(seenByA, a.begin, high), math.select(seenByB, b.begin, high));
  range.end = math.max(math.select(seenByA, a.end, low), math.select(seenByB, b.end, low));
  range.neverFull = a.neverFull && b.neverFull;
  range.fromFirst = a.fromFirst && b.fromFirst;
  range.toLast = a.toLast && b.toLast;
  if (a.neverFull) {
    range.fullBegin = b.fullBegin;
    range.fullEnd = b.fullEnd;
    range.fullFromStart = b.fullFromStart;
  } else if (!b.neverFull && a.fullFromStart && b.fullFromStart) {
    range.fullEnd = math.max(a.fullEnd, b.fullEnd);
  } else if (!b.neverFull) {
    Value aLonger = math.isAtMost(math.sub(b.fullEnd, b.fullBegin), math.sub(a.fullEnd, a.fullBegin));
    Value meet = arith::AndIOp::create(math.builder, math.loc, math.isAtMost(a.fullBegin, b.fullEnd),
                                       math.isAtMost(b.fullBegin, a.fullEnd));
    auto choose = [&](Value ofA, Value ofB, Value joined) {
      return math.select(meet, joined, math.select(aLonger, ofA, ofB));
    };
    range.fullBegin = choose(a.fullBegin, b.fullBegin, math.min(a.fullBegin, b.fullBegin));
    range.fullEnd = choose(a.fullEnd, b.fullEnd, math.max(a.fullEnd, b.fullEnd));
    range.fullFromStart = false;
  }
  return range;
}

VisibleRange Solver::around(ArrayRef<VisibleRange> ranges) const {
  VisibleRange all = ranges.front();
  for (const VisibleRange &range : ranges.drop_front())
    all = around(all, range);
  return all;
}

/// Whether it is known that nothing lies between the two.
bool Solver::areOne(const VisibleRange &a, const VisibleRange &b) const {
  auto isAllOrNothing = [](const VisibleRange &range) { return range.fromFirst && range.toLast; };
  return isAllOrNothing(a) || isAllOrNothing(b) || (a.fromFirst && b.fromFirst) || (a.toLast && b.toLast);
}

VisibleRangeList Solver::either(VisibleRangeList a, ArrayRef<VisibleRange> b) const {
  for (const VisibleRange &range : b) {
    auto one = llvm::find_if(a, [&](const VisibleRange &other) { return areOne(other, range); });
    if (one == a.end() && a.size() == kMostRanges)
      --one;
    if (one == a.end())
      a.push_back(range);
    else
      *one = around(*one, range);
  }
  return a;
}

/// Documents stand one after the other: those of the block reach from the first one's start to the last
/// one's end, and all of the block see what is between the last one's start and the first one's end.
VisibleRange Solver::solveDocument(const Condition &condition) const {
  VisibleRange range = everything();
  range.begin = math.max(low, lookup(condition.starts, first));
  range.fullBegin = math.max(low, lookup(condition.starts, last));
  range.fullFromStart = range.fromFirst = false;
  if (condition.ends) {
    range.toLast = false;
    range.fullEnd = math.min(high, lookup(condition.ends, first));
    range.end = math.min(high, lookup(condition.ends, last));
  } else if (!forKeys || !causal) {
    // Where no query sees a later key, those from the last one's start to the first query are of one
    // document.
    range.neverFull = true;
  }
  return range;
}

VisibleRangeList Solver::solve(const Condition &condition) const {
  switch (condition.kind) {
  case Condition::Kind::affine:
    return {solveAffine(condition)};
  case Condition::Kind::document:
    return {solveDocument(condition)};
  case Condition::Kind::unknown: {
    VisibleRange range = everything();
    range.neverFull = true;
    return {range};
  }
  case Condition::Kind::all: {
    VisibleRangeList ranges = {everything()};
    for (const Condition &part : condition.parts)
      ranges = both(ranges, solve(part));
    return ranges;
  }
  case Condition::Kind::any: {
    VisibleRangeList ranges = solve(condition.parts.front());
    for (const Condition &part : ArrayRef(condition.parts).drop_front())
      ranges = either(ranges, solve(part));
    return ranges;
  }
  }
  llvm_unreachable("a kind of condition");
}

VisibleRange Solver::solveAffine(const Condition &condition) const {
  VisibleRange range = everything();
  // a y + b x <= kappa
  int64_t a = forKeys ? condition.alpha : condition.beta, b = forKeys ? condition.beta : condition.alpha;
  Value kappa = math.number(condition.kappa);
  Value least = math.number(0), most = least; // of a y over the block
  if (a != 0) {
    least = math.times(a > 0 ? first : last, a);
    most = math.times(a > 0 ? last : first, a);
  }
  if (b == 0) {
    range.fullEnd = math.select(math.isAtMost(most, kappa), high, low);
    range.end = math.select(math.isAtMost(least, kappa), high, low);
  } else if (b > 0) {
    // x <= (kappa - a y) / b
    range.toLast = false;
    range.fullEnd = math.min(high, math.plus(math.floorDiv(math.sub(kappa, most), b), 1));
    range.end = math.min(high, math.plus(math.floorDiv(math.sub(kappa, least), b), 1));
  } else {
    // x >= (a y - kappa) / -b
    range.begin = math.max(low, math.ceilDiv(math.sub(least, kappa), -b));
    range.fullBegin = math.max(low, math.ceilDiv(math.sub(most, kappa), -b));
    range.fullFromStart = range.fromFirst = false;
  }
  return range;
}

/// Sorts ranges by where they begin, empty ones last, and makes one of two that meet. All have the same
/// `fullFromStart` and `neverFull` then. Empty ones lie at `solver.high`.
void sortAndJoin(VisibleRangeList &ranges, const Solver &solver) {
  const IndexMath &math = solver.math;
  bool neverFull = llvm::all_of(ranges, [](const VisibleRange &range) { return range.neverFull; });
  auto choose = [&](Value condition, const VisibleRange &a, const VisibleRange &b) {
    return VisibleRange{math.select(condition, a.begin, b.begin),
                        math.select(condition, a.fullBegin, b.fullBegin),
                        math.select(condition, a.fullEnd, b.fullEnd),
                        math.select(condition, a.end, b.end),
                        /*fullFromStart=*/false,
                        neverFull};
  };
  for (VisibleRange &range : ranges) {
    if (range.neverFull)
      range.fullBegin = range.fullEnd = range.begin;
    range = choose(math.isAtMost(range.end, range.begin),
                   {solver.high, solver.high, solver.high, solver.high}, range);
  }
  for (size_t sorted = ranges.size() - 1; sorted > 0; --sorted)
    for (size_t i = 0; i < sorted; ++i) {
      Value inOrder = math.isAtMost(ranges[i].begin, ranges[i + 1].begin);
      VisibleRange before = choose(inOrder, ranges[i], ranges[i + 1]);
      ranges[i + 1] = choose(inOrder, ranges[i + 1], ranges[i]);
      ranges[i] = before;
    }
  for (size_t i = 0; i + 1 < ranges.size(); ++i) {
    VisibleRange &range = ranges[i], &next = ranges[i + 1];
    Value apart = math.isAtMost(math.plus(range.end, 1), next.begin);
    VisibleRange nothing{range.begin, range.begin, range.begin, range.begin},
        joined = solver.around(range, next);
    next = choose(apart, next, joined);
    range = choose(apart, range, nothing);
  }
}

Condition conditionOf(PairwiseOp pairs, Value value) {
  if (matchPattern(value, m_One()))
    return Condition{Condition::Kind::all};
  std::optional<DocumentCondition> same = readDocuments(pairs, value);
  if (same && boundRanges(same->keys)) {
    Condition document{Condition::Kind::document};
    document.starts = same->keys;
    document.ends = findEnds(pairs, same->keys);
    document.rowStarts = same->queries;
    for (Value array : pairs.getArrays())
      if (auto align = array.getDefiningOp<AlignOp>(); align && align.getArray() == document.ends)
        document.rowEnds = align;
    return document;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
    Condition joined{isa<arith::AndIOp>(op) ? Condition::Kind::all : Condition::Kind::any};
    joined.parts = {conditionOf(pairs, op->getOperand(0)), conditionOf(pairs, op->getOperand(1))};
    return joined;
  }
  auto compare = dyn_cast_if_present<arith::CmpFOp>(op);
  auto positions = compare ? readPositions(compare) : std::nullopt;
  if (!positions)
    return Condition{Condition::Kind::unknown};
  Condition all{Condition::Kind::all};
  for (const PositionCondition &position : *positions)
    all.parts.push_back({Condition::Kind::affine, position.query, position.key, position.bound});
  return all;
}

/// Appends what holds together as single conditions.
void flatten(const Condition &condition, SmallVectorImpl<Condition> &conditions) {
  if (condition.kind != Condition::Kind::all)
    return conditions.push_back(condition);
  for (const Condition &part : condition.parts)
    flatten(part, conditions);
}

} // namespace

VisibleRanges::VisibleRanges(PairwiseOp op) : chunk(op.getChunk()) {
  if (op.getVisible().empty())
    return;
  for (Value condition : op.getVisible().front().getTerminator()->getOperands())
    flatten(conditionOf(op, condition), conditions);
  causal = llvm::any_of(conditions, [](const Condition &c) {
    return c.kind == Condition::Kind::affine && c.alpha == -1 && c.beta == 1 && c.kappa <= 0;
  });
}

void VisibleRanges::endAtChunks(VisibleRange &range, OpBuilder &builder, Location loc, Value first,
                                Value last, bool forKeys) const {
  IndexMath math{builder, loc};
  Value offset = tile::SizeOp::create(builder, loc, builder.getIndexType(), tile::kOffset);
  if (forKeys) {
    // In positions: the chunk of the first query begins there.
    Value begin = math.add(offset, math.times(math.floorDiv(math.sub(first, offset), chunk), chunk));
    for (Value *bound : {&range.begin, &range.fullBegin})
      *bound = math.max(*bound, begin);
    if (!causal)
      for (Value *bound : {&range.fullEnd, &range.end})
        *bound = math.min(*bound, math.plus(begin, chunk));
    return;
  }
  Value zero = math.number(0), edge = chunkOf(builder, loc, last);
  Value end = math.max(math.plus(math.sub(edge, offset), chunk), zero);
  for (Value *bound : {&range.fullEnd, &range.end})
    *bound = math.min(*bound, end);
  if (!causal) {
    Value begin = math.max(math.sub(chunkOf(builder, loc, first), offset), zero);
    for (Value *bound : {&range.begin, &range.fullBegin})
      *bound = math.max(*bound, begin);
  }
  // Across two chunks no tile is full.
  Value within = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, first, edge);
  range.fullEnd = arith::SelectOp::create(builder, loc, within, range.fullEnd, zero);
}

VisibleRangeList VisibleRanges::solve(OpBuilder &builder, Location loc, Value first, Value last, bool forKeys,
                                      Lookup lookup, int64_t step) const {
  IndexMath math{builder, loc};
  Value zero = math.number(0);
  Value size = tile::SizeOp::create(builder, loc, builder.getIndexType(),
                                    nameOf(forKeys ? AxisRole::Key : AxisRole::Query));
  Value low = zero, high = size;
  if (!forKeys) {
    Value offset = tile::SizeOp::create(builder, loc, builder.getIndexType(), tile::kOffset);
    low = offset;
    high = math.add(offset, size);
  }
  Solver solver{math, first, last, low, high, forKeys, causal, lookup};
  VisibleRangeList ranges = {solver.everything()};
  for (const Condition &condition : conditions)
    ranges = solver.both(ranges, solver.solve(condition));
  for (VisibleRange &range : ranges) {
    if (!forKeys)
      for (Value *bound : {&range.begin, &range.fullBegin, &range.fullEnd, &range.end})
        *bound = math.sub(*bound, low);
    if (chunk)
      endAtChunks(range, builder, loc, first, last, forKeys);
    // Of two chunks in a block the mask knows one edge: a tile must not reach into the one before both.
    if (step > 1 && chunk % step == 0)
      range.begin = math.times(math.floorDiv(range.begin, step), step);
    range.end = math.max(range.end, range.begin);
  }
  if (ranges.size() > 1) {
    // Empty ones begin at a multiple of `step`, too.
    solver.low = zero;
    solver.high = math.times(math.ceilDiv(size, step), step);
    sortAndJoin(ranges, solver);
    for (VisibleRange &range : ranges)
      range.end = math.min(range.end, size);
  }
  return ranges;
}

VisibleRangeList VisibleRanges::keysOf(OpBuilder &builder, Location loc, Value first, Value last,
                                       Lookup lookup) const {
  return solve(builder, loc, first, last, /*forKeys=*/true, lookup);
}

VisibleRangeList VisibleRanges::queriesOf(OpBuilder &builder, Location loc, Value first, Value last,
                                          Lookup lookup, int64_t step) const {
  return solve(builder, loc, first, last, /*forKeys=*/false, lookup, step);
}

Value VisibleRanges::chunkOf(OpBuilder &builder, Location loc, Value position) const {
  if (!chunk)
    return {};
  IndexMath math{builder, loc};
  Value offset = tile::SizeOp::create(builder, loc, builder.getIndexType(), tile::kOffset);
  Value number = math.max(math.floorDiv(math.sub(position, offset), chunk), math.number(-1));
  return math.add(offset, math.times(number, chunk));
}

/// Whether a condition may hold for some pair of the lags least .. most; null: it may for any.
static Value mayHoldAtLags(const IndexMath &math, const Condition &condition, Value least, Value most) {
  if (condition.kind == Condition::Kind::affine && condition.alpha + condition.beta == 0) {
    // alpha (p - u) <= kappa
    Value smallest = math.times(condition.alpha > 0 ? least : most, condition.alpha);
    return math.isAtMost(smallest, math.number(condition.kappa));
  }
  bool isAny = condition.kind == Condition::Kind::any;
  if (!isAny && condition.kind != Condition::Kind::all)
    return {};
  Value joined;
  for (const Condition &part : condition.parts) {
    Value holds = mayHoldAtLags(math, part, least, most);
    if (!holds && isAny)
      return {};
    if (!joined || !holds)
      joined = joined ? joined : holds;
    else if (isAny)
      joined = arith::OrIOp::create(math.builder, math.loc, joined, holds);
    else
      joined = arith::AndIOp::create(math.builder, math.loc, joined, holds);
  }
  return joined;
}

Value VisibleRanges::mayHold(OpBuilder &builder, Location loc, Value least, Value most) const {
  Condition all{Condition::Kind::all};
  all.parts.assign(conditions.begin(), conditions.end());
  return mayHoldAtLags({builder, loc}, all, least, most);
}

bool VisibleRanges::canCount() const {
  return llvm::all_of(conditions, [&](const Condition &c) {
    return (c.kind == Condition::Kind::affine && (c.beta == 1 || c.beta == -1)) ||
           c.kind == Condition::Kind::document;
  });
}

std::pair<Value, Value> VisibleRanges::intervalOf(OpBuilder &builder, Location loc, Value p,
                                                  Value keys) const {
  IndexMath math{builder, loc};
  Value low = math.number(0), high = keys;
  for (const Condition &condition : conditions) {
    if (condition.kind != Condition::Kind::affine)
      continue;
    Value bound = math.sub(math.number(condition.kappa), math.times(p, condition.alpha));
    if (condition.beta > 0)
      high = math.min(high, math.plus(bound, 1));
    else
      low = math.max(low, math.sub(math.number(0), bound));
  }
  return {low, high};
}

SmallVector<Value> VisibleRanges::arraysOf(Value Condition::*array,
                                           function_ref<bool(const Condition &)> suits) const {
  SmallVector<Value> arrays;
  for (const Condition &condition : conditions)
    if (condition.*array && suits(condition))
      arrays.push_back(condition.*array);
  return arrays;
}

SmallVector<Value> VisibleRanges::startsWithoutEnds(bool forQueries) const {
  return arraysOf(&Condition::starts,
                  [&](const Condition &document) { return !document.ends && (forQueries || !causal); });
}

SmallVector<Value> VisibleRanges::rowStarts() const {
  return arraysOf(&Condition::rowStarts, [](const Condition &) { return true; });
}

SmallVector<Value> VisibleRanges::rowEnds() const {
  return arraysOf(&Condition::rowEnds, [&](const Condition &) { return !causal; });
}

SmallVector<Value> VisibleRanges::endsWithoutRows() const {
  return arraysOf(&Condition::ends, [&](const Condition &document) { return !document.rowEnds && !causal; });
}

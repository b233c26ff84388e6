// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/VisibleRanges.h"

#include "dialect/Tile/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace taylor;

namespace {

/// alpha p + beta u + constant
struct Linear {
  double alpha = 0, beta = 0, constant = 0;
  Linear plus(const Linear &other, double factor) const {
    return {alpha + factor * other.alpha, beta + factor * other.beta, constant + factor * other.constant};
  }
  Linear times(double factor) const { return {factor * alpha, factor * beta, factor * constant}; }
  bool isConstant() const { return alpha == 0 && beta == 0; }
};

std::optional<Linear> linearOf(Value value) {
  APFloat number(0.0);
  if (matchPattern(value, m_ConstantFloat(&number)))
    return Linear{0, 0, number.convertToDouble()};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto index = dyn_cast<IndexOp>(op)) {
    if (index.getAxis() == "t")
      return Linear{1, 0, 0};
    if (index.getAxis() == "u")
      return Linear{0, 1, 0};
    return std::nullopt;
  }
  SmallVector<Linear> operands;
  for (Value operand : op->getOperands()) {
    auto linear = linearOf(operand);
    if (!linear)
      return std::nullopt;
    operands.push_back(*linear);
  }
  if (isa<arith::AddFOp>(op))
    return operands[0].plus(operands[1], 1);
  if (isa<arith::SubFOp>(op))
    return operands[0].plus(operands[1], -1);
  if (isa<arith::NegFOp>(op))
    return operands[0].times(-1);
  if (isa<arith::MulFOp>(op) && operands[0].isConstant())
    return operands[1].times(operands[0].constant);
  if (isa<arith::MulFOp>(op) && operands[1].isConstant())
    return operands[0].times(operands[1].constant);
  return std::nullopt;
}

bool isSmallInteger(double x) { return x == std::floor(x) && std::abs(x) < 1e6; }

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
  Value plus(Value a, int64_t n) const { return n == 0 ? a : add(a, number(n)); }
  Value floorDiv(Value a, int64_t n) const {
    return n == 1 ? a : Value(arith::FloorDivSIOp::create(builder, loc, a, number(n)));
  }
  Value ceilDiv(Value a, int64_t n) const {
    return n == 1 ? a : Value(arith::CeilDivSIOp::create(builder, loc, a, number(n)));
  }
};

} // namespace

VisibleRanges::VisibleRanges(PairwiseOp op) : chunk(op.getChunk()) {
  if (op.getVisible().empty())
    return;
  for (Value condition : op.getVisible().front().getTerminator()->getOperands())
    collect(condition);
}

void VisibleRanges::collect(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
    collect(both.getLhs());
    collect(both.getRhs());
    return;
  }
  if (matchPattern(condition, m_One()))
    return;
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  std::optional<Linear> lhs, rhs;
  if (compare) {
    lhs = linearOf(compare.getLhs());
    rhs = linearOf(compare.getRhs());
  }
  if (!lhs || !rhs) {
    exact = false;
    return;
  }
  // lhs - rhs + constant REL 0
  Linear difference = lhs->plus(*rhs, -1);
  auto add = [&](Linear form, bool strict) {
    if (!isSmallInteger(form.alpha) || !isSmallInteger(form.beta) || form.isConstant()) {
      exact = false;
      return;
    }
    double bound = strict ? std::ceil(-form.constant) - 1 : std::floor(-form.constant);
    if (!(std::abs(bound) < 1e15)) {
      exact = false;
      return;
    }
    conditions.push_back({int64_t(form.alpha), int64_t(form.beta), int64_t(bound)});
  };
  switch (compare.getPredicate()) {
  case arith::CmpFPredicate::OLE:
  case arith::CmpFPredicate::ULE:
    add(difference, false);
    break;
  case arith::CmpFPredicate::OLT:
  case arith::CmpFPredicate::ULT:
    add(difference, true);
    break;
  case arith::CmpFPredicate::OGE:
  case arith::CmpFPredicate::UGE:
    add(difference.times(-1), false);
    break;
  case arith::CmpFPredicate::OGT:
  case arith::CmpFPredicate::UGT:
    add(difference.times(-1), true);
    break;
  case arith::CmpFPredicate::OEQ:
  case arith::CmpFPredicate::UEQ:
    add(difference, false);
    add(difference.times(-1), false);
    break;
  default:
    exact = false;
  }
}

VisibleRange VisibleRanges::solve(OpBuilder &builder, Location loc, Value first, Value last,
                                  bool forKeys) const {
  IndexMath math{builder, loc};
  // x is the axis solved for, y the one whose block is given: a y + b x <= kappa.
  Value zero = math.number(0);
  Value size = tile::SizeOp::create(builder, loc, builder.getIndexType(), forKeys ? "u" : "t");
  Value low = zero, high = size;
  if (!forKeys) {
    Value offset = tile::SizeOp::create(builder, loc, builder.getIndexType(), "offset");
    low = offset;
    high = math.add(offset, size);
  }
  VisibleRange range{low, low, high, high};
  range.neverFull = !exact;
  for (const Condition &condition : conditions) {
    int64_t a = forKeys ? condition.alpha : condition.beta, b = forKeys ? condition.beta : condition.alpha;
    if (b == 0) {
      range.neverFull = true;
      continue;
    }
    Value least = zero, most = zero; // of a y over the block
    if (a != 0) {
      least = math.times(a > 0 ? first : last, a);
      most = math.times(a > 0 ? last : first, a);
    }
    Value kappa = math.number(condition.kappa);
    if (b > 0) {
      // x <= (kappa - a y) / b
      range.end = math.min(range.end, math.plus(math.floorDiv(math.sub(kappa, least), b), 1));
      range.fullEnd = math.min(range.fullEnd, math.plus(math.floorDiv(math.sub(kappa, most), b), 1));
    } else {
      // x >= (a y - kappa) / -b
      range.begin = math.max(range.begin, math.ceilDiv(math.sub(least, kappa), -b));
      range.fullBegin = math.max(range.fullBegin, math.ceilDiv(math.sub(most, kappa), -b));
      range.fullFromStart = false;
    }
  }
  if (!forKeys)
    for (Value *bound : {&range.begin, &range.fullBegin, &range.fullEnd, &range.end})
      *bound = math.sub(*bound, low);
  if (chunk && forKeys) {
    // In positions: the chunk of the first query begins there.
    Value offset = tile::SizeOp::create(builder, loc, builder.getIndexType(), "offset");
    Value begin = math.add(offset, math.times(math.floorDiv(math.sub(first, offset), chunk), chunk));
    for (Value *bound : {&range.begin, &range.fullBegin})
      *bound = math.max(*bound, begin);
  } else if (chunk) {
    Value offset = tile::SizeOp::create(builder, loc, builder.getIndexType(), "offset");
    Value edge = chunkOf(builder, loc, last);
    Value end = math.max(math.plus(math.sub(edge, offset), chunk), zero);
    for (Value *bound : {&range.fullEnd, &range.end})
      *bound = math.min(*bound, end);
    // Across two chunks no tile is full.
    Value within = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, first, edge);
    range.fullEnd = arith::SelectOp::create(builder, loc, within, range.fullEnd, zero);
  }
  range.end = math.max(range.end, range.begin);
  return range;
}

VisibleRange VisibleRanges::keysOf(OpBuilder &builder, Location loc, Value first, Value last) const {
  return solve(builder, loc, first, last, /*forKeys=*/true);
}

VisibleRange VisibleRanges::queriesOf(OpBuilder &builder, Location loc, Value first, Value last) const {
  return solve(builder, loc, first, last, /*forKeys=*/false);
}

Value VisibleRanges::chunkOf(OpBuilder &builder, Location loc, Value last) const {
  if (!chunk)
    return {};
  IndexMath math{builder, loc};
  Value offset = tile::SizeOp::create(builder, loc, builder.getIndexType(), "offset");
  Value number = math.max(math.floorDiv(math.sub(last, offset), chunk), math.number(-1));
  return math.add(offset, math.times(number, chunk));
}

bool VisibleRanges::canCount() const {
  return exact && llvm::all_of(conditions, [](const Condition &c) { return c.beta == 1 || c.beta == -1; });
}

Value VisibleRanges::countOf(OpBuilder &builder, Location loc, Value p, Value keys) const {
  IndexMath math{builder, loc};
  Value low = math.number(0), high = keys;
  for (const Condition &condition : conditions) {
    Value bound = math.sub(math.number(condition.kappa), math.times(p, condition.alpha));
    if (condition.beta > 0)
      high = math.min(high, math.plus(bound, 1));
    else
      low = math.max(low, math.sub(math.number(0), bound));
  }
  return math.max(math.number(0), math.sub(high, low));
}

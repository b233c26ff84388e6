// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Specification/MaskConditions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace taylor;

//===----------------------------------------------------------------------===//
// One comparison
//===----------------------------------------------------------------------===//

namespace {

/// query p + key u + constant
struct LinearPosition {
  double query = 0, key = 0, constant = 0;
  LinearPosition plus(const LinearPosition &other, double factor) const {
    return {query + factor * other.query, key + factor * other.key, constant + factor * other.constant};
  }
  LinearPosition over(double divisor) const { return {query / divisor, key / divisor, constant / divisor}; }
  LinearPosition times(double factor) const { return {factor * query, factor * key, factor * constant}; }
  bool isConstant() const { return query == 0 && key == 0; }
};

std::optional<LinearPosition> linearOf(Value value) {
  APFloat number(0.0);
  if (matchPattern(value, m_ConstantFloat(&number)))
    return LinearPosition{0, 0, number.convertToDouble()};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto index = dyn_cast<IndexOp>(op)) {
    if (index.getAxis() == AxisRole::Query)
      return LinearPosition{1, 0, 0};
    if (index.getAxis() == AxisRole::Key)
      return LinearPosition{0, 1, 0};
    return std::nullopt;
  }
  SmallVector<LinearPosition> operands;
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
  if (isa<arith::DivFOp>(op) && operands[1].isConstant() && operands[1].constant != 0)
    return operands[0].over(operands[1].constant);
  if (isa<arith::MulFOp>(op) && operands[1].isConstant())
    return operands[0].times(operands[1].constant);
  return std::nullopt;
}

bool isSmallInteger(double x) { return x == std::floor(x) && std::abs(x) < 1e6; }

/// form <= 0, or form < 0.
std::optional<PositionCondition> below(const LinearPosition &form, bool strict) {
  double bound = strict ? std::ceil(-form.constant) - 1 : std::floor(-form.constant);
  if (!isSmallInteger(form.query) || !isSmallInteger(form.key) || !(std::abs(bound) < 1e15))
    return std::nullopt;
  return PositionCondition{int64_t(form.query), int64_t(form.key), int64_t(bound)};
}

} // namespace

bool taylor::comparesPlaces(Value condition, arith::CmpFPredicate predicate, AxisRef left, AxisRef right) {
  auto isPlace = [](Value scalar, AxisRef axis) {
    auto index = scalar.getDefiningOp<IndexOp>();
    return index && index.getAxis() == axis;
  };
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  return compare && compare.getPredicate() == predicate && isPlace(compare.getLhs(), left) &&
         isPlace(compare.getRhs(), right);
}

std::optional<SmallVector<PositionCondition, 2>> taylor::readPositions(arith::CmpFOp compare) {
  using Predicate = arith::CmpFPredicate;
  Predicate predicate = compare.getPredicate();
  bool isBelow =
           llvm::is_contained({Predicate::OLE, Predicate::ULE, Predicate::OLT, Predicate::ULT}, predicate),
       isAbove =
           llvm::is_contained({Predicate::OGE, Predicate::UGE, Predicate::OGT, Predicate::UGT}, predicate),
       isEqual = predicate == Predicate::OEQ || predicate == Predicate::UEQ,
       strict =
           llvm::is_contained({Predicate::OLT, Predicate::ULT, Predicate::OGT, Predicate::UGT}, predicate);
  if (!isBelow && !isAbove && !isEqual)
    return std::nullopt;
  // least <= most; where they are equal, most <= least too; of |x| <= most, -x <= most too.
  Value least = compare.getLhs(), most = compare.getRhs();
  if (isAbove)
    std::swap(least, most);
  auto absolute = least.getDefiningOp<math::AbsFOp>();
  bool isAbsolute = absolute && !isEqual;
  std::optional<LinearPosition> left = linearOf(isAbsolute ? absolute.getOperand() : least),
                                right = linearOf(most);
  if (!left || !right)
    return std::nullopt;
  SmallVector<std::optional<PositionCondition>, 2> all{below(left->plus(*right, -1), strict)};
  if (isEqual)
    all.push_back(below(right->plus(*left, -1), /*strict=*/false));
  if (isAbsolute)
    all.push_back(below(left->times(-1).plus(*right, -1), strict));
  if (llvm::is_contained(all, std::nullopt))
    return std::nullopt;
  return llvm::map_to_vector<2>(all, [](const auto &condition) { return *condition; });
}

//===----------------------------------------------------------------------===//
// A whole mask
//===----------------------------------------------------------------------===//

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Interval {
  double low = -kInfinity, high = kInfinity;
  bool isEmpty() const { return low > high; }
  Interval with(const Interval &other) const {
    return {std::max(low, other.low), std::min(high, other.high)};
  }
  Interval around(const Interval &other) const {
    return {std::min(low, other.low), std::max(high, other.high)};
  }
};

/// Where pairs may be that are seen: the query's position, the key's, and the query's less the key's.
struct Pairs {
  Interval query, key, distance;

  bool isEmpty() const {
    Interval reached{key.low + distance.low, key.high + distance.high};
    return query.isEmpty() || key.isEmpty() || distance.isEmpty() || query.with(reached).isEmpty();
  }
  Pairs with(const Pairs &other) const {
    return {query.with(other.query), key.with(other.key), distance.with(other.distance)};
  }
  Pairs around(const Pairs &other) const {
    if (isEmpty() || other.isEmpty())
      return isEmpty() ? other : *this;
    return {query.around(other.query), key.around(other.key), distance.around(other.distance)};
  }
};

/// factor x <= bound, for integers x.
Interval solve(int64_t factor, int64_t bound) {
  double quotient = double(bound) / double(factor);
  return factor > 0 ? Interval{-kInfinity, std::floor(quotient)} : Interval{std::ceil(quotient), kInfinity};
}

Pairs pairsOf(const PositionCondition &condition) {
  Pairs pairs;
  auto [query, key, bound] = condition;
  if (query == 0 && key == 0 && bound < 0)
    pairs.key = {kInfinity, -kInfinity};
  else if (query == 0 && key != 0)
    pairs.key = solve(key, bound);
  else if (query != 0 && key == 0)
    pairs.query = solve(query, bound);
  else if (query != 0 && query == -key)
    pairs.distance = solve(query, bound);
  return pairs;
}

/// Of `pairs`, those of which the condition may hold.
Pairs narrow(Pairs pairs, Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return narrow(narrow(pairs, both.getLhs()), both.getRhs());
  if (auto either = condition.getDefiningOp<arith::OrIOp>())
    return narrow(pairs, either.getLhs()).around(narrow(pairs, either.getRhs()));
  if (matchPattern(condition, m_Zero()))
    pairs.key = {kInfinity, -kInfinity};
  auto compare = condition.getDefiningOp<arith::CmpFOp>();
  if (auto positions = compare ? readPositions(compare) : std::nullopt)
    for (const PositionCondition &position : *positions)
      pairs = pairs.with(pairsOf(position));
  return pairs;
}

} // namespace

bool taylor::hideEveryPair(ValueRange conditions, bool causal) {
  Pairs pairs;
  pairs.key.low = 0;
  if (causal)
    pairs.distance.low = 0;
  // What holds of all pairs by a later condition decides which side of an earlier or(..) is left.
  for (int round = 0; round < 2; ++round)
    for (Value condition : conditions)
      pairs = narrow(pairs, condition);
  return pairs.isEmpty();
}

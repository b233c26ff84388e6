// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A factor per row of an operand moves into the weights, into their exponential where there is one. Passes.td
// has the rule.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Tile/TileDialect.h"
#include "passes/Algebra/Factors.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Algebra/ScalarRanges.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "taylor-fold-row-factors"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_FOLDROWFACTORSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

bool isOf(std::pair<Value, Value> product, Value array) {
  return product.first == array || product.second == array;
}

/// Powers of the factor a in the scalars of a weight region, if products with x a are replaced by products
/// with x: such a product then lacks a (power 1), each exponential contains it (power -1), and scalars per
/// row may be divided by it.
class FactorPowers {
public:
  FactorPowers(PairwiseOp op, Value array) : op(op), array(array) {}

  /// Whether every output keeps its value.
  bool solve() {
    Operation *yield = op.getWeight().front().getTerminator();
    for (unsigned i : llvm::seq(op.getNumResults()))
      if (!require(yield->getOperand(op.getSum(i).getYielded()), op.getArrayOfSum(i) == array ? -1 : 0))
        return false;
    return !llvm::is_contained(op.getScalars(), array) && !exponentials.empty();
  }

  /// Exponentials to multiply by a.
  llvm::SetVector<Operation *> exponentials;
  /// Scalars per row to divide by this power of a; some are 0.
  llvm::MapVector<Value, int> scalars;

private:
  /// The power of a scalar; none while it is free.
  std::optional<int> powerOf(Value scalar) {
    auto known = powers.find(scalar);
    if (known != powers.end())
      return known->second;
    std::optional<int> power = isa<BlockArgument>(scalar) ? powerOfArgument(cast<BlockArgument>(scalar))
                                                          : powerOfResult(scalar.getDefiningOp());
    if (power)
      powers[scalar] = *power;
    return power;
  }

  std::optional<int> powerOfArgument(BlockArgument argument) {
    int64_t number = argument.getArgNumber();
    if (number < op.getNumProducts())
      return isOf(op.getProduct(number), array);
    auto pinned = scalars.find(argument);
    if (pinned != scalars.end())
      return pinned->second;
    Value row = op.getArrayOf(argument);
    StringRef token = tokenAxis(arrayTypeOf(row));
    return token == AxisRole::Key || token == AxisRole::Lag ? std::optional(0) : std::nullopt;
  }

  std::optional<int> powerOfResult(Operation *scalar) {
    if (matchPattern(scalar, m_Constant()))
      return matchPattern(scalar, m_AnyZeroFloat()) ? std::nullopt : std::optional(0);
    auto x = [&](unsigned i) { return scalar->getOperand(i); };
    if (isa<arith::AddFOp, arith::SubFOp>(scalar))
      return agree(x(0), x(1));
    if (isa<arith::NegFOp>(scalar))
      return powerOf(x(0));
    if (isa<arith::MulFOp, arith::DivFOp>(scalar)) {
      std::optional<int> a = powerOf(x(0)), b = powerOf(x(1));
      if (a == kMixed || b == kMixed)
        return kMixed;
      if (!a || !b)
        return std::nullopt;
      return isa<arith::MulFOp>(scalar) ? *a + *b : *a - *b;
    }
    if (isa<arith::SelectOp>(scalar) && require(x(0), 0))
      return agree(x(1), x(2));
    for (Value operand : scalar->getOperands())
      if (!require(operand, 0))
        return kMixed;
    if (!isa<math::ExpOp>(scalar))
      return 0;
    exponentials.insert(scalar);
    return -1;
  }

  std::optional<int> agree(Value a, Value b) {
    std::optional<int> power = powerOf(a) ? powerOf(a) : powerOf(b);
    if (power && (!require(a, *power) || !require(b, *power)))
      return kMixed;
    return power;
  }

  /// Gives a free scalar this power; false if it has another or cannot have it.
  bool require(Value scalar, int power) {
    if (std::optional<int> known = powerOf(scalar))
      return *known == power;
    if (isa<BlockArgument>(scalar)) {
      scalars[scalar] = power;
      return true;
    }
    Operation *op = scalar.getDefiningOp();
    auto x = [&](unsigned i) { return op->getOperand(i); };
    if (matchPattern(op, m_AnyZeroFloat()))
      return true;
    if (isa<arith::AddFOp, arith::SubFOp>(op))
      return require(x(0), power) && require(x(1), power);
    if (isa<arith::SelectOp>(op))
      return require(x(1), power) && require(x(2), power);
    if (isa<arith::NegFOp>(op))
      return require(x(0), power);
    if (!isa<arith::MulFOp, arith::DivFOp>(op))
      return false;
    bool isProduct = isa<arith::MulFOp>(op);
    if (std::optional<int> b = powerOf(x(1)))
      return require(x(0), isProduct ? power - *b : power + *b);
    if (std::optional<int> a = powerOf(x(0)))
      return require(x(1), isProduct ? power - *a : *a - power);
    return false;
  }

  /// The power of a sum of scalars with different powers; no output may have it.
  static constexpr int kMixed = 1 << 20;

  PairwiseOp op;
  Value array;
  llvm::DenseMap<Value, int> powers;
};

/// Rewrites one operation.
class Fold {
public:
  Fold(PairwiseOp op, Value factor) : builder(op), loc(op.getLoc()), op(op), factor(factor) {}

  void run(Value array, Value x, const FactorPowers &powers) {
    op->replaceUsesOfWith(array, x);
    for (auto [scalar, power] : powers.scalars)
      if (power)
        scalar.replaceAllUsesWith(addScalarOperand(op, divided(arrayOf(scalar), power)));
    for (Operation *exponential : powers.exponentials)
      multiply(cast<math::ExpOp>(exponential));
    dropUnread(op);
  }

private:
  Value arrayOf(Value scalar) { return op.getArrayOf(cast<BlockArgument>(scalar)); }

  /// f(y, a) where the factor is positive, or no number, and `otherwise` where it is 0.
  Value buildGuarded(ValueRange arrays, double otherwise, ScalarBody f) {
    builder.setInsertionPoint(op);
    return buildMap(builder, loc, arrays, {}, [&](OpBuilder &inner, Location at, ValueRange x) -> Value {
      Value zero = buildNumber(inner, at, x.back().getType(), 0.0);
      Value isZero = arith::CmpFOp::create(inner, at, arith::CmpFPredicate::OLE, x.back(), zero);
      return arith::SelectOp::create(inner, at, isZero, buildNumber(inner, at, x.back().getType(), otherwise),
                                     f(inner, at, x));
    });
  }

  Value divided(Value row, int power) {
    return buildGuarded({row, factor}, 0.0, [&](OpBuilder &inner, Location at, ValueRange x) {
      Value value = x[0];
      for (int i = 0; i < std::abs(power); ++i)
        value = power > 0 ? arith::DivFOp::create(inner, at, value, x[1]).getResult()
                          : arith::MulFOp::create(inner, at, value, x[1]).getResult();
      return value;
    });
  }

  /// exp(y) to exp(y + log a); log a joins a scalar per row that is subtracted already, as a maximum is.
  void multiply(math::ExpOp exponential) {
    auto difference = exponential.getOperand().getDefiningOp<arith::SubFOp>();
    auto subtracted = difference ? dyn_cast<BlockArgument>(difference.getRhs()) : BlockArgument();
    bool isRow = subtracted && int64_t(subtracted.getArgNumber()) >= op.getNumProducts() &&
                 (tokenAxis(arrayTypeOf(arrayOf(subtracted))) == AxisRole::Query ||
                  tokenAxis(arrayTypeOf(arrayOf(subtracted))).empty());
    if (isRow) {
      Value both = buildGuarded(
          {arrayOf(subtracted), factor}, kInfinity, [](OpBuilder &inner, Location at, ValueRange x) -> Value {
            return arith::SubFOp::create(inner, at, x[0], math::LogOp::create(inner, at, x[1]));
          });
      Value scalar = addScalarOperand(op, both);
      builder.setInsertionPoint(exponential);
      exponential.getOperandMutable().set(arith::SubFOp::create(builder, loc, difference.getLhs(), scalar));
    } else {
      Value scalar = addScalarOperand(
          op, buildGuarded(factor, -kInfinity, [](OpBuilder &inner, Location at, ValueRange x) -> Value {
            return math::LogOp::create(inner, at, x[0]);
          }));
      builder.setInsertionPoint(exponential);
      exponential.getOperandMutable().set(
          arith::AddFOp::create(builder, loc, exponential.getOperand(), scalar));
    }
    builder.setInsertionPoint(op);
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  OpBuilder builder;
  Location loc;
  PairwiseOp op;
  Value factor;
};

/// Whether the yielded scalars are linear in the inner products with `array`: then a factor of these meets a
/// sum or a product that is there already.
bool isLinear(PairwiseOp op, Value array) {
  Block &weight = op.getWeight().front();
  llvm::SmallDenseSet<Value> linear;
  for (int64_t product = 0; product < op.getNumProducts(); ++product)
    if (isOf(op.getProduct(product), array))
      linear.insert(weight.getArgument(product));
  for (Operation &scalar : weight.without_terminator()) {
    auto in = [&](unsigned i) { return linear.contains(scalar.getOperand(i)); };
    if (llvm::none_of(scalar.getOperands(), [&](Value x) { return linear.contains(x); }))
      continue;
    bool isSum = isa<arith::AddFOp, arith::SubFOp, arith::NegFOp>(scalar);
    bool isProduct = isa<arith::MulFOp>(scalar) && in(0) != in(1);
    bool isQuotient = isa<arith::DivFOp>(scalar) && !in(1);
    bool isChoice = isa<arith::SelectOp>(scalar) && !in(0);
    if (!isSum && !isProduct && !isQuotient && !isChoice)
      return false;
    linear.insert(scalar.getResult(0));
  }
  return true;
}

/// Replaces an operand x a by x for any weights: multiplies the inner products with it by a, and the weights
/// of its sums.
class Multiply {
public:
  Multiply(PairwiseOp op, Value factor) : op(op), factor(factor) {}

  void run(Value array, Value x) {
    Value a = addScalarOperand(op, factor);
    Block &weight = op.getWeight().front();
    for (int64_t product = 0; product < int64_t(op.getNumProducts()); ++product)
      if (isOf(op.getProduct(product), array)) {
        OpBuilder builder = OpBuilder::atBlockBegin(&weight);
        Value inner = weight.getArgument(product);
        auto scaled = arith::MulFOp::create(builder, op.getLoc(), inner, a);
        inner.replaceAllUsesExcept(scaled, scaled);
      }
    multiplyYielded(array, a);
    op->replaceUsesOfWith(array, x);
    dropUnread(op);
  }

private:
  /// Sums that meet the operand get yielded scalars of their own; what no sum has then goes with
  /// `dropUnread`.
  void multiplyYielded(Value array, Value a) {
    Operation *yield = op.getWeight().front().getTerminator();
    SmallVector<Value> yielded(yield->getOperands());
    SmallVector<Attribute> sums(op.getSums().begin(), op.getSums().end());
    OpBuilder builder(yield);
    llvm::SmallDenseMap<int64_t, int64_t> scaled;
    for (auto [i, attribute] : llvm::enumerate(sums)) {
      if (op.getArrayOfSum(i) != array)
        continue;
      PairSumAttr sum = op.getSum(i);
      auto [it, isNew] = scaled.try_emplace(sum.getYielded(), yielded.size());
      if (isNew)
        yielded.push_back(arith::MulFOp::create(builder, op.getLoc(), yielded[sum.getYielded()], a));
      attribute = PairSumAttr::get(op.getContext(), sum.getKind(), it->second, true);
    }
    yield->setOperands(yielded);
    op.setSumsAttr(builder.getArrayAttr(sums));
  }

  PairwiseOp op;
  Value factor;
};

/// Whether the map is x divided by something, and not multiplied: such a factor is 0 in rows without keys
/// alone, so that scalars per row may be divided by it.
bool isQuotient(MapOp map, Value x) {
  Value value = map.getBody().front().getTerminator()->getOperand(0);
  while (auto division = value.getDefiningOp<arith::DivFOp>())
    value = division.getLhs();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && map.getArrays()[argument.getArgNumber()] == x;
}

/// Whether the weights may take another factor: no scalar is divided by it, and weights stay in the range of
/// f16.
bool mayMultiply(Value x, Value factor, const FactorPowers &powers) {
  bool divides = llvm::any_of(powers.scalars, [](auto &scalar) { return scalar.second != 0; });
  return !divides && (!arrayTypeOf(x).getElementType().isF16() || rangeOfArray(factor).high <= 1);
}

struct FoldRowFactors : taylor::impl::FoldRowFactorsPassBase<FoldRowFactors> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOp>())
      if (tile::isPlanned(function, [](const TileSizes &sizes) { return sizes.foldRowFactors; }))
        foldAll(function);
  }

  void foldAll(FunctionOp function) {
    for (PairwiseOp op : llvm::make_early_inc_range(function.getBody().getOps<PairwiseOp>()))
      fold(op);
  }

  void fold(PairwiseOp op) {
    if (op.hasMaximum())
      return; // its weights decide what is subtracted
    for (Value array : op.getArrays()) {
      auto map = array.getDefiningOp<MapOp>();
      Value x = map && arrayTypeOf(array).has(AxisRole::Query) ? findRowFactored(map) : Value();
      if (!x)
        continue;
      OpBuilder builder(map);
      Value factor = buildRowFactor(builder, map, x);
      if (!foldInto(op, array, map, x, factor)) {
        factor.getDefiningOp()->erase();
        continue;
      }
      if (map->use_empty())
        map->erase();
      ++numFolded;
      return;
    }
  }

  static bool foldInto(PairwiseOp op, Value array, MapOp map, Value x, Value factor) {
    FactorPowers powers(op, array);
    // The logarithm of a factor that may be negative is none.
    if (powers.solve() && rangeOfArray(factor).low >= 0 &&
        (isQuotient(map, x) || mayMultiply(x, factor, powers))) {
      LDBG() << map.getLoc() << ": the factor goes into " << powers.exponentials.size() << " exponentials of "
             << op.getLoc();
      Fold(op, factor).run(array, x, powers);
      return true;
    }
    bool isUsedElse = llvm::is_contained(op.getScalars(), array) || !isLinear(op, array);
    bool isInRange = !arrayTypeOf(x).getElementType().isF16() || rangeOfArray(factor).high <= 1;
    if (!powers.exponentials.empty() || isUsedElse || !isInRange) {
      LDBG() << map.getLoc() << ": the factor stays, since "
             << (isUsedElse   ? "the weights are not linear in its products"
                 : !isInRange ? "times weights of f16 it may leave their range"
                              : "the exponentials cannot take it");
      return false;
    }
    LDBG() << map.getLoc() << ": the factor multiplies products and weights of " << op.getLoc();
    Multiply(op, factor).run(array, x);
    return true;
  }
};

} // namespace

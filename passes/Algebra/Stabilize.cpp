// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/RegionDerivative.h"
#include "passes/Algebra/Degrees.h"
#include "passes/Algebra/Exponentials.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "taylor-stabilize"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_STABILIZEPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// expm1(x) of an inner product is exp(x) - 1 where nothing cancels: that exponential can be shifted. Below,
/// it is bounded, as it may be from above already (elu).
void exposeExponentials(PairwiseOp op) {
  constexpr double edge = 1.0, small = 16.0;
  auto isBelow = [&](Value bound) {
    FloatAttr number;
    return matchPattern(bound, m_Constant(&number)) && number.getValueAsDouble() <= small;
  };
  for (auto exp : llvm::make_early_inc_range(op.getWeight().front().getOps<math::ExpM1Op>())) {
    Value x = exp.getOperand();
    auto minimum = x.getDefiningOp<arith::MinimumFOp>();
    bool isBounded = minimum && (isBelow(minimum.getLhs()) || isBelow(minimum.getRhs()));
    // select(c < y, c, y)
    auto choice = x.getDefiningOp<arith::SelectOp>();
    auto compare = choice ? choice.getCondition().getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
    isBounded |= compare && compare.getPredicate() == arith::CmpFPredicate::OLT &&
                 compare.getRhs() == choice.getFalseValue() && isBelow(compare.getLhs()) &&
                 isBelow(choice.getTrueValue());
    if (!readsProduct(op, x) || isBounded)
      continue;
    OpBuilder builder(exp);
    Location loc = exp.getLoc();
    Value limit = buildNumber(builder, loc, x.getType(), edge);
    Value isSmall = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, x, limit);
    Value low = math::ExpM1Op::create(builder, loc, arith::MinimumFOp::create(builder, loc, x, limit));
    Value one = buildNumber(builder, loc, x.getType(), 1.0);
    Value high = arith::SubFOp::create(builder, loc, math::ExpOp::create(builder, loc, x), one);
    exp.replaceAllUsesWith(arith::SelectOp::create(builder, loc, isSmall, low, high).getResult());
    exp.erase();
  }
}

/// The least m where constants take factors e^(-p m). Weights of f16 vanish at e^-17 and below, so a row
/// whose exponents are all there needs an m of its own; e^(2 * 40) is still a factor of f32.
double floorOf(FunctionOp function) {
  bool isHalf = llvm::any_of(function.getBody().getArgumentTypes(),
                             [](Type type) { return cast<ArrayType>(type).getElementType().isF16(); });
  return isHalf ? -40.0 : 0.0;
}

/// Applies what the analysis found.
class Shift {
public:
  Shift(FunctionOp function, DegreeAnalysis &analysis) : function(function), analysis(analysis) {}
  /// The number of exponents that got a maximum.
  unsigned run();

private:
  /// Gives an operation the maximum of its exponents, at least `floor`.
  PairwiseOp replaceProvider(PairwiseOp old, double floor);
  void addMaxima();
  void shareMaxima();
  void shiftSites();
  void applyFactors();
  void simplifyChosenSites();
  void scaleArray(OpOperand &operand, const Degree &by);
  /// m of a leader as a scalar in the region that holds `scalar`.
  Value maximumIn(Operation *scalar, unsigned leader);
  /// The sum of p[k] m_k, of maxima that are scalars of a region. Those of dead rows count as the floor.
  Value sumMaxima(OpBuilder &builder, Location loc, const Degree &degree, bool ofDeadRows,
                  function_ref<Value(unsigned)> maximumOf);
  /// The same in the region that holds `scalar`.
  Value buildExponent(OpBuilder &builder, Operation *scalar, const Degree &degree, bool ofDeadRows = false);

  FunctionOp function;
  DegreeAnalysis &analysis;
  /// Of each leader: the array m, and whether it is that of its only provider.
  DenseMap<unsigned, Value> maxima;
};

PairwiseOp Shift::replaceProvider(PairwiseOp old, double floor) {
  OpBuilder builder(old.getWeight().front().getTerminator());
  Value largest;
  SmallVector<Operation *> maxima; // cloned below, and then unused here
  for (Exponent &exponent : analysis.exponents) {
    if (!exponent.enabled || exponent.provider != old)
      continue;
    Value x = exponent.sites.front().second.getOperand();
    if (!largest) {
      largest = x;
      continue;
    }
    maxima.push_back(arith::MaximumFOp::create(builder, old.getLoc(), largest, x));
    largest = maxima.back()->getResult(0);
  }
  builder.setInsertionPoint(old);
  PairwiseOp provider = addMaximum(builder, old, largest, floor);
  for (Operation *op : llvm::reverse(maxima))
    op->erase();
  for (Exponent &exponent : analysis.exponents) {
    if (exponent.provider == old)
      exponent.provider = provider;
    for (auto &site : exponent.sites)
      if (site.first == old)
        site.first = provider;
  }
  return provider;
}

void Shift::addMaxima() {
  for (auto [k, exponent] : llvm::enumerate(analysis.exponents)) {
    if (!exponent.enabled)
      continue;
    unsigned leader = analysis.leaderOf(k);
    double floor =
        analysis.exponents[leader].floored ? floorOf(function) : -std::numeric_limits<double>::infinity();
    if (exponent.provider.hasMaximum()) // that of another of its exponents
      continue;
    PairwiseOp provider = replaceProvider(exponent.provider, floor);
    OpBuilder builder(provider);
    Value m = provider.getResults().back();
    Value &shared = maxima[leader];
    if (!shared) {
      shared = m;
      continue;
    }
    builder.setInsertionPointAfterValue(m);
    shared = buildMap(builder, m.getLoc(), {shared, m}, {}, [](OpBuilder &b, Location loc, ValueRange x) {
      return arith::MaximumFOp::create(b, loc, x[0], x[1]).getResult();
    });
  }
}

/// Sums with a maximum of their own below the shared one: N' exp(m_own - m).
void Shift::shareMaxima() {
  llvm::SmallPtrSet<Operation *, 4> done;
  for (auto [k, exponent] : llvm::enumerate(analysis.exponents)) {
    if (!exponent.enabled || !done.insert(exponent.provider).second)
      continue;
    Value shared = maxima[analysis.leaderOf(k)], own = exponent.provider.getResults().back();
    if (shared == own)
      continue;
    OpBuilder builder(shared.getContext());
    builder.setInsertionPointAfterValue(shared);
    for (Value result : exponent.provider.getResults().drop_back()) {
      Value scaled = buildMap(
          builder, result.getLoc(), {result, own, shared}, {},
          [](OpBuilder &b, Location loc, ValueRange x) -> Value {
            // Rows without keys have no maximum: the difference of two infinities must not be formed.
            Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x[1], x[2]);
            Value factor = math::ExpOp::create(b, loc, arith::SubFOp::create(b, loc, x[1], x[2]));
            Value one = buildNumber(b, loc, x[1].getType(), 1.0);
            return arith::MulFOp::create(b, loc, x[0], arith::SelectOp::create(b, loc, below, factor, one));
          });
      result.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
    }
  }
}

Value Shift::maximumIn(Operation *scalar, unsigned leader) {
  Value m = maxima[leader];
  Operation *parent = scalar->getParentOp();
  if (auto pairwise = dyn_cast<PairwiseOp>(parent)) {
    // In the operation that finds it, a maximum is the running one.
    for (auto [k, exponent] : llvm::enumerate(analysis.exponents))
      if (exponent.enabled && analysis.leaderOf(k) == leader && exponent.provider == pairwise)
        return pairwise.getWeight().getArguments().back();
    return addScalarOperand(pairwise, m);
  }
  auto addOperand = [&](auto op) -> Value {
    auto it = llvm::find(op.getArrays(), m);
    if (it != op.getArrays().end())
      return op.getBody().getArgument(it - op.getArrays().begin());
    op.getArraysMutable().append(m);
    return op.getBody().addArgument(arrayTypeOf(m).getScalarType(), m.getLoc());
  };
  return isa<MapOp>(parent) ? addOperand(cast<MapOp>(parent)) : addOperand(cast<ReduceOp>(parent));
}

Value Shift::sumMaxima(OpBuilder &builder, Location loc, const Degree &degree, bool ofDeadRows,
                       function_ref<Value(unsigned)> maximumOf) {
  Value sum;
  for (auto [k, p] : llvm::enumerate(degree.p)) {
    if (p == 0.0)
      continue;
    Value m = maximumOf(k);
    Type type = m.getType();
    if (ofDeadRows)
      m = arith::MaximumFOp::create(builder, loc, m, buildNumber(builder, loc, type, floorOf(function)));
    Value term = p == 1.0 ? m
                 : p == -1.0
                     ? arith::NegFOp::create(builder, loc, m).getResult()
                     : arith::MulFOp::create(builder, loc, buildNumber(builder, loc, type, p), m).getResult();
    sum = sum ? arith::AddFOp::create(builder, loc, sum, term).getResult() : term;
  }
  return sum;
}

Value Shift::buildExponent(OpBuilder &builder, Operation *scalar, const Degree &degree, bool ofDeadRows) {
  return sumMaxima(builder, scalar->getLoc(), degree, ofDeadRows,
                   [&](unsigned leader) { return maximumIn(scalar, leader); });
}

void Shift::shiftSites() {
  for (auto [k, exponent] : llvm::enumerate(analysis.exponents)) {
    if (!exponent.enabled)
      continue;
    for (auto [op, exp] : exponent.sites) {
      OpBuilder builder(exp);
      Value m = maximumIn(exp, analysis.leaderOf(k));
      exp.getOperandMutable().set(arith::SubFOp::create(builder, exp.getLoc(), exp.getOperand(), m));
    }
  }
}

/// Of an operation over arrays.
void Shift::scaleArray(OpOperand &operand, const Degree &by) {
  OpBuilder builder(operand.getOwner());
  Value array = operand.get();
  // A token that states leave out, since it is of another document, may see NaN: so is its maximum, then.
  bool addsTokens = isa<StatesOp>(operand.getOwner());
  SmallVector<Value> arrays{array};
  for (auto [k, p] : llvm::enumerate(by.p))
    if (p != 0.0)
      arrays.push_back(maxima[k]);
  operand.set(buildMap(
      builder, array.getLoc(), arrays, {},
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        unsigned next = 1;
        auto maximumOf = [&](unsigned) { return x[next++]; };
        Value sum = sumMaxima(b, loc, by, /*ofDeadRows=*/true, maximumOf);
        Value scaled = arith::MulFOp::create(b, loc, x[0], math::ExpOp::create(b, loc, sum));
        return addsTokens ? buildAsked(b, loc, x[0], scaled) : scaled;
      },
      arrayTypeOf(array)));
}

void Shift::applyFactors() {
  for (auto &[operand, by, ofDeadRows] : analysis.factors) {
    Operation *owner = operand->getOwner();
    if (owner->getParentOp() == function.getOperation()) {
      scaleArray(*operand, by);
      continue;
    }
    OpBuilder builder(owner);
    Location loc = owner->getLoc();
    Value value = operand->get();
    Value factor = math::ExpOp::create(builder, loc, buildExponent(builder, owner, by, ofDeadRows));
    Value scaled = arith::MulFOp::create(builder, loc, value, factor);
    // A positive constant, often an epsilon, must not become 0 in f32: it may be all there is to divide by.
    FloatAttr number;
    if (matchPattern(value, m_Constant(&number)) && number.getValueAsDouble() > 0.0) {
      if (number.getValueAsDouble() == 1.0)
        scaled = factor;
      double tiny = value.getType().isF64() ? 2.2250738585072014e-308 : 1.1754943508222875e-38;
      scaled =
          arith::MaximumFOp::create(builder, loc, scaled, buildNumber(builder, loc, value.getType(), tiny));
    }
    operand->set(scaled);
  }
  for (auto &[log, degree] : analysis.logarithms) {
    OpBuilder builder(log->getContext());
    builder.setInsertionPointAfter(log);
    Location loc = log->getLoc();
    Value result = log->getResult(0), exponent = buildExponent(builder, log, degree);
    if (isa<math::Log2Op>(log)) {
      Value log2e = buildNumber(builder, loc, exponent.getType(), llvm::numbers::log2e);
      exponent = arith::MulFOp::create(builder, loc, exponent, log2e);
    }
    auto sum = arith::AddFOp::create(builder, loc, result, exponent);
    result.replaceAllUsesExcept(sum, sum);
  }
}

void Shift::simplifyChosenSites() {
  for (auto [k, exponent] : llvm::enumerate(analysis.exponents)) {
    unsigned leader = analysis.leaderOf(k), sharers = 0;
    for (auto [other, of] : llvm::enumerate(analysis.exponents))
      sharers += of.enabled && analysis.leaderOf(other) == leader;
    if (exponent.enabled && sharers == 1 && !analysis.exponents[leader].floored)
      for (auto [op, exp] : exponent.sites)
        if (isChosenExponential(exp))
          simplifyChosen(exp);
  }
}

unsigned Shift::run() {
  addMaxima();
  // Operands that take factors are in regions, which moved but are the same, or of operations that none of
  // this rebuilds: what gets a maximum has an exponential of its own, and its arrays take no factor
  // (lowersArrays).
  shiftSites();
  applyFactors();
  simplifyChosenSites();
  shareMaxima();
  // A shared maximum comes after all its providers; what used the first one's sums must follow it.
  sortTopologically(&function.getBody().front());
  return llvm::count_if(analysis.exponents, [](Exponent &exponent) { return exponent.enabled; });
}

class Stabilize : public ::taylor::impl::StabilizePassBase<Stabilize> {
  void runOnOperation() override;
};

} // namespace

void Stabilize::runOnOperation() {
  SmallVector<PairwiseOp> pairwise(getOperation().getBody().getOps<PairwiseOp>());
  llvm::for_each(pairwise, exposeExponentials);
  groupExponents(getOperation().getBody().front());
  DegreeAnalysis analysis(getOperation().getBody().front());
  for (auto [k, exponent] : llvm::enumerate(analysis.exponents))
    LDBG() << exponent.sites.front().second.getLoc() << ": exponential "
           << (!exponent.enabled                                  ? "stays as written"
               : analysis.exponents[analysis.leaderOf(k)].floored ? "shifted by a maximum with a floor"
                                                                  : "shifted by its maximum");
  unsigned shifted = Shift(getOperation(), analysis).run();
  numShifted += shifted;
  numKept += analysis.exponents.size() - shifted;
}

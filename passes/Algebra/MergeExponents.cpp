// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

#define DEBUG_TYPE "taylor-merge-exponents"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_MERGEEXPONENTSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// The exponential of an inner product, from which a maximum is subtracted later; null for others:
/// exponentials of one token alone are factors of states.
math::ExpOp exponentialOf(Value scalar) {
  auto exp = scalar.getDefiningOp<math::ExpOp>();
  return exp && readsProduct(cast<PairwiseOp>(exp->getParentOp()), scalar) ? exp : math::ExpOp();
}

/// Whether `reader` alone reads the scalar. Otherwise equal exponents at several places would become
/// different.
bool isReadOnlyBy(Operation *reader, Value scalar) {
  return llvm::all_of(scalar.getUsers(), [&](Operation *user) { return user == reader; });
}

bool hasLogarithm(Operation *reader, Value scalar) {
  if (std::optional<double> number = numberOf(scalar))
    return *number >= 0.0 && !std::isinf(*number);
  return exponentialOf(scalar) && isReadOnlyBy(reader, scalar);
}

/// The logarithm of an exponential, or of a number that is not negative.
Value buildLogarithm(OpBuilder &builder, Value scalar) {
  if (std::optional<double> number = numberOf(scalar))
    return buildNumber(builder, scalar.getLoc(), scalar.getType(), std::log(*number));
  return exponentialOf(scalar).getOperand();
}

/// Whether both scalars have logarithms, and one is an exponential.
bool haveLogarithms(Operation *reader, Value a, Value b) {
  return hasLogarithm(reader, a) && hasLogarithm(reader, b) && (exponentialOf(a) || exponentialOf(b));
}

/// Whether it differs from pair to pair: a decay.
bool isOfPairs(Value scalar) {
  auto pairs = cast<PairwiseOp>(scalar.getParentRegion()->getParentOp());
  bool ofRows = false, ofColumns = false;
  for (Value part : collectScalars(scalar)) {
    auto index = part.getDefiningOp<IndexOp>();
    auto argument = dyn_cast<BlockArgument>(part);
    Value array = argument ? pairs.getArrayOf(argument) : Value();
    auto isOf = [&](AxisRef axis) {
      return (index && index.getAxis() == axis) || (array && arrayTypeOf(array).has(axis));
    };
    ofRows |= isOf(AxisRole::Query) || isOf(AxisRole::Lag);
    ofColumns |= isOf(AxisRole::Key) || isOf(AxisRole::Lag);
  }
  return ofRows && ofColumns;
}

/// exp(a) * exp(b) is exp(a + b), of an inner product or of two decays; so are quotients.
template <typename Op, typename Exponents> struct MergeFactors : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto a = op.getLhs().template getDefiningOp<math::ExpOp>();
    auto b = op.getRhs().template getDefiningOp<math::ExpOp>();
    if (!a || !b || !isReadOnlyBy(op, a) || !isReadOnlyBy(op, b))
      return failure();
    if (!exponentialOf(a) && !exponentialOf(b) && !(isOfPairs(a) && isOfPairs(b)))
      return failure();
    Value exponent = Exponents::create(rewriter, op.getLoc(), a.getOperand(), b.getOperand());
    rewriter.replaceOpWithNewOp<math::ExpOp>(op, exponent);
    return success();
  }
};

/// The larger or smaller of two exponentials, or of one and a number.
template <typename Op> struct MergeExtremum : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!haveLogarithms(op, op.getLhs(), op.getRhs()))
      return failure();
    Value a = buildLogarithm(rewriter, op.getLhs()), b = buildLogarithm(rewriter, op.getRhs());
    rewriter.replaceOpWithNewOp<math::ExpOp>(op, Op::create(rewriter, op.getLoc(), a, b));
    return success();
  }
};

/// exp(a)^p, and c^a.
struct MergePower : OpRewritePattern<math::PowFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::PowFOp op, PatternRewriter &rewriter) const override {
    std::optional<double> base = numberOf(op.getLhs()), power = numberOf(op.getRhs());
    auto exp = exponentialOf(op.getLhs());
    Value factor, exponent;
    if (exp && isReadOnlyBy(op, exp) && power && *power != 0.0 && std::isfinite(*power)) {
      factor = op.getRhs();
      exponent = exp.getOperand();
    } else if (base && *base > 0.0 && std::isfinite(*base) &&
               readsProduct(cast<PairwiseOp>(op->getParentOp()), op.getRhs())) {
      factor = buildNumber(rewriter, op.getLoc(), op.getType(), std::log(*base));
      exponent = op.getRhs();
    } else {
      return failure();
    }
    rewriter.replaceOpWithNewOp<math::ExpOp>(op,
                                             arith::MulFOp::create(rewriter, op.getLoc(), exponent, factor));
    return success();
  }
};

/// A choice between two exponentials, or one and a number, 0 too.
struct MergeChoice : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    if (!haveLogarithms(op, op.getTrueValue(), op.getFalseValue()))
      return failure();
    Value a = buildLogarithm(rewriter, op.getTrueValue()), b = buildLogarithm(rewriter, op.getFalseValue());
    Value chosen = arith::SelectOp::create(rewriter, op.getLoc(), op.getCondition(), a, b);
    rewriter.replaceOpWithNewOp<math::ExpOp>(op, chosen);
    return success();
  }
};

/// Factors of a scalar, down through products, dividends and signs that have one reader; those products
/// themselves too. (Factors.h goes through products with several readers.)
void collectFactors(Value scalar, SmallVectorImpl<Value> &factors) {
  Operation *from = scalar.getDefiningOp();
  factors.push_back(scalar);
  if (!isa_and_nonnull<arith::MulFOp, arith::DivFOp, arith::NegFOp>(from) || !from->hasOneUse())
    return;
  collectFactors(from->getOperand(0), factors);
  if (isa<arith::MulFOp>(from))
    collectFactors(from->getOperand(1), factors);
}

/// Makes the exponent of the first exponential with one reader among the factors of `scalar` -infinity where
/// `condition` is not `wanted`; fails if none is left.
LogicalResult hide(PatternRewriter &rewriter, Operation *reader, Value scalar, Value condition, bool wanted) {
  SmallVector<Value> factors;
  collectFactors(scalar, factors);
  auto isFree = [&](Value factor) {
    auto exp = exponentialOf(factor);
    if (!exp || !exp->hasOneUse())
      return false;
    for (Value x = exp.getOperand(); auto known = x.getDefiningOp<arith::SelectOp>();) {
      if (known.getCondition() == condition)
        return false;
      x = matchPattern(known.getTrueValue(), m_Constant()) ? known.getFalseValue() : known.getTrueValue();
    }
    return true;
  };
  auto found = llvm::find_if(factors, isFree);
  if (found == factors.end())
    return failure();
  math::ExpOp exp = exponentialOf(*found);
  // The condition may stand after the exponential and after products of it.
  SmallVector<Operation *> products;
  for (Operation *user = *exp->getUsers().begin(); user != reader; user = *user->getUsers().begin())
    products.push_back(user);
  rewriter.setInsertionPoint(reader);
  Value a = exp.getOperand();
  Value hidden = buildNumber(rewriter, exp.getLoc(), a.getType(), -std::numeric_limits<double>::infinity());
  Value seen =
      arith::SelectOp::create(rewriter, exp.getLoc(), condition, wanted ? a : hidden, wanted ? hidden : a);
  rewriter.replaceOpWithNewOp<math::ExpOp>(exp, seen);
  for (Operation *product : products)
    rewriter.moveOpBefore(product, reader);
  return success();
}

/// A choice between a product with an exponential and something else.
struct HideUnchosen : OpRewritePattern<arith::SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::SelectOp op, PatternRewriter &rewriter) const override {
    return success(succeeded(hide(rewriter, op, op.getTrueValue(), op.getCondition(), true)) ||
                   succeeded(hide(rewriter, op, op.getFalseValue(), op.getCondition(), false)));
  }
};

/// A product with an exponential, times one with a choice that may be 0.
struct HideVanishing : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::MulFOp op, PatternRewriter &rewriter) const override {
    for (auto [exponential, other] :
         {std::pair(op.getLhs(), op.getRhs()), std::pair(op.getRhs(), op.getLhs())}) {
      SmallVector<Value> factors;
      collectFactors(other, factors);
      for (Value factor : factors) {
        auto choice = factor.getDefiningOp<arith::SelectOp>();
        for (bool chosen : {true, false})
          if (choice &&
              matchPattern(chosen ? choice.getFalseValue() : choice.getTrueValue(), m_AnyZeroFloat()) &&
              succeeded(hide(rewriter, op, exponential, choice.getCondition(), chosen)))
            return success();
      }
    }
    return failure();
  }
};

class MergeExponents : public ::taylor::impl::MergeExponentsPassBase<MergeExponents> {
public:
  using MergeExponentsPassBase::MergeExponentsPassBase;

private:
  void runOnOperation() override;
};

} // namespace

static bool hasExponentials(PairwiseOp pairs) {
  return llvm::any_of(pairs.getWeight().front(), [&](Operation &op) {
    return isa<math::ExpOp, math::PowFOp>(op) &&
           (readsProduct(pairs, op.getResult(0)) || isOfPairs(op.getResult(0)));
  });
}

static bool shareProducts(PairwiseOp a, PairwiseOp b) {
  for (int64_t i = 0; i < a.getNumProducts(); ++i)
    for (int64_t j = 0; j < b.getNumProducts(); ++j)
      if (a.getProduct(i) == b.getProduct(j))
        return true;
  return false;
}

/// Whether weights of the same inner products have the same formula in every operation, so that exponents
/// which are equal in several stay so, and the operations keep one maximum.
static bool isOnlyFormula(PairwiseOp pairs, ArrayRef<PairwiseOp> all) {
  return llvm::all_of(all, [&](PairwiseOp other) {
    return !shareProducts(pairs, other) ||
           OperationEquivalence::isRegionEquivalentTo(&pairs.getWeight(), &other.getWeight(),
                                                      OperationEquivalence::IgnoreLocations);
  });
}

void MergeExponents::runOnOperation() {
  RewritePatternSet patterns(&getContext());
  patterns.add<MergeFactors<arith::MulFOp, arith::AddFOp>, MergeFactors<arith::DivFOp, arith::SubFOp>,
               MergeExtremum<arith::MinimumFOp>, MergeExtremum<arith::MaximumFOp>, MergePower, MergeChoice,
               HideUnchosen, HideVanishing>(&getContext());
  FrozenRewritePatternSet frozen(std::move(patterns));
  SmallVector<PairwiseOp> all;
  getOperation()->walk([&](PairwiseOp pairs) {
    if (hasExponentials(pairs))
      all.push_back(pairs);
  });
  SmallVector<PairwiseOp> chosen;
  llvm::copy_if(all, std::back_inserter(chosen), [&](PairwiseOp pairs) { return isOnlyFormula(pairs, all); });
  for (PairwiseOp pairs : all)
    if (!llvm::is_contained(chosen, pairs))
      LDBG() << pairs.getLoc() << ": stays, since its inner products have another formula elsewhere";
  for (PairwiseOp pairs : chosen) {
    // Constants are not hoisted out of regions that know no other operation around them.
    bool isChanged = false;
    if (failed(applyPatternsGreedily(
            pairs.getWeight(), frozen,
            GreedyRewriteConfig().enableFolding(false).enableConstantCSE(false).setMaxIterations(
                maxIterations),
            &isChanged))) {
      pairs.emitOpError("requires exponentials that are merged after ")
          << maxIterations.getValue()
          << " passes over the formula, but the last one still changed some; raise max-iterations";
      return signalPassFailure();
    }
    LDBG() << pairs.getLoc() << (isChanged ? ": merged" : ": has nothing to merge");
    numMerged += isChanged;
  }
}

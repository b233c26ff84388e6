// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/RegionDerivative.h"
#include "passes/Algebra/Factors.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "taylor-simplify-arrays"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_SIMPLIFYARRAYSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// Outputs that nobody uses are not computed.
struct DropUnusedOutputs : OpRewritePattern<PairwiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PairwiseOp op, PatternRewriter &rewriter) const override {
    SmallVector<bool> keep =
        llvm::map_to_vector(op.getResults(), [](Value result) { return !result.use_empty(); });
    if (!llvm::is_contained(keep, false) || !llvm::is_contained(keep, true))
      return failure();
    PairwiseOp smaller = clonePairwise(rewriter, op, keep);
    SmallVector<Value> replacements;
    auto result = smaller.getResults().begin();
    for (bool kept : keep)
      replacements.push_back(kept ? Value(*result++) : Value());
    rewriter.replaceOp(op, replacements);
    return success();
  }
};

/// rows(c * w, %b) = c * rows(w, %b), and so for columns and totals, c a number.
struct MoveFactorOutOfPairs : OpRewritePattern<PairwiseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PairwiseOp op, PatternRewriter &rewriter) const override {
    Operation *yield = op.getWeight().front().getTerminator();
    SmallVector<double> factors(yield->getNumOperands(), 1.0);
    SmallVector<Value> yielded(yield->getOperands());
    bool found = false;
    for (auto [scalar, factor] : llvm::zip(yielded, factors)) {
      Product product = Product::read(scalar);
      if (product.constant == 1.0 || (product.numerator.empty() && product.denominator.empty()))
        continue;
      factor = product.constant;
      rewriter.setInsertionPoint(yield);
      scalar = buildWithoutConstant(rewriter, scalar);
      found = true;
    }
    if (!found)
      return failure();
    rewriter.modifyOpInPlace(yield, [&] { yield->setOperands(yielded); });
    rewriter.setInsertionPointAfter(op);
    for (auto [index, result] : llvm::enumerate(op.getResults())) {
      PairSumAttr sum = op.getSum(index);
      double factor = sum.getKind() == PairOutput::Maximum ? 1.0 : factors[sum.getYielded()];
      if (factor == 1.0)
        continue;
      Value scaled =
          buildMap(rewriter, op.getLoc(), result, {}, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
            return arith::MulFOp::create(b, loc, x[0], buildNumber(b, loc, x[0].getType(), factor));
          });
      rewriter.replaceAllUsesExcept(result, scaled, scaled.getDefiningOp());
    }
    return success();
  }
};

/// Axes along which a scalar of a body varies.
void collectAxes(Value scalar, ValueRange arrays, llvm::SmallDenseSet<StringRef> &axes) {
  for (Value part : collectScalars(scalar))
    if (auto argument = dyn_cast<BlockArgument>(part)) {
      for (StringAttr axis : arrayTypeOf(arrays[argument.getArgNumber()]).getAxes())
        axes.insert(axis.getValue());
    } else if (auto index = part.getDefiningOp<IndexOp>()) {
      axes.insert(index.getAxis());
    }
}

bool guardsFit(OperandRange live, ArrayType type) {
  return llvm::all_of(live, [&](Value count) {
    return llvm::all_of(arrayTypeOf(count).getAxes(), [&](StringAttr axis) { return type.has(axis); });
  });
}

/// sum over(e) c * F = c * sum over(e) F, for a factor c that does not vary along e.
struct MoveFactorOutOfReduction : OpRewritePattern<ReduceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReduceOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() == Reduction::Max || !guardsFit(op.getLive(), op.getResult().getType()))
      return failure();
    Block &block = op.getBody().front();
    Value scalar = block.getTerminator()->getOperand(0);
    auto isConstantAlong = [&](Value factor) {
      llvm::SmallDenseSet<StringRef> axes;
      collectAxes(factor, op.getArrays(), axes);
      return llvm::none_of(op.getAxes().getAsRange<StringAttr>(), [&](StringAttr axis) {
        // A key/value head varies along the query heads, but not within its group.
        return axes.contains(axis == kGroup ? StringRef(nameOf(AxisRole::Head)) : axis.getValue()) ||
               (axis == AxisRole::Head && axes.contains(nameOf(AxisRole::KeyHead)));
      });
    };
    Product inner = Product::read(scalar), outer;
    SmallVector<Condition> conditions = openSelects(inner, isConstantAlong);
    std::swap(inner.constant, outer.constant);
    auto moveOut = [&](SmallVector<Value> &from, SmallVector<Value> &to) {
      auto rest = std::stable_partition(from.begin(), from.end(),
                                        [&](Value factor) { return !isConstantAlong(factor); });
      to.append(rest, from.end());
      from.erase(rest, from.end());
    };
    moveOut(inner.numerator, outer.numerator);
    moveOut(inner.denominator, outer.denominator);
    bool nothingLeaves =
        outer.numerator.empty() && outer.denominator.empty() && conditions.empty() && outer.constant == 1.0;
    if (nothingLeaves || inner.numerator.empty())
      return failure();

    auto reduced = cast<ReduceOp>(rewriter.clone(*op));
    rewriter.modifyOpInPlace(reduced, [&] {
      Block &body = reduced.getBody().front();
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(body.getTerminator());
      IRMapping values;
      values.map(block.getArguments(), body.getArguments());
      body.getTerminator()->setOperand(0,
                                       buildMapped(rewriter, op.getLoc(), inner, values, scalar.getType()));
    });
    // Arrays of the factors that leave have no reduced axis.
    llvm::SmallDenseSet<Value> used;
    for (const SmallVector<Value> *factors : {&outer.numerator, &outer.denominator})
      for (Value factor : *factors)
        collectArguments(factor, used);
    for (auto [condition, chosen] : conditions)
      collectArguments(condition, used);
    SmallVector<Value> outerArrays;
    SmallVector<BlockArgument> outerArguments;
    for (BlockArgument argument : block.getArguments())
      if (used.contains(argument)) {
        outerArrays.push_back(op.getArrays()[argument.getArgNumber()]);
        outerArguments.push_back(argument);
      }
    outerArrays.push_back(reduced.getResult());
    Value result = buildMap(
        rewriter, op.getLoc(), outerArrays, op.getLive(),
        [&](OpBuilder &b, Location loc, ValueRange x) {
          IRMapping values;
          for (auto [old, now] : llvm::zip(outerArguments, x))
            values.map(Value(old), now);
          // The sum is divided by one factor after the other; what they are together may be infinite. The
          // conditions choose last: a factor may be infinite where they do not hold.
          Value product = buildMapped(b, loc, outer, values, scalar.getType(), x.back());
          for (auto [condition, chosen] : conditions) {
            Value zero = buildNumber(b, loc, product.getType(), 0.0);
            product = arith::SelectOp::create(b, loc, cloneScalar(b, condition, values),
                                              chosen ? product : zero, chosen ? zero : product);
          }
          return product;
        },
        op.getResult().getType());
    rewriter.replaceOp(op, result);
    return success();
  }

  /// A condition, and which side of it is no 0.
  using Condition = std::pair<Value, bool>;

  /// Factors select(c, F, 0) or select(c, 0, F) with a condition that does not vary: F's factors take their
  /// place, and c is returned.
  static SmallVector<Condition> openSelects(Product &product,
                                            llvm::function_ref<bool(Value)> isConstantAlong) {
    SmallVector<Condition> conditions;
    for (unsigned i = 0; i < product.numerator.size(); ++i) {
      auto select = product.numerator[i].getDefiningOp<arith::SelectOp>();
      if (!select || !isConstantAlong(select.getCondition()) || isConstantAlong(select))
        continue;
      bool isFirst = matchPattern(select.getFalseValue(), m_AnyZeroFloat());
      if (!isFirst && !matchPattern(select.getTrueValue(), m_AnyZeroFloat()))
        continue;
      conditions.push_back({select.getCondition(), isFirst});
      Product chosen = Product::read(isFirst ? select.getTrueValue() : select.getFalseValue());
      product.numerator.erase(product.numerator.begin() + i--);
      product.numerator.append(chosen.numerator);
      product.denominator.append(chosen.denominator);
      product.constant *= chosen.constant;
    }
    return conditions;
  }

  static void collectArguments(Value scalar, llvm::SmallDenseSet<Value> &arguments) {
    for (Value part : collectScalars(scalar))
      if (isa<BlockArgument>(part))
        arguments.insert(part);
  }

  /// The product with its factors cloned, times `first` where there is one.
  static Value buildMapped(OpBuilder &builder, Location loc, Product product, IRMapping &values, Type type,
                           Value first = {}) {
    for (SmallVector<Value> *factors : {&product.numerator, &product.denominator})
      for (Value &factor : *factors)
        factor = cloneScalar(builder, factor, values);
    if (first)
      product.numerator.insert(product.numerator.begin(), first);
    return product.build(builder, loc, type);
  }
};

/// What an addition `x + state`, the only reader of the state, adds; null for anything else.
static Value addedTo(OpResult state) {
  auto sum = state.hasOneUse() ? dyn_cast<MapOp>(*state.getUsers().begin()) : MapOp();
  if (!sum || sum.getArrays().size() != 2 || !sum.getLive().empty() ||
      sum.getResult().getType() != state.getType())
    return {};
  auto add = sum.getBody().front().getTerminator()->getOperand(0).getDefiningOp<arith::AddFOp>();
  if (!add || !isa<BlockArgument>(add.getLhs()) || !isa<BlockArgument>(add.getRhs()) ||
      add.getLhs() == add.getRhs())
    return {};
  return sum.getArrays()[sum.getArrays()[0] == state ? 1 : 0];
}

/// Sums of whole states with arrays of their axes begin from these.
struct BeginStates : OpRewritePattern<StatesOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StatesOp op, PatternRewriter &rewriter) const override {
    if (op.getChunk() || !op.getInitial().empty())
      return failure();
    SmallVector<Value> initial;
    for (OpResult state : op->getResults()) {
      Value begin = addedTo(state);
      if (!begin || arrayTypeOf(begin).getAxes() != arrayTypeOf(state).getAxes())
        return failure();
      initial.push_back(begin);
    }
    // All that is added must be there.
    Operation *last = op;
    for (Value begin : initial)
      if (Operation *made = begin.getDefiningOp(); made && last->isBeforeInBlock(made))
        last = made;
    rewriter.setInsertionPointAfter(last);
    auto begun = StatesOp::create(rewriter, op.getLoc(), op.getResultTypes(), op.getVectors(), op.getValues(),
                                  initial, op.getDecay(), op.getWithin(), op.getOwn(), op.getMass(),
                                  op.getFirst(), op.getLast(), op.getWeightsAttr(), op.getBlock(), 0);
    for (auto [state, sum] : llvm::zip(op->getResults(), begun.getResults()))
      rewriter.replaceOp(*state.getUsers().begin(), sum);
    rewriter.eraseOp(op);
    return success();
  }
};

/// Whether the arrays give the sizes of all free axes that a body reads the index of.
static bool haveSizes(ArrayRef<Value> arrays, ArrayRef<AxisRef> indexed) {
  return llvm::all_of(indexed, [&](StringRef axis) {
    return isRoleAxis(axis) ||
           llvm::any_of(arrays, [&](Value array) { return arrayTypeOf(array).has(axis); });
  });
}

/// A map that one map or reduction reads becomes part of it; a map without operands, of all its readers.
template <typename Op> struct FuseMap : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    for (auto [index, array] : llvm::enumerate(op.getArrays())) {
      auto producer = array.template getDefiningOp<MapOp>();
      if (producer && canFuse(producer, op)) {
        fuse(producer, index, op, rewriter);
        return success();
      }
    }
    return failure();
  }

private:
  static bool canFuse(MapOp producer, Op op) {
    ArrayType type = producer.getResult().getType();
    bool single = llvm::all_of(producer->getUsers(), [&](Operation *user) { return user == op; });
    // What costs nothing need not be shared: a number, or an array that is only guarded.
    bool isFree = producer.getArrays().empty() || producer.getBody().front().without_terminator().empty();
    // A result narrower than its scalars is rounded there.
    if ((!single && !isFree) || type.getElementType() != type.getScalarType())
      return false;
    SmallVector<Value> guards;
    if constexpr (!std::is_same_v<Op, ScanOp>) {
      guards.assign(op.getLive().begin(), op.getLive().end());
      // As a guard it stays an array, and so it is shared.
      if (llvm::is_contained(guards, producer.getResult()) && !isFree)
        return false;
    }
    if (!llvm::all_of(producer.getLive(), [&](Value count) { return llvm::is_contained(guards, count); }))
      return false;
    // What it widened, somebody else must have.
    SmallVector<Value> rest(producer.getArrays());
    for (Value array : op.getArrays())
      if (array != producer.getResult())
        rest.push_back(array);
    SmallVector<AxisRef> indexed = indexedAxes(producer.getBody());
    llvm::append_range(indexed, indexedAxes(op.getBody()));
    ArrayType joined = joinAxes(rest, type.getElementType(), indexed);
    bool covered = llvm::all_of(type.getAxes(), [&](StringAttr axis) {
      return joined.has(axis) || (axis == AxisRole::KeyHead && joined.has(AxisRole::Head));
    });
    return covered || (std::is_same_v<Op, MapOp> && haveSizes(rest, indexed));
  }

  static void fuse(MapOp producer, unsigned index, Op op, PatternRewriter &rewriter) {
    rewriter.modifyOpInPlace(op, [&] {
      Block &block = op.getBody().front();
      IRMapping values;
      op.getArraysMutable().append(producer.getArrays());
      for (auto [argument, array] : llvm::zip(producer.getBody().getArguments(), producer.getArrays()))
        values.map(Value(argument), Value(block.addArgument(argument.getType(), argument.getLoc())));
      OpBuilder builder = OpBuilder::atBlockBegin(&block);
      cloneScalars(builder, producer.getBody().front(), values);
      Value scalar = values.lookupOrDefault(producer.getBody().front().getTerminator()->getOperand(0));
      block.getArgument(index).replaceAllUsesWith(scalar);
      block.eraseArgument(index);
      op.getArraysMutable().erase(index);
    });
  }
};

/// Operands that a body does not read, or reads twice.
template <typename Op> struct DropOperands : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Block &block = op.getBody().front();
    for (unsigned i = 0; i < op.getArrays().size(); ++i) {
      Value array = op.getArrays()[i];
      auto first = llvm::find(op.getArrays(), array) - op.getArrays().begin();
      bool unused = block.getArgument(i).use_empty() && keepsDomain(op, i);
      if (!unused && first == i)
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        if (!unused)
          block.getArgument(i).replaceAllUsesWith(block.getArgument(first));
        block.eraseArgument(i);
        op.getArraysMutable().erase(i);
      });
      return success();
    }
    return failure();
  }

private:
  static bool keepsDomain(Op op, unsigned gone) {
    SmallVector<Value> rest(op.getArrays());
    Type real = realTypeOf(op.getContext(), op.getArrays().getTypes());
    SmallVector<AxisRef> indexed = indexedAxes(op.getBody());
    ArrayType all = joinAxes(rest, real, indexed);
    rest.erase(rest.begin() + gone);
    if (std::is_same_v<Op, MapOp>)
      return haveSizes(rest, indexed);
    // The type of the region follows that of its arrays.
    return joinAxes(rest, real, indexed) == all &&
           realTypeOf(op.getContext(), ValueRange(rest).getTypes()) == real;
  }
};

template <typename Op> struct CancelFactors : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Block &block = op.getBody().front();
    rewriter.startOpModification(op);
    DominanceInfo dominance(op);
    bool shared = false;
    eliminateCommonSubExpressions(rewriter, dominance, op, &shared);
    bool cancelled = cancelProducts(block);
    if (shared || cancelled) {
      rewriter.finalizeOpModification(op);
      return success();
    }
    rewriter.cancelOpModification(op);
    return failure();
  }
};

/// Counts rewrites, and says which pattern made each.
class Rewrites : public RewriterBase::Listener {
public:
  unsigned getCount() const { return count; }

private:
  void notifyPatternBegin(const Pattern &, Operation *op) override { at = op->getLoc(); }
  void notifyPatternEnd(const Pattern &pattern, LogicalResult status) override {
    if (failed(status))
      return;
    ++count;
    LDBG() << *at << ": " << pattern.getDebugName();
  }

  unsigned count = 0;
  std::optional<Location> at;
};

class SimplifyArrays : public ::taylor::impl::SimplifyArraysPassBase<SimplifyArrays> {
public:
  using SimplifyArraysPassBase::SimplifyArraysPassBase;

private:
  void runOnOperation() override;
};

} // namespace

void SimplifyArrays::runOnOperation() {
  RewritePatternSet patterns(&getContext());
  patterns.add<BeginStates, DropUnusedOutputs, MoveFactorOutOfPairs, MoveFactorOutOfReduction, FuseMap<MapOp>,
               FuseMap<ReduceOp>, FuseMap<ScanOp>, DropOperands<MapOp>, DropOperands<ReduceOp>,
               CancelFactors<MapOp>, CancelFactors<ReduceOp>>(&getContext());
  // A formula in which a number has taken an array's place may lose the index that gave it an axis.
  ReduceOp::getCanonicalizationPatterns(patterns, &getContext());
  ScanOp::getCanonicalizationPatterns(patterns, &getContext());
  // A formula of a long chain may wait for the one before it, which takes another pass over all.
  constexpr int64_t kMore = 10;
  Block &block = getOperation().getBody().front();
  int64_t limit = maxIterations ? maxIterations.getValue() : int64_t(block.getOperations().size()) + kMore;
  Rewrites rewrites;
  GreedyRewriteConfig config;
  config.setMaxIterations(limit).setListener(&rewrites);
  LogicalResult isDone = applyPatternsGreedily(getOperation(), std::move(patterns), config);
  numRewrites += rewrites.getCount();
  if (succeeded(isDone))
    return;
  getOperation().emitError("requires formulas that are simple after ")
      << limit << " passes over the function, but the last one still changed some; raise max-iterations";
  signalPassFailure();
}

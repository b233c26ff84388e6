// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Canonical forms. Each keeps the meaning for every finite input, rows that see no key included, and the
// gradients; where it would not, it is no canonical form. What makes kernels cheaper but programs longer is
// taylor-simplify-arrays.
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/TaylorDialect.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace taylor;

namespace {

/// The scalar that a formula of one number gives.
Value yielded(Region &region) { return region.front().getTerminator()->getOperand(0); }

bool isIdentity(Region &region) {
  return region.getNumArguments() > 0 && yielded(region) == region.getArgument(0);
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

/// Sums that nothing reads go. (Where nothing reads any, the operation is dead as a whole.)
template <typename Op> struct DropUnreadSums : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    SmallVector<Attribute> sums;
    SmallVector<Type> types;
    for (auto [sum, result] : llvm::zip(op.getSums(), op.getResults()))
      if (!result.use_empty()) {
        sums.push_back(sum);
        types.push_back(result.getType());
      }
    if (sums.empty() || sums.size() == op.getSums().size())
      return failure();
    OperationState state(op.getLoc(), op->getName(), op->getOperands(), types,
                         llvm::to_vector(op->getDiscardableAttrs()));
    auto properties = op.getProperties();
    properties.sums = rewriter.getArrayAttr(sums);
    state.getOrAddProperties<typename Op::Properties>() = properties;
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    Operation *smaller = rewriter.create(state);
    SmallVector<Value> replacements;
    auto next = smaller->getResults().begin();
    for (Value result : op.getResults())
      replacements.push_back(result.use_empty() ? Value() : Value(*next++));
    rewriter.replaceOp(op, replacements);
    return success();
  }
};

/// scale(1.0) is no scale.
template <typename Op> struct DropUnitScale : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (op.getScale().empty() || !matchPattern(yielded(op.getScale()), m_OneFloat()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { rewriter.eraseBlock(&op.getScale().front()); });
    return success();
  }
};

/// score(s) is no score.
struct DropIdentityScore : OpRewritePattern<RecurrencesOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RecurrencesOp op, PatternRewriter &rewriter) const override {
    if (op.getScore().empty() || !isIdentity(op.getScore()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { rewriter.eraseBlock(&op.getScore().front()); });
    return success();
  }
};

/// Operands that no formula reads.
struct DropUnreadExtras : OpRewritePattern<RecurrencesOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RecurrencesOp op, PatternRewriter &rewriter) const override {
    auto argumentOf = [](Region &region, unsigned extra, unsigned before) -> BlockArgument {
      return region.empty() ? BlockArgument() : region.getArgument(before + extra);
    };
    for (unsigned i = 0; i < op.getExtras().size(); ++i) {
      // The score is the first argument of two of the three.
      BlockArgument arguments[] = {argumentOf(op.getScore(), i, 1), argumentOf(op.getWeight(), i, 1),
                                   argumentOf(op.getVisible(), i, 0)};
      bool read =
          llvm::any_of(arguments, [](BlockArgument argument) { return argument && !argument.use_empty(); });
      SmallVector<Type> rest(op->getOperandTypes());
      unsigned operand = op->getNumOperands() - op.getExtras().size() + i;
      rest.erase(rest.begin() + operand);
      // Formulas compute in the widest type of the operands.
      if (read || realTypeOf(op.getContext(), rest) != realTypeOf(op.getContext(), op->getOperandTypes()))
        continue;
      rewriter.modifyOpInPlace(op, [&] {
        for (BlockArgument argument : arguments)
          if (argument)
            argument.getOwner()->eraseArgument(argument.getArgNumber());
        op.getExtrasMutable().erase(i);
      });
      return success();
    }
    return failure();
  }
};

/// Explicit coefficients 0 at either end of the orders.
struct TrimOrders : OpRewritePattern<RecurrencesOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RecurrencesOp op, PatternRewriter &rewriter) const override {
    auto first = dyn_cast_or_null<IntegerAttr>(op.getFirstOrder().value_or(Attribute()));
    auto last = dyn_cast_or_null<IntegerAttr>(op.getLastOrder().value_or(Attribute()));
    if (!first || !last || !op.getCoefficients())
      return failure();
    auto [begin, kept] = op.getTerms(first.getInt());
    if (kept.size() == op.getCoefficients()->size())
      return failure();
    rewriter.modifyOpInPlace(op, [&, begin = begin, &kept = kept] {
      op.setFirstOrderAttr(rewriter.getI64IntegerAttr(begin));
      op.setLastOrderAttr(rewriter.getI64IntegerAttr(begin + kept.size() - 1));
      op.setCoefficientsAttr(rewriter.getF64ArrayAttr(kept));
    });
    return success();
  }
};

} // namespace

void RecurrencesOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnreadSums<RecurrencesOp>, DropUnitScale<RecurrencesOp>, DropIdentityScore,
               DropUnreadExtras, TrimOrders>(context);
}

void RecurrenceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnreadSums<RecurrenceOp>, DropUnitScale<RecurrenceOp>>(context);
}

//===----------------------------------------------------------------------===//
// Local to rows, tokens and channels
//===----------------------------------------------------------------------===//

OpFoldResult MapOp::fold(FoldAdaptor) {
  // The identity, without a guard and without a broadcast or a conversion.
  if (getArrays().size() != 1 || !getLive().empty() || getArrays()[0].getType() != getResult().getType())
    return {};
  return isIdentity(getBody()) ? getArrays()[0] : Value();
}

namespace {

/// An axis that a formula had by its index alone goes with it where the formula is simplified:
/// `sum over(e) select(e < 1.0, %z, %z)`. A 0 that has the axis, and that is not read, keeps it.
template <typename Op> struct KeepAxes : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type real = realTypeOf(op.getContext(), op.getArrays().getTypes());
    ArrayType domain = joinAxes(op.getArrays(), real, indexedAxes(op.getBody()));
    SmallVector<StringAttr> lost;
    for (StringAttr axis : axesOf(op))
      if (AxisRef read = axis == kGroup ? AxisRef(AxisRole::Head) : AxisRef(axis); !domain.has(read))
        lost.push_back(rewriter.getStringAttr(read));
    if (lost.empty())
      return failure();
    SmallVector<int64_t> sizes = llvm::map_to_vector(lost, [&](StringAttr axis) { return sizeOf(axis, op); });
    Value zero = buildMap(
        rewriter, op.getLoc(), {}, {},
        [&](OpBuilder &b, Location at, ValueRange) { return buildNumber(b, at, real, 0.0); },
        ArrayType::get(op.getContext(), lost, sizes, real));
    rewriter.modifyOpInPlace(op, [&] {
      op.getArraysMutable().append(zero);
      op.getBody().addArgument(real, op.getLoc());
    });
    return success();
  }

private:
  /// Of a channel axis once there are sizes; queries, keys and values have all of them.
  static int64_t sizeOf(StringAttr axis, Op op) {
    for (BlockArgument argument : op->getBlock()->getArguments())
      if (auto type = dyn_cast<ArrayType>(argument.getType()); type && type.has(axis))
        return type.sizeOf(axis);
    return ArrayType::kUnknown;
  }
  static SmallVector<StringAttr> axesOf(ReduceOp op) {
    return llvm::to_vector(op.getAxes().getAsRange<StringAttr>());
  }
  static SmallVector<StringAttr> axesOf(ScanOp op) { return {op.getAxisAttr()}; }
};

/// A shift by nothing is a map.
struct DropShiftByNothing : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    if (!op.isShift() || op.getAmountAttr().getInt() != 0)
      return failure();
    auto map = MapOp::create(rewriter, op.getLoc(), op.getResult().getType(), op.getArrays(), ValueRange());
    map.getBody().takeBody(op.getBody());
    rewriter.replaceOp(op, map);
    return success();
  }
};

/// A shift of a shift is one shift.
struct JoinShifts : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    if (!op.isShift())
      return failure();
    // Zeros come in at the same end, whether once or twice.
    auto inner = op.getArrays().size() == 1 ? op.getArrays()[0].getDefiningOp<ScanOp>() : ScanOp();
    if (!inner || !inner.isShift() || inner.getAxis() != op.getAxis() ||
        inner.getWithin() != op.getWithin() || inner.getReverse() != op.getReverse() ||
        !isIdentity(op.getBody()) || inner.getResult().getType() != op.getResult().getType())
      return failure();
    int64_t sum;
    if (llvm::AddOverflow(op.getAmountAttr().getInt(), inner.getAmountAttr().getInt(), sum))
      return failure();
    auto both = cast<ScanOp>(rewriter.clone(*inner));
    rewriter.modifyOpInPlace(both, [&] { both.setAmountAttr(rewriter.getI64IntegerAttr(sum)); });
    rewriter.replaceOp(op, both);
    return success();
  }
};

} // namespace

void ReduceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<KeepAxes<ReduceOp>>(context);
}

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<KeepAxes<ScanOp>, DropShiftByNothing, JoinShifts>(context);
}

OpFoldResult AlignOp::fold(FoldAdaptor) {
  auto inner = getArray().getDefiningOp<AlignOp>();
  bool back = inner && inner.getAxis() == AxisRole::Key && getAxis() == AxisRole::Query &&
              inner.getArray().getType() == getResult().getType();
  return back ? inner.getArray() : Value();
}

LogicalResult NormalizeOp::canonicalize(NormalizeOp op, PatternRewriter &rewriter) {
  auto inner = op.getArray().getDefiningOp<NormalizeOp>();
  if (!inner || inner.getKind() != op.getKind() || inner.getAxis() != op.getAxis() || inner.getWeight() ||
      inner.getBias() || !inner.getEpsilon().isZero())
    return failure();
  // A norm of 1 passes an epsilon below it; a mean square of 1 is changed by any.
  bool same = op.getKind() == Norm::L2 ? op.getEpsilon().convertToDouble() < 1 : op.getEpsilon().isZero();
  if (!same)
    return failure();
  if (!op.getWeight() && !op.getBias() && inner.getResult().getType() == op.getResult().getType())
    rewriter.replaceOp(op, inner);
  else
    rewriter.modifyOpInPlace(op, [&] { op.getArrayMutable().assign(inner.getArray()); });
  return success();
}

OpFoldResult RopeOp::fold(FoldAdaptor) {
  auto inner = getArray().getDefiningOp<RopeOp>();
  if (!inner || inner.getInverse() == getInverse() || inner.getTheta() != getTheta() ||
      inner.getLayout() != getLayout() || inner.getOffset() != getOffset() ||
      inner.getPositions() != getPositions() || inner.getArray().getType() != getResult().getType())
    return {};
  return inner.getArray();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

OpFoldResult StopGradientOp::fold(FoldAdaptor adaptor) {
  // What has no derivative needs none stopped.
  return adaptor.getOperand() || getOperand().getDefiningOp<StopGradientOp>() ? getOperand() : Value();
}

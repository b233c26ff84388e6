// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Refusal.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/RegionDerivative.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Debug.h"
#include "passes/Passes.h"
#include "passes/Specification/MaskConditions.h"
#include "passes/Specification/RowGuards.h"
#include "passes/Specification/Series.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#define DEBUG_TYPE "taylor-recurrences-to-pairwise"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_RECURRENCESTOPAIRWISEPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// Clones the one scalar a region yields; `region` must not be empty.
Value inlineScalar(OpBuilder &builder, Region &region, ValueRange arguments) {
  IRMapping values;
  values.map(region.getArguments(), arguments);
  cloneScalars(builder, region.front(), values);
  return values.lookupOrDefault(region.front().getTerminator()->getOperand(0));
}

/// c[0] x^first + c[1] x^(first+1) + .., by Horner's rule.
Value buildSeries(OpBuilder &builder, Location loc, Value x, int64_t first, ArrayRef<double> coefficients) {
  Value sum = buildNumber(builder, loc, x.getType(), coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back())) {
    sum = arith::MulFOp::create(builder, loc, sum, x);
    sum = arith::AddFOp::create(builder, loc, sum, buildNumber(builder, loc, x.getType(), coefficient));
  }
  for (int64_t i = 0; i < first; ++i)
    sum = arith::MulFOp::create(builder, loc, sum, x);
  return sum;
}

/// How many keys a query sees: all, or those with u <= t.
Value buildPlaceCount(OpBuilder &builder, Location loc, Type real, bool causal) {
  SmallVector<AxisRef> axes;
  if (causal)
    axes.push_back(AxisRole::Query);
  return buildMap(
      builder, loc, {}, {},
      [&](OpBuilder &b, Location loc, ValueRange) -> Value {
        Value keys = SizeOp::create(b, loc, real, axisAttr(b, AxisRole::Key));
        if (!causal)
          return keys;
        Value t = IndexOp::create(b, loc, real, axisAttr(b, AxisRole::Query));
        Value upToHere = arith::AddFOp::create(b, loc, t, buildNumber(b, loc, real, 1.0));
        Value any = arith::MaximumFOp::create(b, loc, upToHere, buildNumber(b, loc, real, 0.0));
        return arith::MinimumFOp::create(b, loc, any, keys);
      },
      joinAxes({}, real, axes));
}

/// rows(1.0) over the visible pairs, of which `condition` reads `arrays`, and `buildVisible` writes the
/// whole.
Value buildPairCount(OpBuilder &builder, Location loc, Type real, ValueRange arrays, Region &condition,
                     function_ref<void(Region &)> buildVisible) {
  SmallVector<AxisRef> axes = {AxisRole::Query};
  for (StringRef axis : indexedAxes(condition))
    if (axis != AxisRole::Query && axis != AxisRole::Key)
      axes.push_back(axis);
  ArrayType rows = joinAxes({}, real, axes);
  for (auto [array, argument] : llvm::zip_equal(arrays, condition.getArguments()))
    if (!argument.use_empty())
      rows = joinArrays([&] { return emitError(loc); }, builder.getContext(),
                        {rows, arrayTypeOf(array).without({AxisRole::Query, AxisRole::Key, AxisRole::Lag})},
                        {}, real)
                 .value_or(rows);
  // The group of a key/value head is that of its query heads.
  if (rows.has(AxisRole::KeyHead))
    rows = rows.renamed(AxisRole::KeyHead, AxisRole::Head);
  auto output = PairSumAttr::get(builder.getContext(), PairOutput::Rows, 0, false);
  auto op = PairwiseOp::create(builder, loc, TypeRange(rows), /*products=*/{}, /*scalars=*/arrays,
                               /*weighted=*/{}, builder.getArrayAttr({output}));
  buildVisible(op.getVisible());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(addBlock(op.getWeight(), scalarTypesOf(arrays), loc));
    YieldOp::create(builder, loc, buildNumber(builder, loc, real, 1.0), ArrayAttr());
  }
  // Without what only weights read: it would depend on that.
  dropUnread(op);
  return op.getResult(0);
}

/// Whether the condition of visible pairs is u <= t.
bool isCausal(Region &visible) {
  return comparesPlaces(visible.front().getTerminator()->getOperand(0), arith::CmpFPredicate::OLE,
                        AxisRole::Key, AxisRole::Query);
}

/// The same of an operation over pairs that a specification has itself.
Value buildCount(OpBuilder &builder, PairwiseOp op) {
  Type real = op.getRealType();
  if (op.getVisible().empty() || isCausal(op.getVisible()))
    return buildPlaceCount(builder, op.getLoc(), real, !op.getVisible().empty());
  return buildPairCount(builder, op.getLoc(), real, op.getScalars(), op.getVisible(), [&](Region &region) {
    IRMapping values;
    op.getVisible().cloneInto(&region, values);
  });
}

/// The parts that `taylor.recurrences` and `taylor.recurrence` have in common.
struct SumOverKeys {
  Operation *op;
  Value query, key, value, decay;
  ValueRange extras;
  ArrayAttr sums;
  Mask mask;
  Region *scale, *score, *weight, *visible;
  /// The series, or null for exp or `weight`.
  std::optional<Series> series;
};

/// Lowers one sum over keys, and remembers the count of its rows.
class PairwiseBuilder {
public:
  PairwiseBuilder(SumOverKeys sum, OpBuilder &builder)
      : sum(sum), builder(builder), loc(sum.op->getLoc()),
        real(realTypeOf(builder.getContext(), sum.op->getOperandTypes())) {}

  void build();
  /// An array over rows: how many keys each sees. Only the axes it varies along.
  Value count;

private:
  bool hasConditions() const { return sum.visible && !sum.visible->empty(); }
  void buildVisible(Region &region, ArrayRef<Value> scalars, unsigned firstExtra);
  Value buildWeight(OpBuilder &b, ValueRange arguments, unsigned firstExtra);
  Value buildCount();

  SumOverKeys sum;
  OpBuilder &builder;
  Location loc;
  Type real;
};

void PairwiseBuilder::buildVisible(Region &region, ArrayRef<Value> scalars, unsigned firstExtra) {
  if (sum.mask == Mask::Bidirectional && !hasConditions())
    return;
  OpBuilder::InsertionGuard guard(builder);
  Block *block = addBlock(region, scalarTypesOf(scalars), loc);
  builder.setInsertionPointToStart(block);
  Value visible;
  if (sum.mask == Mask::Causal) {
    Value t = IndexOp::create(builder, loc, real, axisAttr(builder, AxisRole::Query));
    Value u = IndexOp::create(builder, loc, real, axisAttr(builder, AxisRole::Key));
    visible = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, u, t);
  }
  if (hasConditions()) {
    Value condition = inlineScalar(builder, *sum.visible, block->getArguments().drop_front(firstExtra));
    visible = visible ? arith::AndIOp::create(builder, loc, visible, condition).getResult() : condition;
  }
  YieldOp::create(builder, loc, visible, ArrayAttr());
}

Value PairwiseBuilder::buildWeight(OpBuilder &b, ValueRange arguments, unsigned firstExtra) {
  Value x = arguments[0];
  ValueRange extras = arguments.drop_front(1 + firstExtra);
  if (!sum.scale->empty())
    x = arith::MulFOp::create(b, loc, x, inlineScalar(b, *sum.scale, {}));
  auto withScore = [&](Region &region) {
    SmallVector<Value> values = {x};
    llvm::append_range(values, extras);
    return inlineScalar(b, region, values);
  };
  if (sum.score && !sum.score->empty())
    x = withScore(*sum.score);
  Value logDecay =
      sum.decay ? arith::SubFOp::create(b, loc, arguments[1], arguments[2]).getResult() : Value();
  if (!sum.series && (!sum.weight || sum.weight->empty())) {
    if (logDecay)
      x = arith::AddFOp::create(b, loc, x, logDecay);
    return math::ExpOp::create(b, loc, x);
  }
  Value weight = sum.series ? buildSeries(b, loc, x, sum.series->first, sum.series->coefficients)
                            : withScore(*sum.weight);
  if (logDecay)
    weight = arith::MulFOp::create(b, loc, weight, math::ExpOp::create(b, loc, logDecay));
  return weight;
}

Value PairwiseBuilder::buildCount() {
  if (!hasConditions())
    return buildPlaceCount(builder, loc, real, sum.mask == Mask::Causal);
  SmallVector<Value> arrays(sum.extras);
  return buildPairCount(builder, loc, real, arrays, *sum.visible,
                        [&](Region &region) { buildVisible(region, arrays, 0); });
}

void PairwiseBuilder::build() {
  SmallVector<Value> scalars, weighted;
  if (sum.decay) {
    ArrayType type = arrayTypeOf(sum.decay).renamed(AxisRole::Key, AxisRole::Query);
    scalars.push_back(AlignOp::create(builder, loc, type, sum.decay, axisAttr(builder, AxisRole::Query)));
    scalars.push_back(sum.decay);
  }
  unsigned firstExtra = scalars.size();
  llvm::append_range(scalars, sum.extras);

  count = buildCount();
  SmallVector<Attribute> outputs;
  SmallVector<Type> types;
  SmallVector<Value> replacements;
  SmallVector<unsigned> places;
  for (auto [index, attribute] : llvm::enumerate(sum.sums)) {
    Sum kind = cast<SumAttr>(attribute).getValue();
    Type type = sum.op->getResult(index).getType();
    if (kind == Sum::Count) {
      sum.op->getResult(index).replaceAllUsesWith(buildMap(
          builder, loc, count, {}, [](OpBuilder &, Location, ValueRange x) { return x[0]; },
          cast<ArrayType>(type)));
      continue;
    }
    bool isWeighted = kind == Sum::Numerator;
    if (isWeighted)
      weighted.push_back(sum.value);
    outputs.push_back(PairSumAttr::get(builder.getContext(), PairOutput::Rows, 0, isWeighted));
    types.push_back(type);
    places.push_back(index);
  }
  if (outputs.empty())
    return;
  auto op = PairwiseOp::create(builder, loc, types, ValueRange{sum.query, sum.key}, scalars, weighted,
                               builder.getArrayAttr(outputs));
  buildVisible(op.getVisible(), scalars, firstExtra);
  OpBuilder::InsertionGuard guard(builder);
  SmallVector<Type> argumentTypes = {real};
  llvm::append_range(argumentTypes, scalarTypesOf(scalars));
  Block *block = addBlock(op.getWeight(), argumentTypes, loc);
  builder.setInsertionPointToStart(block);
  YieldOp::create(builder, loc, buildWeight(builder, block->getArguments(), firstExtra), ArrayAttr());
  for (auto [place, result] : llvm::zip_equal(places, op.getResults()))
    sum.op->getResult(place).replaceAllUsesWith(result);
}

FailureOr<SumOverKeys> readSum(RecurrencesOp op) {
  SumOverKeys sum{op,
                  op.getQuery(),
                  op.getKey(),
                  op.getValue(),
                  op.getDecay(),
                  op.getExtras(),
                  op.getSums(),
                  op.getMask(),
                  &op.getScale(),
                  &op.getScore(),
                  &op.getWeight(),
                  &op.getVisible(),
                  {}};
  if (!op.getFirstOrder())
    return sum;
  FailureOr<Series> series = readSeries(op);
  if (failed(series))
    return failure();
  sum.series = *series;
  return sum;
}

FailureOr<SumOverKeys> readSum(RecurrenceOp op) {
  if (op.getState() || op.getSum(Sum::State))
    return refuse(
        op.emitError("unsupported state of a recurrence in kernels: leave it out; --states gives those of "
                     "every sum to the caller"));
  Series series{static_cast<int64_t>(op.getOrder()), {op.getCoefficient().convertToDouble()}};
  return SumOverKeys{op,      op.getQuery(), op.getKey(),  op.getValue(),  op.getDecay(),
                     {},      op.getSums(),  op.getMask(), &op.getScale(), nullptr,
                     nullptr, nullptr,       series};
}

class RecurrencesToPairwise : public ::taylor::impl::RecurrencesToPairwisePassBase<RecurrencesToPairwise> {
  void runOnOperation() override;
  LogicalResult lower(Block &block);
};

} // namespace

LogicalResult RecurrencesToPairwise::lower(Block &block) {
  RowGuards guards;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (auto pairs = dyn_cast<PairwiseOp>(op)) {
      OpBuilder builder(pairs);
      Value count;
      for (auto [sum, result] :
           llvm::zip_equal(pairs.getSums().getAsRange<PairSumAttr>(), pairs.getResults()))
        if (sum.getKind() == PairOutput::Rows || sum.getKind() == PairOutput::Maximum) {
          count = count ? count : buildCount(builder, pairs);
          guards.start(result, count);
        }
    }
    if (!isa<RecurrencesOp, RecurrenceOp>(op))
      continue;
    auto series = dyn_cast<RecurrencesOp>(op);
    FailureOr<SumOverKeys> sum = series ? readSum(series) : readSum(cast<RecurrenceOp>(op));
    if (failed(sum))
      return failure();
    bool hasWeight = sum->weight && !sum->weight->empty(),
         hasVisible = sum->visible && !sum->visible->empty();
    LDBG() << op.getLoc() << ": weights are "
           << (sum->series ? "a series"
               : hasWeight ? "a formula of the score"
                           : "exponentials")
           << ", keys are counted " << (hasVisible ? "over pairs" : "by place");
    ++numLowered;
    OpBuilder builder(&op);
    Operation *before = op.getPrevNode();
    PairwiseBuilder lowering(*sum, builder);
    lowering.build();
    // Results: the new pairwise operation and the widened count.
    for (Operation *built = before ? before->getNextNode() : &block.front(); built != &op;
         built = built->getNextNode())
      if (isa<PairwiseOp>(built) || (isa<MapOp>(built) && built->getResult(0) != lowering.count))
        for (Value result : built->getResults())
          if (result != lowering.count)
            guards.start(result, lowering.count);
    op.erase();
  }
  guards.guardResults(block);
  guards.guardOperands(block);
  return success();
}

void RecurrencesToPairwise::runOnOperation() {
  WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
    if (isa<SpecOp, FunctionOp>(op))
      return lower(op->getRegion(0).front());
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}

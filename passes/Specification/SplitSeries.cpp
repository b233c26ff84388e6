// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A specification cut at its series. Passes.td has the rule.
#include "dialect/Refusal.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Polynomial.h"
#include "dialect/Taylor/RegionDerivative.h"
#include "passes/Debug.h"
#include "passes/Passes.h"
#include "passes/Specification/Rewrites.h"
#include "passes/Specification/Series.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#define DEBUG_TYPE "taylor-split-series"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_SPLITSERIESPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// The coefficients of a weight's formula, where there is one that is a polynomial of the score.
std::optional<SmallVector<double>> readWeight(RecurrencesOp op) {
  if (op.getWeight().empty())
    return std::nullopt;
  Block &weight = op.getWeight().front();
  return Polynomial::coefficientsIn(weight.getTerminator()->getOperand(0), weight.getArgument(0));
}

/// The one sum over pairs of a specification, if it is a series of powers of one product.
FailureOr<RecurrencesOp> findSeries(SpecOp spec) {
  SmallVector<Operation *> sums;
  for (Operation &op : spec.getBody().front())
    if (isa<RecurrencesOp, RecurrenceOp, PairwiseOp>(op))
      sums.push_back(&op);
  if (sums.empty())
    return spec.emitError(
        "requires a taylor.recurrences, whose orders can be told apart, but found no sum over pairs");
  if (sums.size() > 1)
    return sums[1]->emitError("expected one sum over pairs, whose orders can be told apart, but got ")
           << sums.size() << "; put each into a specification of its own";
  auto op = dyn_cast<RecurrencesOp>(sums.front());
  if (!op)
    return sums.front()->emitError(
        "requires a taylor.recurrences, which says what its orders are; write this sum as one");
  for (auto [region, clause, reason] :
       {std::tuple{
            &op.getWeight(), "weight",
            "this formula of the score is no polynomial of it; write it as orders(a to b) coefficients(..)"},
        {&op.getScore(), "score",
         "orders are powers of the product itself; use a copy of the specification without the clause"},
        {&op.getVisible(), "visible",
         "orders are measured over all pairs of the mask; use a copy of the specification without the "
         "clause"}})
    if (!region->empty() && !(region == &op.getWeight() && readWeight(op)))
      return refuse(op.emitError("unsupported ")) << clause << "(..) where orders are told apart: " << reason;
  for (auto [array, name, token] : {std::tuple{op.getQuery(), "query", AxisRole::Query},
                                    {op.getKey(), "key", AxisRole::Key},
                                    {op.getValue(), "value", AxisRole::Key}}) {
    ArrayType type = array.getType();
    if (type.getRank() != 4 || !type.has(AxisRole::Batch) || !type.has(token) ||
        !(type.has(AxisRole::Head) || (type.has(AxisRole::KeyHead) && token == AxisRole::Key)))
      return op.emitError("requires the axes b, ")
             << nameOf(token == AxisRole::Query ? AxisRole::Head : AxisRole::KeyHead) << ", " << nameOf(token)
             << " and a channel of the " << name << ", but got " << type;
  }
  return op;
}

/// A name that no argument has.
std::string freshName(ArrayRef<Attribute> taken, StringRef wanted) {
  std::string name = wanted.str();
  while (llvm::any_of(taken, [&](Attribute other) { return cast<StringAttr>(other).getValue() == name; }))
    name += "_sum";
  return name;
}

void setResults(SpecOp spec, ArrayRef<Value> results, ArrayRef<StringRef> names) {
  auto yield = cast<YieldOp>(spec.getBody().front().getTerminator());
  yield.getValuesMutable().assign(results);
  yield.setNamesAttr(OpBuilder(spec.getContext()).getStrArrayAttr(names));
}

/// Names of the arguments that stand for the sums in what comes after them.
NamedAttrList nameSums(SpecOp spec, RecurrencesOp op) {
  OpBuilder builder(op);
  SmallVector<Attribute> taken(spec.getArgNames().getValue());
  NamedAttrList names;
  for (SumAttr sum : op.getSums().getAsRange<SumAttr>()) {
    StringRef kind = stringifySum(sum.getValue());
    taken.push_back(builder.getStringAttr(freshName(taken, kind)));
    names.append(kind, taken.back());
  }
  return names;
}

/// What the caller must know of the series beside its operands.
FailureOr<DictionaryAttr> describe(SpecOp spec, RecurrencesOp op) {
  OpBuilder builder(op);
  NamedAttrList facts;
  facts.append("decay", builder.getBoolAttr(op.getDecay() != nullptr));
  facts.append("mask", builder.getStringAttr(stringifyMask(op.getMask())));
  facts.append("sums", nameSums(spec, op).getDictionary(op.getContext()));
  if (op.getFirstOrder()) {
    FailureOr<Series> series = readSeries(op);
    if (failed(series))
      return failure();
    facts.append("first", builder.getI64IntegerAttr(series->first));
    facts.append("coefficients", builder.getF64ArrayAttr(series->coefficients));
  } else if (std::optional<SmallVector<double>> coefficients = readWeight(op)) {
    facts.append("first", builder.getI64IntegerAttr(0));
    facts.append("coefficients", builder.getF64ArrayAttr(*coefficients));
  }
  return facts.getDictionary(op.getContext());
}

/// Arguments -> scale * query, key, value, decay.
void keepOperands(SpecOp spec, RecurrencesOp op) {
  OpBuilder builder(op);
  Value query = op.getQuery();
  if (!op.getScale().empty())
    query = buildMap(builder, op.getLoc(), query, {}, [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
      IRMapping values;
      Block &scale = op.getScale().front();
      cloneScalars(b, scale, values);
      return arith::MulFOp::create(b, loc, x[0],
                                   values.lookupOrDefault(scale.getTerminator()->getOperand(0)));
    });
  SmallVector<Value> results = {query, op.getKey(), op.getValue()};
  SmallVector<StringRef> names = {"query", "key", "value"};
  if (op.getDecay()) {
    results.push_back(op.getDecay());
    names.push_back("decay");
  }
  setResults(spec, results, names);
  dropUnused(spec);
}

/// Arguments and the sums -> what the specification gives.
void keepRest(SpecOp spec, RecurrencesOp op) {
  OpBuilder builder(op);
  Block &body = spec.getBody().front();
  SmallVector<Attribute> names(spec.getArgNames().getValue()), sources(spec.getSources().getValue());
  NamedAttrList sums = nameSums(spec, op);
  FloatAttr zero = builder.getF64FloatAttr(0.0);
  for (auto [result, sum] : llvm::zip_equal(op.getResults(), op.getSums().getAsRange<SumAttr>())) {
    names.push_back(sums.get(stringifySum(sum.getValue())));
    sources.push_back(
        SourceAttr::get(builder.getContext(), SourceKind::Input, false, Initial::Zeros, zero, zero));
    result.replaceAllUsesWith(body.addArgument(result.getType(), op.getLoc()));
  }
  spec.setArgNamesAttr(builder.getArrayAttr(names));
  spec.setSourcesAttr(builder.getArrayAttr(sources));
  dropUnused(spec);
}

LogicalResult split(SpecOp spec) {
  FailureOr<RecurrencesOp> series = findSeries(spec);
  if (failed(series))
    return failure();
  if (failed(resolveOrders(spec, *series)))
    return failure();
  FailureOr<DictionaryAttr> facts = describe(spec, *series);
  if (failed(facts))
    return failure();
  LDBG() << "@" << spec.getSymName() << ": cut at " << series->getLoc() << ", " << *facts;
  OpBuilder builder(spec);
  auto clone = [&](StringRef suffix) {
    auto copy = cast<SpecOp>(builder.clone(*spec));
    copy.setSymName((spec.getSymName() + suffix).str());
    return std::pair(copy, *copy.getBody().front().getOps<RecurrencesOp>().begin());
  };
  auto [operands, before] = clone("_operands");
  operands.setSeriesAttr(*facts);
  keepOperands(operands, before);
  auto [rest, after] = clone("_rest");
  rest.removeSeriesAttr();
  keepRest(rest, after);
  spec.erase();
  return success();
}

class SplitSeries : public ::taylor::impl::SplitSeriesPassBase<SplitSeries> {
  void runOnOperation() override {
    for (SpecOp spec : llvm::to_vector(getOperation().getOps<SpecOp>())) {
      if (failed(split(spec)))
        return signalPassFailure();
      ++numSplit;
    }
  }
};

} // namespace

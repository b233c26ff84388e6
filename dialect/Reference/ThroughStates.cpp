// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Reference/ThroughStates.h"
#include "dialect/Reference/SeriesWeight.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"
#include <memory>

using namespace mlir;
using namespace taylor;
using namespace taylor::reference;

namespace {

/// One part of the sums. Their pullback reads the environment.
struct StatePart {
  std::shared_ptr<Environment> environment;
  PairsEvaluated evaluated;
};

/// The parts of a form, evaluated.
FailureOr<std::vector<StatePart>> evaluateParts(const Environment &environment, const StatesForm &form,
                                                EvaluatePairs evaluate) {
  std::vector<StatePart> parts;
  std::vector<PairsPart> names = {PairsPart::All};
  if (form.hasStates())
    names = {PairsPart::Pairs, PairsPart::ThroughStates};
  for (PairsPart name : names) {
    auto own = std::make_shared<Environment>(environment);
    own->part = name;
    own->forward = form;
    if (name == PairsPart::ThroughStates)
      own->arithmetic = {environment.arithmetic.accumulator, environment.arithmetic.accumulator, Rounding()};
    FailureOr<PairsEvaluated> evaluated = evaluate(*own);
    if (failed(evaluated))
      return failure();
    parts.push_back({std::move(own), std::move(*evaluated)});
  }
  return parts;
}

/// sum += part, each rounded to the type; an array without elements is zero.
void addPart(Array &sum, const Array &part, const Rounding &rounding) {
  if (part.values.empty())
    return;
  Array rounded = part;
  roundAll(rounded, rounding);
  addTo(sum, std::move(rounded), rounding);
}

/// Whether it is a constant 0, 1, 2, ..
bool isWhole(Value exponent) {
  APFloat number(0.0);
  return matchPattern(exponent, m_ConstantFloat(&number)) && number.isInteger() && !number.isNegative();
}

/// Whether a region's result is a polynomial of its first argument, by operations that show it.
bool isPolynomial(Region &region) {
  if (region.empty())
    return true;
  llvm::DenseSet<Value> ofScore{region.front().getArgument(0)};
  for (Operation &op : region.front().without_terminator()) {
    auto depends = [&](Value value) { return ofScore.contains(value); };
    if (llvm::none_of(op.getOperands(), depends))
      continue;
    bool isKnown = isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op) ||
                   (isa<arith::DivFOp>(op) && !depends(op.getOperand(1))) ||
                   (isa<arith::SelectOp>(op) && !depends(op.getOperand(0))) ||
                   (isa<math::PowFOp>(op) && isWhole(op.getOperand(1)));
    if (!isKnown)
      return false;
    ofScore.insert(op.getResult(0));
  }
  return true;
}

/// Whether a condition asks for equal numbers alone, as those of documents.
bool asksForEquals(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return asksForEquals(both.getLhs()) && asksForEquals(both.getRhs());
  auto compares = condition.getDefiningOp<arith::CmpIOp>();
  return compares && compares.getPredicate() == arith::CmpIPredicate::eq;
}

} // namespace

bool taylor::reference::canHaveStates(RecurrencesOp op) {
  Region &visible = op.getVisible();
  return !op.getAllOrders() && isPolynomial(op.getScore()) && isPolynomial(op.getWeight()) &&
         (visible.empty() || asksForEquals(visible.front().getTerminator()->getOperand(0)));
}

Evaluated taylor::reference::asEvaluated(PairsEvaluated sums) {
  Evaluated evaluated;
  evaluated.results = std::move(sums.results);
  evaluated.sees.assign(evaluated.results.size(), seeingRows(sums.counts));
  evaluated.pullback = std::move(sums.pullback);
  return evaluated;
}

FailureOr<PairsEvaluated> taylor::reference::evaluateThroughStates(ArrayAttr sums,
                                                                   const Environment &environment,
                                                                   EvaluatePairs evaluate) {
  using Parts = std::vector<StatePart>;
  FailureOr<Parts> forward = evaluateParts(environment, environment.forward, evaluate);
  if (failed(forward))
    return failure();
  auto backward = std::make_shared<Parts>();
  PairsEvaluated whole;
  whole.counts = forward->front().evaluated.counts;
  whole.results = forward->front().evaluated.results;
  for (const StatePart &part : ArrayRef(*forward).drop_front()) {
    addTo(whole.counts, part.evaluated.counts, Rounding());
    for (auto [name, sum, more] :
         llvm::zip_equal(sums.getAsRange<SumAttr>(), whole.results, part.evaluated.results))
      addPart(sum, more, name.getValue() == Sum::Count ? Rounding() : environment.arithmetic.value);
  }
  if (environment.backward == environment.forward) {
    *backward = std::move(*forward);
  } else {
    FailureOr<Parts> parts = evaluateParts(environment, environment.backward, evaluate);
    if (failed(parts))
      return failure();
    *backward = std::move(*parts);
  }
  Rounding rounding = environment.arithmetic.value;
  whole.pullback = [backward, rounding](ArrayRef<Array> cotangents) {
    std::vector<Array> gradients = backward->front().evaluated.pullback(cotangents);
    for (const StatePart &part : ArrayRef(*backward).drop_front())
      for (auto [sum, more] : llvm::zip_equal(gradients, part.evaluated.pullback(cotangents)))
        addPart(sum, more, rounding);
    return gradients;
  };
  return whole;
}

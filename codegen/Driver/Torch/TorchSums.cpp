// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over keys as PyTorch statements: all pairs of a head at once.
#include "codegen/Driver/Torch/TorchSums.h"
#include "codegen/Driver/Torch/TorchReads.h"
#include "dialect/Refusal.h"
#include "dialect/Taylor/Axes.h"

using namespace mlir;
using namespace taylor;

namespace {

constexpr AxisRef kPairs[] = {AxisRole::Batch, AxisRole::Head, AxisRole::Query, AxisRole::Key};

} // namespace

template <typename Op> TorchText SumPrinter::printScore(Op op) {
  StringRef channel = channelOf(op.getQuery().getType());
  TorchText query = values.narrow(
      scope.align(values.textOf(op.getQuery()), {AxisRole::Batch, AxisRole::Head, AxisRole::Query, channel}));
  TorchText key = values.narrow(
      scope.align(values.textOf(op.getKey()), {AxisRole::Batch, AxisRole::Head, AxisRole::Key, channel}));
  TorchText score{query.at(Strength::Term) + " @ " + key.at(Strength::Power) + ".transpose(-2, -1)",
                  Strength::Term, SmallVector<AxisRef>(ArrayRef(kPairs)), false, false};
  if (!op.getScale().empty()) {
    FailureOr<SmallVector<TorchText>> scale = printRegion(scope, op.getScale(), {}, {});
    if (succeeded(scale))
      score.text += " * " + scale->front().at(Strength::Term);
  }
  return scope.assign("s", score);
}

template <typename Op> TorchText SumPrinter::printLogDecay(Op op) {
  TorchText decay = values.textOf(op.getDecay());
  return {scope.align(readAtQueries(scope, decay), kPairs).at(Strength::Term) + " - " +
              scope.align(decay, kPairs).at(Strength::Sum),
          Strength::Sum, SmallVector<AxisRef>(ArrayRef(kPairs)), false, decay.isWide};
}

FailureOr<TorchText> SumPrinter::printVisible(Mask mask, Region *conditions, ValueRange extras) {
  TorchText visible;
  if (mask == Mask::Causal) {
    TorchText t = scope.getIndex(AxisRole::Query), u = scope.getIndex(AxisRole::Key);
    visible = {scope.align(u, kPairs).text + " <= " + scope.align(t, kPairs).text,
               Strength::Comparison,
               {AxisRole::Query, AxisRole::Key},
               false,
               false};
  }
  if (conditions && !conditions->empty()) {
    SmallVector<TorchText> operands;
    for (Value extra : extras)
      operands.push_back(scope.align(readAtPairs(scope, values.textOf(extra)), kPairs));
    FailureOr<SmallVector<TorchText>> body = printRegion(scope, *conditions, operands, kPairs);
    if (failed(body))
      return failure();
    TorchText condition = body->front();
    if (!visible.text.empty()) {
      condition.text = visible.at(Strength::And) + " & " + condition.at(Strength::And);
      condition.strength = Strength::And;
      if (condition.axes.size() < visible.axes.size())
        condition.axes = visible.axes;
    }
    visible = condition;
  }
  if (visible.text.empty())
    return visible;
  TorchText &known = visibleMasks[visible.text];
  if (known.text.empty())
    known = scope.assign("visible", visible);
  return known;
}

static FailureOr<int64_t> getOrder(Operation *op, Attribute bound) {
  if (auto integer = dyn_cast<IntegerAttr>(bound))
    return integer.getInt();
  auto value = dyn_cast_or_null<IntegerAttr>(
      op->getParentOfType<SpecOp>().getParameters().get(cast<StringAttr>(bound).getValue()));
  if (!value)
    return op->emitError("requires an index parameter '")
           << cast<StringAttr>(bound).getValue() << "' of the specification";
  return value.getInt();
}

FailureOr<TorchText> SumPrinter::printSeries(RecurrencesOp op, TorchText x) {
  FailureOr<int64_t> first = getOrder(op, *op.getFirstOrder()), last = getOrder(op, *op.getLastOrder());
  if (failed(first) || failed(last))
    return failure();
  TorchText weight = x;
  weight.strength = Strength::Primary;
  if (op.getCoefficients()) {
    // Horner's scheme from the top order.
    auto [lowest, coefficients] = op.getTerms(*first);
    std::string list;
    for (double coefficient : llvm::reverse(ArrayRef(coefficients).drop_back()))
      list += (list.empty() ? "" : ", ") + printNumber(coefficient);
    weight.text = "torch.full_like(" + x.text + ", " + printNumber(coefficients.back()) + ")";
    weight = scope.assign("w", weight);
    if (!list.empty()) {
      std::string coefficient = scope.makeName("c");
      scope.addLine("for " + coefficient + " in [" + list + "]:");
      scope.addLine("    " + weight.text + " = " + weight.text + " * " + x.text + " + " + coefficient);
    }
    if (lowest)
      scope.addLine(weight.text + " = " + weight.text + " * " + x.text + " ** " + std::to_string(lowest));
    return weight;
  }
  double factorial = 1;
  for (int64_t n = 2; n <= *first; ++n)
    factorial *= n;
  if (*first == *last) {
    std::string power = *first == 0   ? "torch.ones_like(" + x.text + ")"
                        : *first == 1 ? x.text
                                      : x.text + " ** " + std::to_string(*first);
    weight.text = factorial == 1 ? power : power + " / " + printNumber(factorial);
    weight.strength = Strength::Term;
    return weight;
  }
  TorchText term = x;
  term.text = *first == 0 ? "torch.ones_like(" + x.text + ")"
                          : x.text + " ** " + std::to_string(*first) + " / " + printNumber(factorial);
  term = scope.assign("term", term);
  weight.text = term.text;
  weight.text = scope.makeName("w");
  scope.addLine(weight.text + " = " + term.text);
  std::string order = scope.makeName("n");
  scope.addLine("for " + order + " in range(" + std::to_string(*first + 1) + ", " +
                std::to_string(*last + 1) + "):  # term = s^" + order + " / " + order + "!");
  scope.addLine("    " + term.text + " = " + term.text + " * " + x.text + " / " + order);
  scope.addLine("    " + weight.text + " = " + weight.text + " + " + term.text);
  return weight;
}

FailureOr<TorchText> SumPrinter::printWeight(RecurrencesOp op, TorchText score, TorchText visible) {
  SmallVector<TorchText> arguments{score};
  for (Value extra : op.getExtras())
    arguments.push_back(scope.align(readAtPairs(scope, values.textOf(extra)), kPairs));
  auto hide = [&](TorchText text, StringRef number) {
    if (visible.text.empty())
      return text;
    text.text = text.at(Strength::Power) + ".masked_fill(~" + visible.text + ", " + number.str() + ")";
    text.strength = Strength::Primary;
    return text;
  };
  TorchText x = score;
  if (!op.getScore().empty()) {
    FailureOr<SmallVector<TorchText>> mapped = printRegion(scope, op.getScore(), arguments, kPairs);
    if (failed(mapped))
      return failure();
    x = mapped->front();
    x.axes.assign(std::begin(kPairs), std::end(kPairs));
  }
  bool isExponential = op.getAllOrders();
  if (isExponential) {
    if (op.getDecay()) {
      TorchText decay = printLogDecay(op);
      x = {x.at(Strength::Comparison) + " + (" + decay.text + ")", Strength::Sum, x.axes, false,
           x.isWide || decay.isWide};
    }
    x = hide(x, "float(\"-inf\")");
    x.text = "torch.exp(" + x.text + ")";
    x.strength = Strength::Primary;
    return scope.assign("w", values.narrow(x));
  }

  // 0 in place of hidden scores: a weight there may be infinite, and 0 times its gradient no number.
  x = hide(x, "0.0");
  if (!TorchScope::isName(x))
    x = scope.assign("x", x);
  TorchText weight;
  if (op.getWeight().empty()) {
    FailureOr<TorchText> series = printSeries(op, x);
    if (failed(series))
      return failure();
    weight = *series;
  } else {
    arguments[0] = x;
    FailureOr<SmallVector<TorchText>> mapped = printRegion(scope, op.getWeight(), arguments, kPairs);
    if (failed(mapped))
      return failure();
    weight = mapped->front();
    if (weight.isNumber)
      weight = scope.expand(weight, kPairs);
  }
  if (op.getDecay()) {
    TorchText decay = hide(printLogDecay(op), "0.0");
    weight = {weight.at(Strength::Sum) + " * torch.exp(" + decay.text + ")", Strength::Term, x.axes, false,
              weight.isWide || decay.isWide};
  }
  weight.axes.assign(std::begin(kPairs), std::end(kPairs));
  weight = hide(weight, "0.0");
  return TorchScope::isName(weight) && !weight.isWide ? weight : scope.assign("w", values.narrow(weight));
}

template <typename Op> void SumPrinter::printSum(Op op, int64_t index, TorchText weight, TorchText visible) {
  auto type = cast<ArrayType>(op.getResult(index).getType());
  SmallVector<AxisRef> axes = axesOf(type);
  TorchText sum{"", Strength::Primary, {AxisRole::Batch, AxisRole::Head, AxisRole::Query}, false, false};
  std::string hint;
  switch (cast<SumAttr>(op.getSums()[index]).getValue()) {
  case Sum::Numerator: {
    hint = "n";
    StringRef channel = channelOf(op.getValue().getType());
    TorchText value = values.narrow(
        scope.align(values.textOf(op.getValue()), {AxisRole::Batch, AxisRole::Head, AxisRole::Key, channel}));
    sum.text = weight.text + " @ " + value.at(Strength::Term);
    sum.strength = Strength::Term;
    sum.axes.push_back(channel);
    break;
  }
  case Sum::Mass:
    hint = "z";
    sum.text = weight.text + ".sum(-1)";
    break;
  case Sum::Count:
    hint = "count";
    if (visible.text.empty()) {
      sum = TorchText{"float(" + scope.getSize(AxisRole::Key) + ")", Strength::Primary, {}, true, false};
    } else {
      // As positions: PyTorch differentiates a power of integers in f32, whatever the exponent's type.
      sum.axes = withoutAxis(visible.axes, AxisRole::Key);
      sum.text = visible.text + ".sum(-1).float() + " + scope.like + ".new_zeros([1])";
      sum.strength = Strength::Sum;
      sum.isWide = true;
    }
    break;
  case Sum::State:
    llvm_unreachable("a state is printed by its recurrence");
  }
  // Sums of key/value heads: those of a group's heads are equal.
  if (int64_t head = sum.find(AxisRole::Head);
      head >= 0 && type.has(AxisRole::KeyHead) && !type.has(AxisRole::Head)) {
    sum.text = sum.at(Strength::Power) + "[:, ::" + scope.getSize(AxisRole::Head) + " // " +
               scope.getSize(AxisRole::KeyHead) + "]";
    sum.strength = Strength::Primary;
    sum.axes[head] = AxisRole::KeyHead;
  }
  if (sum.axes != axes)
    sum = scope.expand(sum, axes);
  values.bind(op.getResult(index), hint, sum);
}

template <typename Op> void SumPrinter::printSums(Op op, TorchText weight, TorchText visible) {
  KeySums sums;
  sums.everywhere = visible.text.empty();
  if (!visible.text.empty()) {
    TorchText mask{"~" + visible.text + ".any(-1)", Strength::Unary, withoutAxis(visible.axes, AxisRole::Key),
                   false, false};
    sums.masks.push_back(values.dead.nameMask(mask));
  }
  for (auto [index, sum] : llvm::enumerate(op.getSums().template getAsRange<SumAttr>())) {
    if (sum.getValue() == Sum::State)
      continue;
    printSum(op, index, weight, visible);
    values.dead.setSums(op.getResult(index), sums);
  }
}

LogicalResult SumPrinter::print(RecurrencesOp op) {
  TorchText score = printScore(op);
  FailureOr<TorchText> visible = printVisible(op.getMask(), &op.getVisible(), op.getExtras());
  if (failed(visible))
    return failure();
  FailureOr<TorchText> weight = printWeight(op, score, *visible);
  if (failed(weight))
    return failure();
  printSums(op, *weight, *visible);
  return success();
}

LogicalResult SumPrinter::print(RecurrenceOp op) {
  if (op.getState() || op.getSum(Sum::State))
    return refuse(op.emitError("unsupported state of a recurrence in PyTorch code; collect the orders with "
                               "taylor-collect-recurrences first"));
  TorchText score = printScore(op);
  FailureOr<TorchText> visible = printVisible(op.getMask(), nullptr, {});
  if (failed(visible))
    return failure();
  double coefficient = op.getCoefficient().convertToDouble();
  TorchText weight{printNumber(coefficient) + " * " + score.text + " ** " + std::to_string(op.getOrder()),
                   Strength::Term, score.axes, false, false};
  if (op.getDecay()) {
    TorchText decay = printLogDecay(op);
    weight.text += " * torch.exp(" + decay.text + ")";
    weight.isWide |= decay.isWide;
  }
  if (!visible->text.empty()) {
    weight.text = "(" + weight.text + ").masked_fill(~" + visible->text + ", 0.0)";
    weight.strength = Strength::Primary;
  }
  printSums(op, scope.assign("w", values.narrow(weight)), *visible);
  return success();
}

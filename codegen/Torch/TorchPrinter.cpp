// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Array operations as PyTorch statements, one or two per operation.
#include "codegen/Torch/TorchPrinter.h"
#include "codegen/Torch/TorchExpression.h"

#include "dialect/Taylor/Axes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor;

namespace {

SmallVector<StringRef> axesOf(ArrayType array) {
  SmallVector<StringRef> axes;
  for (StringAttr axis : array.getAxes())
    axes.push_back(axis.getValue());
  return axes;
}

SmallVector<StringRef> withoutAxis(ArrayRef<StringRef> axes, StringRef gone) {
  SmallVector<StringRef> kept;
  llvm::copy_if(axes, std::back_inserter(kept), [&](StringRef axis) { return axis != gone; });
  return kept;
}

int64_t dimension(ArrayRef<StringRef> axes, StringRef axis) { return llvm::find(axes, axis) - axes.begin(); }

/// Names that a variable must not take: Python's words, and what the text itself calls.
constexpr StringRef kReserved[] = {
    "False",    "None",  "True",     "and",       "as",     "assert", "async",    "await",
    "break",    "class", "continue", "def",       "del",    "elif",   "else",     "except",
    "for",      "from",  "global",   "if",        "import", "in",     "is",       "lambda",
    "nonlocal", "not",   "or",       "pass",      "raise",  "return", "try",      "while",
    "with",     "yield", "torch",    "Tensor",    "Tuple",  "float",  "int",      "min",
    "max",      "range", "constant", "positions", "shift",  "rope",   "convolve", "read_at"};

class SpecPrinter {
public:
  explicit SpecPrinter(SpecOp spec) : spec(spec) {}
  FailureOr<std::string> print();

private:
  LogicalResult printArguments();
  LogicalResult printOperation(Operation *op);
  LogicalResult print(MapOp op);
  LogicalResult print(ReduceOp op);
  LogicalResult print(ScanOp op);
  LogicalResult print(AlignOp op);
  LogicalResult print(NormalizeOp op);
  LogicalResult print(RopeOp op);
  LogicalResult print(ConvolveOp op);
  LogicalResult print(RecurrencesOp op);
  LogicalResult print(RecurrenceOp op);
  LogicalResult print(YieldOp op);

  /// What both kinds of sums over keys share: the score of all pairs, and the sums of a weight.
  template <typename Op> TorchText printScore(Op op);
  template <typename Op> TorchText printLogDecay(Op op);
  template <typename Op> void printSums(Op op, TorchText weight, TorchText visible);
  template <typename Op> void printSum(Op op, int64_t index, TorchText weight, TorchText visible);
  FailureOr<TorchText> printVisible(RecurrencesOp op, Mask mask, Region *conditions, ValueRange extras);
  FailureOr<TorchText> printWeight(RecurrencesOp op, TorchText score, TorchText visible);
  FailureOr<TorchText> printSeries(RecurrencesOp op, TorchText x);
  FailureOr<int64_t> getOrder(Operation *op, Attribute bound);

  void bind(Value value, StringRef hint, TorchText text);
  /// Operands of a row operation, aligned to `axes`; rows that see no key hold 1 there, so that nothing is
  /// divided by 0.
  SmallVector<TorchText> readRows(ValueRange arrays, ArrayRef<StringRef> axes);
  /// The rows of `value` without a visible key, if there may be any, to be set to `number`.
  TorchText fillDead(TorchText text, ArrayRef<std::string> dead, ArrayRef<StringRef> axes, StringRef number);
  SmallVector<std::string> deadOf(ValueRange arrays);
  /// Rounds to the type of the first argument where the text may have a wider one.
  TorchText narrow(TorchText text);

  SpecOp spec;
  TorchScope scope;
  llvm::DenseMap<Value, TorchText> texts;
  /// Masks of rows without a visible key that a value depends on.
  llvm::DenseMap<Value, SmallVector<std::string>> deadRows;
  llvm::StringMap<TorchText> deadMasks;
  std::string signature;
};

void SpecPrinter::bind(Value value, StringRef hint, TorchText text) {
  // A result that the specification yields under a name is called so here.
  std::string name = hint.str();
  for (OpOperand &use : value.getUses())
    if (auto yield = dyn_cast<YieldOp>(use.getOwner()))
      name = cast<StringAttr>((*yield.getNames())[use.getOperandNumber()]).getValue().str();
  if (!llvm::all_of(name, [](char c) { return isalnum(c) || c == '_'; }) || isdigit(name.front()))
    name = hint.str();
  texts[value] = TorchScope::isName(text) ? text : scope.assign(name, text);
}

TorchText SpecPrinter::narrow(TorchText text) {
  if (!text.isWide)
    return text;
  text.text = text.at(Strength::Power) + ".to(" + scope.like + ")";
  text.strength = Strength::Primary;
  text.isWide = false;
  return text;
}

SmallVector<std::string> SpecPrinter::deadOf(ValueRange arrays) {
  SmallVector<std::string> dead;
  for (Value array : arrays)
    for (const std::string &mask : deadRows[array])
      if (!llvm::is_contained(dead, mask))
        dead.push_back(mask);
  return dead;
}

TorchText SpecPrinter::fillDead(TorchText text, ArrayRef<std::string> dead, ArrayRef<StringRef> axes,
                                StringRef number) {
  for (const std::string &name : dead) {
    TorchText mask = deadMasks[name];
    // The row is gone where t is: a reduction over heads of rows that all see nothing was 0 already.
    if (!llvm::is_contained(axes, "t"))
      continue;
    mask = scope.align(mask, axes);
    text.text = text.at(Strength::Power) + ".masked_fill(" + mask.text + ", " + number.str() + ")";
    text.strength = Strength::Primary;
  }
  return text;
}

SmallVector<TorchText> SpecPrinter::readRows(ValueRange arrays, ArrayRef<StringRef> axes) {
  SmallVector<TorchText> operands;
  for (Value array : arrays) {
    TorchText text = texts[array];
    text = fillDead(text, deadRows[array], text.axes, "1.0");
    operands.push_back(scope.align(text, axes));
  }
  return operands;
}

//===----------------------------------------------------------------------===//
// Local to rows and tokens
//===----------------------------------------------------------------------===//

LogicalResult SpecPrinter::print(MapOp op) {
  SmallVector<StringRef> axes = axesOf(op.getResult().getType());
  FailureOr<SmallVector<TorchText>> body =
      printRegion(scope, op.getBody(), readRows(op.getArrays(), axes), axes);
  if (failed(body))
    return failure();
  TorchText text = body->front();
  // A formula without arrays, or widened by `-> type`, is no tensor of the full size yet.
  if (text.isNumber || text.axes != axes)
    text = scope.expand(text, axes);
  SmallVector<std::string> dead = deadOf(op.getArrays());
  bind(op.getResult(), "y", fillDead(text, dead, axes, "0.0"));
  deadRows[op.getResult()] = dead;
  return success();
}

LogicalResult SpecPrinter::print(ReduceOp op) {
  SmallVector<ArrayType> arrays;
  for (Value array : op.getArrays())
    arrays.push_back(cast<ArrayType>(array.getType()));
  FailureOr<ArrayType> joined =
      joinArrays([&] { return op.emitOpError(); }, op.getContext(), arrays, indexedAxes(op.getBody()),
                 op.getResult().getType().getElementType());
  if (failed(joined))
    return failure();
  SmallVector<StringRef> axes = axesOf(*joined);
  FailureOr<SmallVector<TorchText>> body =
      printRegion(scope, op.getBody(), readRows(op.getArrays(), axes), axes);
  if (failed(body))
    return failure();
  TorchText text = body->front();
  if (text.isNumber || text.axes != axes)
    text = scope.expand(text, axes);

  std::string dims;
  for (StringAttr axis : op.getAxes().getAsRange<StringAttr>()) {
    if (axis == "group")
      return op.emitError(
          "unsupported reduction over the group in PyTorch code; it arises in derived functions only");
    int64_t dim = dimension(axes, axis.getValue()) - static_cast<int64_t>(axes.size());
    dims += (dims.empty() ? "" : ", ") + std::to_string(dim);
  }
  // amax gives equal shares of the gradient to ties.
  StringRef function = op.getKind() == Reduction::Sum    ? "sum"
                       : op.getKind() == Reduction::Mean ? "mean"
                                                         : "amax";
  text.text = text.at(Strength::Power) + "." + function.str() + "([" + dims + "])";
  text.strength = Strength::Primary;
  for (StringAttr axis : op.getAxes().getAsRange<StringAttr>())
    text.axes = withoutAxis(text.axes, axis.getValue());
  SmallVector<StringRef> resultAxes = axesOf(op.getResult().getType());
  if (text.axes != resultAxes)
    text = scope.expand(text, resultAxes);
  SmallVector<std::string> dead = deadOf(op.getArrays());
  bind(op.getResult(), "r", fillDead(text, dead, resultAxes, "0.0"));
  deadRows[op.getResult()] = dead;
  return success();
}

LogicalResult SpecPrinter::print(ScanOp op) {
  SmallVector<StringRef> axes = axesOf(op.getResult().getType());
  SmallVector<TorchText> operands;
  for (Value array : op.getArrays())
    operands.push_back(scope.align(texts[array], axes));
  FailureOr<SmallVector<TorchText>> body = printRegion(scope, op.getBody(), operands, axes);
  if (failed(body))
    return failure();
  TorchText text = body->front();
  if (text.isNumber || text.axes != axes)
    text = scope.expand(text, axes);
  std::string dim = std::to_string(dimension(axes, op.getAxis()));
  auto call = [&](std::string before, std::string after) {
    text.text = before + text.text + after;
    text.strength = Strength::Primary;
  };
  auto shiftBy = [&](int64_t n) {
    scope.useHelper("shift");
    call("shift(", ", " + std::to_string(op.getReverse() ? -n : n) + ", " + dim + ")");
  };
  if (op.getKind() == ScanKind::Shift) {
    shiftBy(op.getAmount());
  } else {
    std::string flip = op.getReverse() ? ".flip([" + dim + "])" : "";
    text.text = text.at(Strength::Power);
    call("", flip + ".cumsum(" + dim + ")" + flip);
    if (op.getExclusive())
      shiftBy(1);
  }
  bind(op.getResult(), "c", text);
  deadRows[op.getResult()] = deadOf(op.getArrays());
  return success();
}

LogicalResult SpecPrinter::print(AlignOp op) {
  TorchText text = texts[op.getArray()];
  StringRef from = op.getAxis() == "t" ? "u" : "t";
  if (from == "t")
    return op.emitError("unsupported taylor.align to u in PyTorch code; it arises in derived functions only");
  scope.useHelper("read_at");
  int64_t dim = dimension(text.axes, from);
  text.text = "read_at(" + text.text + ", " + scope.getIndex("t").text + ", " + std::to_string(dim) + ")";
  text.strength = Strength::Primary;
  text.axes[dim] = op.getAxis();
  bind(op.getResult(), "a", text);
  return success();
}

LogicalResult SpecPrinter::print(NormalizeOp op) {
  SmallVector<StringRef> axes = axesOf(op.getResult().getType());
  SmallVector<TorchText> operands = readRows(op->getOperands(), axes);
  SmallVector<StringRef> own = axesOf(op.getArray().getType());
  std::string dim =
      "[" + std::to_string(dimension(axes, op.getAxis()) - static_cast<int64_t>(axes.size())) + "]";
  std::string epsilon = printNumber(op.getEpsilon().convertToDouble());
  TorchText x = operands.front();
  if (own.size() != axes.size())
    x = scope.expand(x, axes);
  if (!TorchScope::isName(x))
    x = scope.assign("x", x);
  std::string mean = ".mean(" + dim + ", True)";
  if (op.getKind() == Norm::Layer)
    x = scope.assign("x", {x.text + " - " + x.text + mean, Strength::Sum, axes, false, x.isWide});
  TorchText text = x;
  if (op.getKind() == Norm::L2) {
    text.text = x.text + " / " + x.text + ".norm(2, " + dim + ", True).clamp(min=" + epsilon + ")";
  } else {
    text.text = x.text + " * torch.rsqrt((" + x.text + " * " + x.text + ")" + mean + " + " + epsilon + ")";
  }
  text.strength = Strength::Term;
  size_t next = 1;
  if (op.getWeight()) {
    text.text += " * " + operands[next].at(Strength::Term);
    text.isWide |= operands[next++].isWide;
  }
  if (op.getBias()) {
    text.text += " + " + operands[next].at(Strength::Sum);
    text.strength = Strength::Sum;
    text.isWide |= operands[next].isWide;
  }
  SmallVector<std::string> dead = deadOf(op->getOperands());
  bind(op.getResult(), "y", fillDead(text, dead, axes, "0.0"));
  deadRows[op.getResult()] = dead;
  return success();
}

LogicalResult SpecPrinter::print(RopeOp op) {
  StringRef token = op.getArray().getType().has("t") ? "t" : "u";
  SmallVector<StringRef> axes = axesOf(op.getArray().getType());
  axes = withoutAxis(withoutAxis(axes, token), op.getChannel());
  axes.append({token, op.getChannel()});
  TorchText text = scope.align(texts[op.getArray()], axes);
  scope.useHelper("rope");
  std::string position = scope.getIndex(token).text;
  if (int64_t offset = op.getOffset())
    position += (offset < 0 ? " - " : " + ") + std::to_string(std::abs(offset));
  if (op.getInverse())
    position = "-(" + position + ")";
  text.text = "rope(" + text.text + ", " + position + ", " + printNumber(op.getTheta().convertToDouble()) +
              ", " + (op.getLayout() == RopeLayout::Interleaved ? "True" : "False") + ")";
  text.strength = Strength::Primary;
  const TorchText &argument = texts[op.getArray()];
  bind(op.getResult(), TorchScope::isName(argument) ? argument.text + "r" : "r", text);
  return success();
}

LogicalResult SpecPrinter::print(ConvolveOp op) {
  SmallVector<StringRef> axes = axesOf(op.getArray().getType());
  TorchText x = scope.align(texts[op.getArray()], axes);
  SmallVector<StringRef> tapAxes = axes;
  tapAxes.push_back(op.getTapAxis());
  TorchText taps = scope.align(texts[op.getTaps()], tapAxes);
  if (op.getReverse())
    return op.emitError(
        "unsupported reverse convolution in PyTorch code; it arises in derived functions only");
  StringRef token = op.getArray().getType().has("t") ? "t" : "u";
  scope.useHelper("convolve");
  x.isWide |= taps.isWide;
  int64_t dim = dimension(axes, token) - static_cast<int64_t>(axes.size());
  x.text = "convolve(" + x.text + ", " + taps.text + ", " + std::to_string(dim) + ")";
  x.strength = Strength::Primary;
  bind(op.getResult(), "y", x);
  return success();
}

//===----------------------------------------------------------------------===//
// Sums over keys
//===----------------------------------------------------------------------===//

constexpr StringRef kPairs[] = {"b", "h", "t", "u"};

template <typename Op> TorchText SpecPrinter::printScore(Op op) {
  StringRef channel;
  for (StringAttr axis : op.getQuery().getType().getAxes())
    if (!isRuntimeAxis(axis))
      channel = axis.getValue();
  TorchText query = narrow(scope.align(texts[op.getQuery()], {"b", "h", "t", channel}));
  TorchText key = narrow(scope.align(texts[op.getKey()], {"b", "h", "u", channel}));
  TorchText score{query.at(Strength::Term) + " @ " + key.at(Strength::Power) + ".transpose(-2, -1)",
                  Strength::Term, SmallVector<StringRef>(ArrayRef(kPairs)), false, false};
  if (!op.getScale().empty()) {
    FailureOr<SmallVector<TorchText>> scale = printRegion(scope, op.getScale(), {}, {});
    if (succeeded(scale))
      score.text += " * " + scale->front().at(Strength::Term);
  }
  return scope.assign("s", score);
}

/// L[t] - L[u] of all pairs.
template <typename Op> TorchText SpecPrinter::printLogDecay(Op op) {
  TorchText decay = texts[op.getDecay()];
  scope.useHelper("read_at");
  TorchText atQueries = decay;
  int64_t dim = dimension(decay.axes, "u");
  atQueries.text =
      "read_at(" + decay.text + ", " + scope.getIndex("t").text + ", " + std::to_string(dim) + ")";
  atQueries.axes[dim] = "t";
  return {scope.align(atQueries, kPairs).at(Strength::Term) + " - " +
              scope.align(decay, kPairs).at(Strength::Sum),
          Strength::Sum, SmallVector<StringRef>(ArrayRef(kPairs)), false, decay.isWide};
}

FailureOr<TorchText> SpecPrinter::printVisible(RecurrencesOp op, Mask mask, Region *conditions,
                                               ValueRange extras) {
  TorchText visible;
  if (mask == Mask::Causal) {
    TorchText t = scope.getIndex("t"), u = scope.getIndex("u");
    visible = {scope.align(u, kPairs).text + " <= " + scope.align(t, kPairs).text,
               Strength::Comparison,
               {"t", "u"},
               false,
               false};
  }
  if (conditions && !conditions->empty()) {
    SmallVector<TorchText> operands;
    for (Value extra : extras)
      operands.push_back(scope.align(texts[extra], kPairs));
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
  return scope.assign("visible", visible);
}

FailureOr<int64_t> SpecPrinter::getOrder(Operation *op, Attribute bound) {
  if (auto integer = dyn_cast<IntegerAttr>(bound))
    return integer.getInt();
  auto value = dyn_cast_or_null<IntegerAttr>(spec.getParameters().get(cast<StringAttr>(bound).getValue()));
  if (!value)
    return op->emitError("requires an index parameter '")
           << cast<StringAttr>(bound).getValue() << "' of the specification";
  return value.getInt();
}

FailureOr<TorchText> SpecPrinter::printSeries(RecurrencesOp op, TorchText x) {
  FailureOr<int64_t> first = getOrder(op, *op.getFirstOrder()), last = getOrder(op, *op.getLastOrder());
  if (failed(first) || failed(last))
    return failure();
  TorchText weight = x;
  weight.strength = Strength::Primary;
  if (op.getCoefficients()) {
    // Horner's scheme from the top order.
    ArrayRef<Attribute> coefficients = op.getCoefficients()->getValue();
    std::string list;
    for (Attribute coefficient : llvm::reverse(coefficients))
      list += (list.empty() ? "" : ", ") + printNumber(cast<FloatAttr>(coefficient).getValueAsDouble());
    weight.text = "torch.zeros_like(" + x.text + ")";
    weight = scope.assign("w", weight);
    scope.addLine("for c in [" + list + "]:");
    scope.addLine("    " + weight.text + " = " + weight.text + " * " + x.text + " + c");
    if (*first)
      scope.addLine(weight.text + " = " + weight.text + " * " + x.text + " ** " + std::to_string(*first));
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
  scope.addLine("for n in range(" + std::to_string(*first + 1) + ", " + std::to_string(*last + 1) +
                "):  # term = s^n / n!");
  scope.addLine("    " + term.text + " = " + term.text + " * " + x.text + " / n");
  scope.addLine("    " + weight.text + " = " + weight.text + " + " + term.text);
  return weight;
}

FailureOr<TorchText> SpecPrinter::printWeight(RecurrencesOp op, TorchText score, TorchText visible) {
  SmallVector<TorchText> arguments{score};
  for (Value extra : op.getExtras())
    arguments.push_back(scope.align(texts[extra], kPairs));
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
    return scope.assign("w", narrow(x));
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
  return TorchScope::isName(weight) && !weight.isWide ? weight : scope.assign("w", narrow(weight));
}

template <typename Op> void SpecPrinter::printSum(Op op, int64_t index, TorchText weight, TorchText visible) {
  auto type = cast<ArrayType>(op.getResult(index).getType());
  SmallVector<StringRef> axes = axesOf(type);
  TorchText sum{"", Strength::Primary, {"b", "h", "t"}, false, false};
  std::string hint;
  switch (cast<SumAttr>(op.getSums()[index]).getValue()) {
  case Sum::Numerator: {
    hint = "n";
    StringRef channel;
    for (StringAttr axis : op.getValue().getType().getAxes())
      if (!isRuntimeAxis(axis))
        channel = axis.getValue();
    TorchText value = narrow(scope.align(texts[op.getValue()], {"b", "h", "u", channel}));
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
      sum = TorchText{"float(" + scope.getSize("u") + ")", Strength::Primary, {}, true, false};
    } else {
      sum.axes = withoutAxis(visible.axes, "u");
      sum.text = visible.text + ".sum(-1)";
    }
    break;
  case Sum::State:
    llvm_unreachable("a state is printed by its recurrence");
  }
  if (sum.axes != axes)
    sum = scope.expand(sum, axes);
  bind(op.getResult(index), hint, sum);
}

template <typename Op> void SpecPrinter::printSums(Op op, TorchText weight, TorchText visible) {
  SmallVector<std::string> dead;
  if (!visible.text.empty()) {
    TorchText mask{"~" + visible.text + ".any(-1)", Strength::Unary, withoutAxis(visible.axes, "u"), false,
                   false};
    mask = scope.assign("dead", mask);
    deadMasks[mask.text] = mask;
    dead.push_back(mask.text);
  }
  for (auto [index, sum] : llvm::enumerate(op.getSums().template getAsRange<SumAttr>())) {
    if (sum.getValue() == Sum::State)
      continue;
    printSum(op, index, weight, visible);
    deadRows[op.getResult(index)] = dead;
  }
}

LogicalResult SpecPrinter::print(RecurrencesOp op) {
  TorchText score = printScore(op);
  FailureOr<TorchText> visible = printVisible(op, op.getMask(), &op.getVisible(), op.getExtras());
  if (failed(visible))
    return failure();
  FailureOr<TorchText> weight = printWeight(op, score, *visible);
  if (failed(weight))
    return failure();
  printSums(op, *weight, *visible);
  return success();
}

LogicalResult SpecPrinter::print(RecurrenceOp op) {
  if (op.getState() || op.getSum(Sum::State))
    return op.emitError("unsupported state of a recurrence in PyTorch code; collect the orders with "
                        "taylor-collect-recurrences first");
  TorchText score = printScore(op);
  FailureOr<TorchText> visible = printVisible(nullptr, op.getMask(), nullptr, {});
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
  printSums(op, scope.assign("w", narrow(weight)), *visible);
  return success();
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

LogicalResult SpecPrinter::printArguments() {
  for (StringRef word : kReserved)
    scope.reserve(word);
  for (auto [argument, attribute, source] :
       llvm::zip(spec.getBody().getArguments(), spec.getArgNames(), spec.getSources())) {
    std::string name = cast<StringAttr>(attribute).getValue().str();
    for (char &c : name)
      if (!isalnum(c))
        c = '_';
    if (isdigit(name.front()))
      name.insert(0, "_");
    auto array = cast<ArrayType>(argument.getType());
    TorchText text{scope.makeName(name), Strength::Primary, axesOf(array), false, false};
    text.isWide = cast<SourceAttr>(source).getKind() == SourceKind::Parameter;
    texts[argument] = text;
    signature += (signature.empty() ? "" : ", ") + text.text + ": Tensor";
    for (auto [dim, axis] : llvm::enumerate(array.getAxes()))
      scope.sizeSources.try_emplace(axis.getValue(), text.text + ".size(" + std::to_string(dim) + ")");
    if (scope.like.empty() && !text.isWide && isa<FloatType>(array.getElementType()))
      scope.like = text.text;
  }
  if (scope.like.empty())
    return spec.emitError("requires an argument of a real type that is no learned parameter");
  // Without key/value heads in any argument, heads are all there is.
  if (!scope.sizeSources.contains("h") && scope.sizeSources.contains("g"))
    scope.sizeSources["h"] = scope.sizeSources["g"];
  for (StringRef axis : {"b", "h", "g", "t", "u"})
    scope.getSize(axis);
  return success();
}

LogicalResult SpecPrinter::print(YieldOp op) {
  std::string results;
  for (Value value : op.getValues()) {
    TorchText text = narrow(scope.expand(texts[value], axesOf(cast<ArrayType>(value.getType()))));
    results += (results.empty() ? "" : ", ") + text.text;
  }
  scope.addLine("return " + results);
  return success();
}

LogicalResult SpecPrinter::printOperation(Operation *op) {
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<MapOp, ReduceOp, ScanOp, AlignOp, NormalizeOp, RopeOp, ConvolveOp, RecurrencesOp, RecurrenceOp,
            YieldOp>([&](auto concrete) { return print(concrete); })
      .Default([](Operation *other) {
        return other->emitError("unsupported operation '")
               << other->getName() << "' in PyTorch code; print the specification before it is lowered";
      });
}

FailureOr<std::string> SpecPrinter::print() {
  if (failed(printArguments()))
    return failure();
  for (Operation &op : spec.getBody().front())
    if (failed(printOperation(&op)))
      return failure();
  auto yield = cast<YieldOp>(spec.getBody().front().getTerminator());
  std::string results = "Tensor";
  if (size_t count = yield.getValues().size(); count > 1) {
    results = "Tuple[Tensor";
    for (size_t i = 1; i < count; ++i)
      results += ", Tensor";
    results += "]";
  }
  std::string name = spec.getSymName().str();
  for (char &c : name)
    if (!isalnum(c))
      c = '_';
  // TorchScript's parser takes no import; what the text needs stands in the comment.
  std::string text =
      "# Needs `import torch` and `from torch import Tensor`; or torch.jit.CompilationUnit(this text).\n";
  text += printTorchHelpers(scope.helpers);
  text += "\ndef " + name + "(" + signature + ") -> " + results + ":\n";
  for (const std::string &line : scope.lines)
    text += line + "\n";
  return text;
}

} // namespace

FailureOr<std::string> taylor::printTorch(SpecOp spec) { return SpecPrinter(spec).print(); }

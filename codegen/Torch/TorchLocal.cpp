// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations local to rows and tokens as PyTorch statements, one or two per operation.
#include "codegen/Torch/SpecPrinter.h"
#include "dialect/Taylor/Axes.h"
#include <limits>

using namespace mlir;
using namespace taylor;

LogicalResult SpecPrinter::print(MapOp op) {
  SmallVector<AxisRef> axes = axesOf(op.getResult().getType());
  FailureOr<TorchText> text = printBody(op.getBody(), op.getArrays(), axes);
  if (failed(text))
    return failure();
  bindRows(op.getResult(), "y", *text, op.getArrays());
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
  SmallVector<AxisRef> axes = axesOf(*joined);
  FailureOr<TorchText> body = printBody(op.getBody(), op.getArrays(), axes);
  if (failed(body))
    return failure();
  TorchText text = *body;
  bool isMax = op.getKind() == Reduction::Max;
  Sums sums = leaveOutDead(op, text, axes, isMax ? -std::numeric_limits<double>::infinity() : 0.0);

  std::string dims;
  for (StringAttr axis : op.getAxes().getAsRange<StringAttr>()) {
    if (axis == kGroup)
      return op.emitError("unsupported over(group) in PyTorch code, whose sums run over whole axes; reduce "
                          "over(h), or compile "
                          "kernels of it");
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
  SmallVector<AxisRef> resultAxes = axesOf(op.getResult().getType());
  if (text.axes != resultAxes)
    text = scope.expand(text, resultAxes);
  bind(op.getResult(), "r", fillDead(text, sums, resultAxes, "0.0"));
  sumsOfValues[op.getResult()] = sums;
  return success();
}

SpecPrinter::Sums SpecPrinter::leaveOutDead(ReduceOp op, TorchText &terms, ArrayRef<AxisRef> axes,
                                            double none) {
  auto reduced = op.getAxes().getAsValueRange<StringAttr>();
  Sums sums = sumsOf(op.getArrays()), result;
  result.everywhere = sums.everywhere;
  bool varies = false;
  for (const std::string &name : sums.masks) {
    TorchText mask = deadMasks[name];
    SmallVector<StringRef> along =
        llvm::filter_to_vector(reduced, [&](StringRef axis) { return llvm::is_contained(mask.axes, axis); });
    for (StringRef axis : along) {
      mask.text = mask.at(Strength::Power) + ".all(" + std::to_string(dimension(mask.axes, axis)) + ")";
      mask.axes = withoutAxis(mask.axes, axis);
      mask.strength = Strength::Primary;
    }
    varies |= !along.empty();
    result.add({{along.empty() ? name : nameMask(mask)}, false});
  }
  if (varies)
    terms = fillDead(terms, sums, axes, printNumber(none));
  return result;
}

LogicalResult SpecPrinter::print(ScanOp op) {
  if (op.getWithin())
    return op.emitError("unsupported documents in PyTorch code; print it without --documents");
  SmallVector<AxisRef> axes = axesOf(op.getResult().getType());
  FailureOr<TorchText> body = printBody(op.getBody(), op.getArrays(), axes);
  if (failed(body))
    return failure();
  // Dead rows are no terms; the result mixes tokens and is alive.
  TorchText text = fillDead(*body, sumsOf(op.getArrays()), axes, printNumber(op.getIdentity()));
  std::string dim = std::to_string(dimension(axes, op.getAxis()));
  auto call = [&](std::string before, std::string after) {
    text.text = before + text.text + after;
    text.strength = Strength::Primary;
  };
  bool isMax = op.getKind() == ScanKind::Max;
  auto shiftBy = [&](int64_t n) {
    scope.useHelper("shift");
    std::string outside = isMax ? ", " + printNumber(op.getIdentity()) : "";
    call("shift(", ", " + std::to_string(op.getReverse() ? -n : n) + ", " + dim + outside + ")");
  };
  if (op.isShift()) {
    shiftBy(op.getAmount());
  } else {
    std::string flip = op.getReverse() ? ".flip([" + dim + "])" : "";
    std::string scan = isMax ? ".cummax(" + dim + ")[0]" : ".cumsum(" + dim + ")";
    text.text = text.at(Strength::Power);
    call("", flip + scan + flip);
    if (op.getExclusive())
      shiftBy(1);
  }
  bind(op.getResult(), "c", text);
  sumsOfValues[op.getResult()].everywhere = !sumsOf(op.getArrays()).isNone();
  return success();
}

LogicalResult SpecPrinter::print(AlignOp op) {
  TorchText text = texts[op.getArray()];
  bind(op.getResult(), "a", op.getAxis() == AxisRole::Key ? readAtKeys(text) : readAtQueries(text));
  sumsOfValues[op.getResult()].everywhere = !sumsOf(op.getArray()).isNone();
  return success();
}

LogicalResult SpecPrinter::print(NormalizeOp op) {
  SmallVector<AxisRef> axes = axesOf(op.getResult().getType());
  SmallVector<TorchText> operands = readRows(op->getOperands(), axes);
  SmallVector<AxisRef> own = axesOf(op.getArray().getType());
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
  bindRows(op.getResult(), "y", text, op->getOperands());
  return success();
}

LogicalResult SpecPrinter::print(RopeOp op) {
  StringRef token = op.getToken();
  SmallVector<AxisRef> axes = axesOf(op.getArray().getType());
  axes = withoutAxis(withoutAxis(axes, token), op.getChannel());
  axes.append({token, op.getChannel()});
  TorchText text = scope.align(texts[op.getArray()], axes);
  scope.useHelper("rope");
  std::string position;
  if (Value given = op.getPositions())
    position = (texts[given].isNumber ? scope.expand(texts[given], {token})
                                      : scope.align(texts[given], withoutAxis(axes, op.getChannel())))
                   .at(Strength::Sum);
  else
    position = scope.getIndex(token).text;
  if (int64_t offset = op.getOffset())
    position += (offset < 0 ? " - " : " + ") + std::to_string(std::abs(offset));
  if (op.getInverse())
    position = "-(" + position + ")";
  text.text = "rope(" + text.text + ", " + position + ", " + printNumber(op.getTheta().convertToDouble()) +
              ", " + (op.getLayout() == RopeLayout::Interleaved ? "True" : "False") + ")";
  text.strength = Strength::Primary;
  const TorchText &argument = texts[op.getArray()];
  bind(op.getResult(), TorchScope::isName(argument) ? argument.text + "r" : "r", text);
  sumsOfValues[op.getResult()] = sumsOf(op.getArray());
  return success();
}

LogicalResult SpecPrinter::print(ConvolveOp op) {
  SmallVector<AxisRef> axes = axesOf(op.getArray().getType());
  TorchText x = scope.align(texts[op.getArray()], axes);
  SmallVector<AxisRef> tapAxes = axes;
  tapAxes.push_back(op.getTapAxis());
  TorchText taps = scope.align(texts[op.getTaps()], tapAxes);
  if (op.getWithin())
    return op.emitError("unsupported documents in PyTorch code; print it without --documents");
  if (op.getReverse())
    return op.emitError(
        "unsupported reverse convolution in PyTorch code; it arises in derived functions only");
  AxisRef token = op.getArray().getType().has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key;
  scope.useHelper("convolve");
  x.isWide |= taps.isWide;
  int64_t dim = dimension(axes, token) - static_cast<int64_t>(axes.size());
  x.text = "convolve(" + x.text + ", " + taps.text + ", " + std::to_string(dim) + ")";
  x.strength = Strength::Primary;
  bind(op.getResult(), "y", x);
  sumsOfValues[op.getResult()].everywhere = !sumsOf(op->getOperands()).isNone();
  return success();
}

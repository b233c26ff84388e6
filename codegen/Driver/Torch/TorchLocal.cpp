// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations local to rows and tokens as PyTorch statements, one or two per operation.
#include "codegen/Driver/Torch/SpecPrinter.h"
#include "dialect/Taylor/Axes.h"
#include <limits>

using namespace mlir;
using namespace taylor;

static constexpr TorchHelper kHelpers[] = {
    {"shift", "", R"(def shift(x: Tensor, n: int, dim: int, outside: float = 0.0) -> Tensor:
    # y[i] = x[i - n]
    size = x.size(dim)
    m = min(abs(n), size)
    filled = torch.full_like(x.narrow(dim, 0, m), outside)
    if n >= 0:
        return torch.cat([filled, x.narrow(dim, 0, size - m)], dim)
    return torch.cat([x.narrow(dim, m, size - m), filled], dim)
)"},
    {"rope", "", R"(def rope(x: Tensor, position: Tensor, theta: float, interleaved: bool) -> Tensor:
    # x: [.., tokens, channels]; channel pairs turn by position * theta^(-2 i / channels)
    half = x.size(-1) // 2
    pair = torch.arange(half, device=x.device).double()
    angle = position.double().unsqueeze(-1) * torch.pow(theta, -pair / half)
    cos, sin = angle.cos().to(x), angle.sin().to(x)
    if interleaved:
        x1, x2 = x[..., 0::2], x[..., 1::2]
        return torch.stack([x1 * cos - x2 * sin, x2 * cos + x1 * sin], -1).flatten(-2)
    x1, x2 = x[..., :half], x[..., half:]
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], -1)
)"},
    {"convolve", "shift", R"(def convolve(x: Tensor, taps: Tensor, dim: int) -> Tensor:
    # y[t] = sum over j of taps[.., j] x[t - J + 1 + j] along dim, x before the start 0
    last = taps.size(-1) - 1
    y = taps.select(-1, last) * x
    for j in range(last):
        y = y + taps.select(-1, j) * shift(x, last - j, dim)
    return y
)"},
    {"gated_sum", "", R"(def gated_sum(x: Tensor, gates: Tensor, dim: int) -> Tensor:
    # y[t] = gates[t] y[t - 1] + x[t] along dim, y before the start 0
    y = x.narrow(dim, 0, 0).sum(dim)
    rows = [y.unsqueeze(dim)]
    for t in range(x.size(dim)):
        y = gates.select(dim, t) * y + x.select(dim, t)
        rows.append(y.unsqueeze(dim))
    return torch.cat(rows, dim).narrow(dim, 1, x.size(dim))
)"},
    {"read_at", "", R"(def read_at(x: Tensor, index: Tensor, dim: int) -> Tensor:
    # y[i] = x[index[i]] along dim; what is outside is read at the edge, for rows that see no key
    return x.index_select(dim, index.long().clamp(0, x.size(dim) - 1))
)"},
    {"at_keys", "", R"(def at_keys(x: Tensor, keys: int, dim: int) -> Tensor:
    # y[u] = x[u - keys + queries] along dim, 0 where there is no such query
    missing = keys - x.size(dim)
    if missing <= 0:
        return x.narrow(dim, -missing, keys)
    return torch.cat([torch.zeros_like(x.select(dim, 0)).unsqueeze(dim).repeat_interleave(missing, dim), x], dim)
)"},
    {"read_lags", "", R"(def read_lags(x: Tensor, queries: int, keys: int) -> Tensor:
    # y[.., t, u] = x[.., t - u + keys], lags along the last dim
    t = torch.arange(queries, device=x.device).unsqueeze(-1)
    lag = t - torch.arange(keys, device=x.device) + keys
    return x.index_select(x.dim() - 1, lag.flatten()).unflatten(-1, [queries, keys])
)"},
};

ArrayRef<TorchHelper> taylor::getLocalTorchHelpers() { return kHelpers; }

static LogicalResult printMap(MapOp op, SpecPrinter &printer) {
  SmallVector<AxisRef> axes = axesOf(op.getResult().getType());
  FailureOr<TorchText> text = printer.printBody(op.getBody(), op.getArrays(), axes);
  if (failed(text))
    return failure();
  printer.bindRows(op.getResult(), "y", *text, op.getArrays());
  return success();
}

static LogicalResult printReduce(ReduceOp op, SpecPrinter &printer) {
  SmallVector<ArrayType> arrays;
  for (Value array : op.getArrays())
    arrays.push_back(cast<ArrayType>(array.getType()));
  FailureOr<ArrayType> joined =
      joinArrays([&] { return op.emitOpError(); }, op.getContext(), arrays, indexedAxes(op.getBody()),
                 op.getResult().getType().getElementType());
  if (failed(joined))
    return failure();
  SmallVector<AxisRef> axes = axesOf(*joined);
  FailureOr<TorchText> body = printer.printBody(op.getBody(), op.getArrays(), axes);
  if (failed(body))
    return failure();
  TorchText text = *body;
  bool isMax = op.getKind() == Reduction::Max;
  SpecPrinter::Sums sums =
      printer.leaveOutDead(op, text, axes, isMax ? -std::numeric_limits<double>::infinity() : 0.0);

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
    text = printer.scope.expand(text, resultAxes);
  printer.bind(op.getResult(), "r", printer.fillDead(text, sums, resultAxes, "0.0"));
  printer.sumsOfValues[op.getResult()] = sums;
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

static LogicalResult printScan(ScanOp op, SpecPrinter &printer) {
  if (op.getWithin())
    return op.emitError("unsupported documents in PyTorch code; print it without --documents");
  SmallVector<AxisRef> axes = axesOf(op.getResult().getType());
  FailureOr<TorchText> body = printer.printBody(op.getBody(), op.getArrays(), axes);
  if (failed(body))
    return failure();
  // Dead rows are no terms; the result mixes tokens and is alive.
  TorchText text =
      printer.fillDead(*body, printer.sumsOf(op.getArrays()), axes, printNumber(op.getIdentity()));
  std::string dim = std::to_string(dimension(axes, op.getAxis()));
  auto call = [&](std::string before, std::string after) {
    text.text = before + text.text + after;
    text.strength = Strength::Primary;
  };
  bool isMax = op.getKind() == ScanKind::Max;
  auto shiftBy = [&](int64_t n) {
    printer.scope.useHelper("shift");
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
  printer.bind(op.getResult(), "c", text);
  printer.sumsOfValues[op.getResult()].everywhere = !printer.sumsOf(op.getArrays()).isNone();
  return success();
}

static LogicalResult printAlign(AlignOp op, SpecPrinter &printer) {
  TorchText text = printer.texts[op.getArray()];
  printer.bind(op.getResult(), "a",
               op.getAxis() == AxisRole::Key ? printer.readAtKeys(text) : printer.readAtQueries(text));
  printer.sumsOfValues[op.getResult()].everywhere = !printer.sumsOf(op.getArray()).isNone();
  return success();
}

static LogicalResult printNormalize(NormalizeOp op, SpecPrinter &printer) {
  SmallVector<AxisRef> axes = axesOf(op.getResult().getType());
  SmallVector<TorchText> operands = printer.readRows(op->getOperands(), axes);
  SmallVector<AxisRef> own = axesOf(op.getArray().getType());
  std::string dim =
      "[" + std::to_string(dimension(axes, op.getAxis()) - static_cast<int64_t>(axes.size())) + "]";
  std::string epsilon = printNumber(op.getEpsilon().convertToDouble());
  TorchText x = operands.front();
  if (own.size() != axes.size())
    x = printer.scope.expand(x, axes);
  if (!TorchScope::isName(x))
    x = printer.scope.assign("x", x);
  std::string mean = ".mean(" + dim + ", True)";
  if (op.getKind() == Norm::Layer)
    x = printer.scope.assign("x", {x.text + " - " + x.text + mean, Strength::Sum, axes, false, x.isWide});
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
  printer.bindRows(op.getResult(), "y", text, op->getOperands());
  return success();
}

static LogicalResult printRope(RopeOp op, SpecPrinter &printer) {
  StringRef token = op.getToken();
  SmallVector<AxisRef> axes = axesOf(op.getArray().getType());
  axes = withoutAxis(withoutAxis(axes, token), op.getChannel());
  axes.append({token, op.getChannel()});
  TorchText text = printer.scope.align(printer.texts[op.getArray()], axes);
  printer.scope.useHelper("rope");
  std::string position;
  if (Value given = op.getPositions())
    position = (printer.texts[given].isNumber
                    ? printer.scope.expand(printer.texts[given], {token})
                    : printer.scope.align(printer.texts[given], withoutAxis(axes, op.getChannel())))
                   .at(Strength::Sum);
  else
    position = printer.scope.getIndex(token).text;
  if (int64_t offset = op.getOffset())
    position += (offset < 0 ? " - " : " + ") + std::to_string(std::abs(offset));
  if (op.getInverse())
    position = "-(" + position + ")";
  text.text = "rope(" + text.text + ", " + position + ", " + printNumber(op.getTheta().convertToDouble()) +
              ", " + (op.getLayout() == RopeLayout::Interleaved ? "True" : "False") + ")";
  text.strength = Strength::Primary;
  const TorchText &argument = printer.texts[op.getArray()];
  printer.bind(op.getResult(), TorchScope::isName(argument) ? argument.text + "r" : "r", text);
  printer.sumsOfValues[op.getResult()] = printer.sumsOf(op.getArray());
  return success();
}

static LogicalResult printConvolve(ConvolveOp op, SpecPrinter &printer) {
  SmallVector<AxisRef> axes = axesOf(op.getArray().getType());
  TorchText x = printer.scope.align(printer.texts[op.getArray()], axes);
  SmallVector<AxisRef> tapAxes = axes;
  tapAxes.push_back(op.getTapAxis());
  TorchText taps = printer.scope.align(printer.texts[op.getTaps()], tapAxes);
  if (op.getWithin())
    return op.emitError("unsupported documents in PyTorch code; print it without --documents");
  if (op.getReverse())
    return op.emitError(
        "unsupported reverse convolution in PyTorch code; it arises in derived functions only");
  AxisRef token = op.getArray().getType().has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key;
  printer.scope.useHelper("convolve");
  x.isWide |= taps.isWide;
  int64_t dim = dimension(axes, token) - static_cast<int64_t>(axes.size());
  x.text = "convolve(" + x.text + ", " + taps.text + ", " + std::to_string(dim) + ")";
  x.strength = Strength::Primary;
  printer.bind(op.getResult(), "y", x);
  printer.sumsOfValues[op.getResult()].everywhere = !printer.sumsOf(op->getOperands()).isNone();
  return success();
}

static LogicalResult printGatedSum(GatedSumOp op, SpecPrinter &printer) {
  if (op.getWithin())
    return op.emitError("unsupported documents in PyTorch code; print it without --documents");
  if (op.getReverse())
    return op.emitError("unsupported reverse gated sum in PyTorch code; it arises in derived functions only");
  SmallVector<AxisRef> axes = axesOf(op.getArray().getType());
  TorchText x = printer.scope.align(printer.texts[op.getArray()], axes);
  TorchText gates = printer.scope.expand(printer.texts[op.getGates()], axes);
  printer.scope.useHelper("gated_sum");
  x.isWide |= gates.isWide;
  int64_t dim = dimension(axes, op.getToken()) - static_cast<int64_t>(axes.size());
  x.text = "gated_sum(" + x.text + ", " + gates.text + ", " + std::to_string(dim) + ")";
  x.strength = Strength::Primary;
  printer.bind(op.getResult(), "y", x);
  printer.sumsOfValues[op.getResult()].everywhere = !printer.sumsOf(op->getOperands()).isNone();
  return success();
}

/// The printer of an operation.
template <typename Op, LogicalResult (*print)(Op, SpecPrinter &)> static TorchRule ruleOf() {
  return {TypeID::get<Op>(),
          [](Operation *op, SpecPrinter &printer) { return print(cast<Op>(op), printer); }};
}

ArrayRef<TorchRule> taylor::getLocalTorchRules() {
  static const TorchRule rules[] = {
      ruleOf<MapOp, printMap>(),           ruleOf<ReduceOp, printReduce>(),       ruleOf<ScanOp, printScan>(),
      ruleOf<AlignOp, printAlign>(),       ruleOf<NormalizeOp, printNormalize>(), ruleOf<RopeOp, printRope>(),
      ruleOf<ConvolveOp, printConvolve>(), ruleOf<GatedSumOp, printGatedSum>(),
  };
  return rules;
}

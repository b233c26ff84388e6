// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations local to rows and tokens as PyTorch statements, one or two per operation.
#include "codegen/Driver/Torch/TorchLocal.h"
#include "codegen/Driver/Torch/TorchReads.h"
#include "dialect/Refusal.h"
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
};

ArrayRef<TorchHelper> taylor::getLocalTorchHelpers() { return kHelpers; }

static LogicalResult printMap(MapOp op, TorchValues &values) {
  SmallVector<AxisRef> axes = axesOf(op.getResult().getType());
  FailureOr<TorchText> text = values.printBody(op.getBody(), op.getArrays(), axes);
  if (failed(text))
    return failure();
  values.bindRows(op.getResult(), "y", *text, values.dead.sumsOf(op.getArrays()));
  return success();
}

static LogicalResult printReduce(ReduceOp op, TorchValues &values) {
  SmallVector<ArrayType> arrays;
  for (Value array : op.getArrays())
    arrays.push_back(cast<ArrayType>(array.getType()));
  FailureOr<ArrayType> joined =
      joinArrays([&] { return op.emitOpError(); }, op.getContext(), arrays, indexedAxes(op.getBody()),
                 op.getResult().getType().getElementType());
  if (failed(joined))
    return failure();
  SmallVector<AxisRef> axes = axesOf(*joined);
  FailureOr<TorchText> body = values.printBody(op.getBody(), op.getArrays(), axes);
  if (failed(body))
    return failure();
  TorchText text = *body;
  bool isMax = op.getKind() == Reduction::Max;
  KeySums sums = values.dead.leaveOut(op, text, axes, isMax ? -std::numeric_limits<double>::infinity() : 0.0);

  std::string dims;
  for (StringAttr axis : op.getAxes().getAsRange<StringAttr>()) {
    if (axis == kGroup)
      return refuse(
          op.emitError("unsupported over(group) in PyTorch code, whose sums run over whole axes; reduce "
                       "over(h), or compile "
                       "kernels of it"));
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
    text = values.scope.expand(text, resultAxes);
  values.bindRows(op.getResult(), "r", text, sums);
  return success();
}

static LogicalResult printScan(ScanOp op, TorchValues &values) {
  if (op.getWithin())
    return refuse(op.emitError("unsupported documents in PyTorch code; print it without --documents"));
  SmallVector<AxisRef> axes = axesOf(op.getResult().getType());
  FailureOr<TorchText> body = values.printBody(op.getBody(), op.getArrays(), axes);
  if (failed(body))
    return failure();
  // Dead rows are no terms; the result mixes tokens and is alive.
  TorchText text =
      values.dead.fill(*body, values.dead.sumsOf(op.getArrays()), axes, printNumber(op.getIdentity()));
  std::string dim = std::to_string(dimension(axes, op.getAxis()));
  auto call = [&](std::string before, std::string after) {
    text.text = before + text.text + after;
    text.strength = Strength::Primary;
  };
  bool isMax = op.getKind() == ScanKind::Max;
  auto shiftBy = [&](int64_t n) {
    values.scope.useHelper("shift");
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
  values.bind(op.getResult(), "c", text);
  values.dead.setMixed(op.getResult(), op.getArrays());
  return success();
}

static LogicalResult printAlign(AlignOp op, TorchValues &values) {
  TorchText text = values.textOf(op.getArray());
  values.bind(op.getResult(), "a",
              op.getAxis() == AxisRole::Key ? readAtKeys(values.scope, text)
                                            : readAtQueries(values.scope, text));
  values.dead.setMixed(op.getResult(), op.getArray());
  return success();
}

static LogicalResult printNormalize(NormalizeOp op, TorchValues &values) {
  SmallVector<AxisRef> axes = axesOf(op.getResult().getType());
  SmallVector<TorchText> operands = values.readRows(op->getOperands(), axes);
  SmallVector<AxisRef> own = axesOf(op.getArray().getType());
  std::string dim =
      "[" + std::to_string(dimension(axes, op.getAxis()) - static_cast<int64_t>(axes.size())) + "]";
  std::string epsilon = printNumber(op.getEpsilon().convertToDouble());
  TorchText x = operands.front();
  if (own.size() != axes.size())
    x = values.scope.expand(x, axes);
  if (!TorchScope::isName(x))
    x = values.scope.assign("x", x);
  std::string mean = ".mean(" + dim + ", True)";
  if (op.getKind() == Norm::Layer)
    x = values.scope.assign("x", {x.text + " - " + x.text + mean, Strength::Sum, axes, false, x.isWide});
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
  values.bindRows(op.getResult(), "y", text, values.dead.sumsOf(op->getOperands()));
  return success();
}

static LogicalResult printRope(RopeOp op, TorchValues &values) {
  StringRef token = op.getToken();
  SmallVector<AxisRef> axes = axesOf(op.getArray().getType());
  axes = withoutAxis(withoutAxis(axes, token), op.getChannel());
  axes.append({token, op.getChannel()});
  TorchText text = values.scope.align(values.textOf(op.getArray()), axes);
  values.scope.useHelper("rope");
  std::string position;
  if (Value given = op.getPositions())
    position = (values.textOf(given).isNumber
                    ? values.scope.expand(values.textOf(given), {token})
                    : values.scope.align(values.textOf(given), withoutAxis(axes, op.getChannel())))
                   .at(Strength::Sum);
  else
    position = values.scope.getIndex(token).text;
  if (int64_t offset = op.getOffset())
    position += (offset < 0 ? " - " : " + ") + std::to_string(std::abs(offset));
  if (op.getInverse())
    position = "-(" + position + ")";
  text.text = "rope(" + text.text + ", " + position + ", " + printNumber(op.getTheta().convertToDouble()) +
              ", " + (op.getLayout() == RopeLayout::Interleaved ? "True" : "False") + ")";
  text.strength = Strength::Primary;
  const TorchText &argument = values.textOf(op.getArray());
  values.bind(op.getResult(), TorchScope::isName(argument) ? argument.text + "r" : "r", text);
  values.dead.setSums(op.getResult(), values.dead.sumsOf(op.getArray()));
  return success();
}

static LogicalResult printConvolve(ConvolveOp op, TorchValues &values) {
  SmallVector<AxisRef> axes = axesOf(op.getArray().getType());
  TorchText x = values.scope.align(values.textOf(op.getArray()), axes);
  SmallVector<AxisRef> tapAxes = axes;
  tapAxes.push_back(op.getTapAxis());
  TorchText taps = values.scope.align(values.textOf(op.getTaps()), tapAxes);
  if (op.getWithin())
    return refuse(op.emitError("unsupported documents in PyTorch code; print it without --documents"));
  if (op.getReverse())
    return refuse(
        op.emitError("unsupported reverse convolution in PyTorch code; it arises in derived functions only"));
  AxisRef token = op.getArray().getType().has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key;
  values.scope.useHelper("convolve");
  x.isWide |= taps.isWide;
  int64_t dim = dimension(axes, token) - static_cast<int64_t>(axes.size());
  x.text = "convolve(" + x.text + ", " + taps.text + ", " + std::to_string(dim) + ")";
  x.strength = Strength::Primary;
  values.bind(op.getResult(), "y", x);
  values.dead.setMixed(op.getResult(), op->getOperands());
  return success();
}

static LogicalResult printGatedSum(GatedSumOp op, TorchValues &values) {
  if (op.getWithin())
    return refuse(op.emitError("unsupported documents in PyTorch code; print it without --documents"));
  if (op.getReverse())
    return refuse(
        op.emitError("unsupported reverse gated sum in PyTorch code; it arises in derived functions only"));
  SmallVector<AxisRef> axes = axesOf(op.getArray().getType());
  TorchText x = values.scope.align(values.textOf(op.getArray()), axes);
  TorchText gates = values.scope.expand(values.textOf(op.getGates()), axes);
  values.scope.useHelper("gated_sum");
  x.isWide |= gates.isWide;
  int64_t dim = dimension(axes, op.getToken()) - static_cast<int64_t>(axes.size());
  x.text = "gated_sum(" + x.text + ", " + gates.text + ", " + std::to_string(dim) + ")";
  x.strength = Strength::Primary;
  values.bind(op.getResult(), "y", x);
  values.dead.setMixed(op.getResult(), op->getOperands());
  return success();
}

/// The printer of an operation.
template <typename Op, LogicalResult (*print)(Op, TorchValues &)> static TorchRule ruleOf() {
  return {TypeID::get<Op>(), [](Operation *op, TorchValues &values) { return print(cast<Op>(op), values); }};
}

ArrayRef<TorchRule> taylor::getLocalTorchRules() {
  static const TorchRule rules[] = {
      ruleOf<MapOp, printMap>(),           ruleOf<ReduceOp, printReduce>(),       ruleOf<ScanOp, printScan>(),
      ruleOf<AlignOp, printAlign>(),       ruleOf<NormalizeOp, printNormalize>(), ruleOf<RopeOp, printRope>(),
      ruleOf<ConvolveOp, printConvolve>(), ruleOf<GatedSumOp, printGatedSum>(),
  };
  return rules;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar regions as PyTorch expressions.
#include "codegen/Driver/Torch/TorchExpression.h"
#include "dialect/Refusal.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor;

namespace {

bool isConstant(Value value, double wanted) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
  return number && number.getValueAsDouble() == wanted;
}

/// select(x <= 0, 0, x): what the formula relu(x) stands for.
Value matchRelu(arith::SelectOp select) {
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  bool matches = compare && compare.getPredicate() == arith::CmpFPredicate::OLE &&
                 isConstant(compare.getRhs(), 0) && compare.getLhs() == select.getFalseValue() &&
                 isConstant(select.getTrueValue(), 0);
  return matches ? select.getFalseValue() : Value();
}

/// The aten operator of the same name and meaning, of one argument.
StringRef getUnaryFunction(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<math::ExpOp>([](auto) { return "torch.exp"; })
      .Case<math::Exp2Op>([](auto) { return "torch.exp2"; })
      .Case<math::ExpM1Op>([](auto) { return "torch.expm1"; })
      .Case<math::LogOp>([](auto) { return "torch.log"; })
      .Case<math::Log2Op>([](auto) { return "torch.log2"; })
      .Case<math::Log1pOp>([](auto) { return "torch.log1p"; })
      .Case<math::SqrtOp>([](auto) { return "torch.sqrt"; })
      .Case<math::RsqrtOp>([](auto) { return "torch.rsqrt"; })
      .Case<math::TanhOp>([](auto) { return "torch.tanh"; })
      .Case<math::AbsFOp>([](auto) { return "torch.abs"; })
      .Case<math::SinOp>([](auto) { return "torch.sin"; })
      .Case<math::CosOp>([](auto) { return "torch.cos"; })
      .Case<math::ErfOp>([](auto) { return "torch.erf"; })
      .Case<math::FloorOp>([](auto) { return "torch.floor"; })
      .Case<SigmoidOp>([](auto) { return "torch.sigmoid"; })
      .Default([](Operation *) { return ""; });
}

struct BinaryOperator {
  StringRef text;
  Strength strength;
};

std::optional<BinaryOperator> getBinaryOperator(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    switch (compare.getPredicate()) {
    case arith::CmpFPredicate::OLT:
      return BinaryOperator{"<", Strength::Comparison};
    case arith::CmpFPredicate::OLE:
      return BinaryOperator{"<=", Strength::Comparison};
    case arith::CmpFPredicate::OGT:
      return BinaryOperator{">", Strength::Comparison};
    case arith::CmpFPredicate::OGE:
      return BinaryOperator{">=", Strength::Comparison};
    case arith::CmpFPredicate::OEQ:
      return BinaryOperator{"==", Strength::Comparison};
    default:
      return std::nullopt;
    }
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op);
      compare && compare.getPredicate() == arith::CmpIPredicate::eq)
    return BinaryOperator{"==", Strength::Comparison};
  return TypeSwitch<Operation *, std::optional<BinaryOperator>>(op)
      .Case<arith::AddFOp>([](auto) { return BinaryOperator{"+", Strength::Sum}; })
      .Case<arith::SubFOp>([](auto) { return BinaryOperator{"-", Strength::Sum}; })
      .Case<arith::MulFOp>([](auto) { return BinaryOperator{"*", Strength::Term}; })
      .Case<arith::DivFOp>([](auto) { return BinaryOperator{"/", Strength::Term}; })
      .Case<math::PowFOp>([](auto) { return BinaryOperator{"**", Strength::Power}; })
      .Case<arith::AndIOp>([](auto) { return BinaryOperator{"&", Strength::And}; })
      .Case<arith::OrIOp>([](auto) { return BinaryOperator{"|", Strength::Or}; })
      .Default([](Operation *) { return std::nullopt; });
}

class RegionPrinter {
public:
  RegionPrinter(TorchScope &scope, ArrayRef<AxisRef> axes, FillPart fillPart)
      : scope(scope), axes(axes), fillPart(fillPart) {}

  FailureOr<SmallVector<TorchText>> print(Region &region, ArrayRef<TorchText> arguments) {
    Block &block = region.front();
    for (auto [argument, text] : llvm::zip(block.getArguments(), arguments))
      texts[argument] = TorchScope::isName(text) || argument.hasOneUse() || argument.use_empty()
                            ? text
                            : scope.assign("x", text);
    for (Operation &op : block.without_terminator()) {
      FailureOr<TorchText> text = printPart(&op);
      if (failed(text))
        return failure();
      Value result = op.getResult(0);
      bool isRepeated =
          !result.hasOneUse() && !result.use_empty() && !text->isNumber && !TorchScope::isName(*text);
      texts[result] = isRepeated ? scope.assign("x", *text) : *text;
    }
    SmallVector<TorchText> results;
    for (Value value : block.getTerminator()->getOperands())
      results.push_back(texts[value]);
    return results;
  }

private:
  FailureOr<TorchText> printPart(Operation *op) {
    if (!fillPart)
      return printOperation(op);
    llvm::DenseMap<Value, TorchText> before;
    for (Value operand : op->getOperands())
      before[operand] = texts[operand];
    for (auto &[operand, text] : before)
      texts[operand] = fillPart(op, operand, text);
    FailureOr<TorchText> text = printOperation(op);
    for (auto &[operand, own] : before)
      texts[operand] = own;
    return failed(text) ? text : fillPart(op, op->getResult(0), *text);
  }

  FailureOr<TorchText> printOperation(Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return printConstant(constant);
    if (auto index = dyn_cast<IndexOp>(op))
      return scope.align(scope.getIndex(index.getAxis()), axes);
    if (auto size = dyn_cast<SizeOp>(op)) {
      std::string name = scope.getSize(size.getAxis());
      if (name.empty())
        return op->emitError("requires an argument with axis '")
               << size.getAxis() << "' to read its size from";
      return number("float(" + name + ")");
    }
    if (auto parameter = dyn_cast<ParameterOp>(op))
      return printParameter(parameter);
    if (isa<arith::SIToFPOp, arith::ExtFOp, arith::TruncFOp>(op))
      return texts[op->getOperand(0)];
    if (auto stop = dyn_cast<StopGradientOp>(op))
      return call(texts[stop.getOperand()], ".detach()");
    if (auto softplus = dyn_cast<SoftplusOp>(op)) {
      // aten has a softplus, but Python's torch module has not.
      TorchText x = tensor(texts[softplus.getOperand()], "x");
      x.text = "torch.logaddexp(" + x.text + ", torch.zeros_like(" + x.text + "))";
      return x;
    }
    if (auto negate = dyn_cast<arith::NegFOp>(op)) {
      TorchText x = texts[negate.getOperand()];
      return like(x, "-" + x.at(Strength::Term), Strength::Unary);
    }
    if (isa<arith::MinimumFOp, arith::MaximumFOp>(op))
      return printBound(op, isa<arith::MinimumFOp>(op));
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return printSelect(select);
    if (auto exclusive = dyn_cast<arith::XOrIOp>(op))
      return like(texts[exclusive.getLhs()], "~" + texts[exclusive.getLhs()].at(Strength::Unary),
                  Strength::Unary);
    if (StringRef function = getUnaryFunction(op); !function.empty())
      return printUnary(op, function);
    if (std::optional<BinaryOperator> binary = getBinaryOperator(op))
      return printBinary(op, *binary);
    return refuse(op->emitError("unsupported operation '")) << op->getName() << "' in PyTorch code";
  }

  static TorchText number(std::string text, Strength strength = Strength::Primary) {
    return {std::move(text), strength, {}, /*isNumber=*/true, false};
  }

  static TorchText like(const TorchText &x, std::string text, Strength strength) {
    TorchText result = x;
    result.text = std::move(text);
    result.strength = strength;
    return result;
  }

  static TorchText call(const TorchText &x, StringRef method) {
    return x.isNumber ? x : like(x, x.at(Strength::Power) + method.str(), Strength::Primary);
  }

  /// A number as a tensor of f64 without dimensions: no type follows from it.
  TorchText tensor(TorchText x, StringRef hint) {
    if (x.isNumber) {
      scope.useHelper("constant");
      x = TorchText{"constant(" + x.text + ")", Strength::Primary, {}, false, false};
    }
    return TorchScope::isName(x) ? x : scope.assign(hint, x);
  }

  FailureOr<TorchText> printConstant(arith::ConstantOp constant) {
    if (auto value = dyn_cast<FloatAttr>(constant.getValue())) {
      double x = value.getValueAsDouble();
      return number(printNumber(x), x < 0 ? Strength::Unary : Strength::Primary);
    }
    if (auto value = dyn_cast<IntegerAttr>(constant.getValue()); value && value.getType().isInteger(1))
      return number(value.getValue().isZero() ? "False" : "True");
    return refuse(constant.emitError("unsupported constant in PyTorch code"));
  }

  FailureOr<TorchText> printParameter(ParameterOp parameter) {
    Attribute value = parameter->getParentOfType<SpecOp>().getParameters().get(parameter.getName());
    double x = isa<IntegerAttr>(value) ? static_cast<double>(cast<IntegerAttr>(value).getInt())
                                       : cast<FloatAttr>(value).getValueAsDouble();
    return number(printNumber(x), x < 0 ? Strength::Unary : Strength::Primary);
  }

  /// Functions of numbers that Python and TorchScript spell alike are powers; others go through a tensor.
  FailureOr<TorchText> printUnary(Operation *op, StringRef function) {
    TorchText x = texts[op->getOperand(0)];
    if (x.isNumber && isa<math::SqrtOp, math::RsqrtOp>(op))
      return number(x.at(Strength::Power) + (isa<math::SqrtOp>(op) ? " ** 0.5" : " ** -0.5"),
                    Strength::Power);
    if (x.isNumber)
      x = tensor(x, "x");
    return like(x, function.str() + "(" + x.text + ")", Strength::Primary);
  }

  FailureOr<TorchText> printBinary(Operation *op, BinaryOperator binary) {
    TorchText left = texts[op->getOperand(0)], right = texts[op->getOperand(1)];
    // Left operands of `-` and `/` may bind as strongly as the operator; a power is never left of another.
    bool isPower = binary.strength == Strength::Power;
    Strength leftAround = isPower || binary.strength == Strength::Comparison
                              ? binary.strength
                              : static_cast<Strength>(static_cast<int>(binary.strength) - 1);
    std::string text = left.at(leftAround) + " " + binary.text.str() + " " + right.at(binary.strength);
    return merge(left, right, text, binary.strength);
  }

  TorchText merge(const TorchText &left, const TorchText &right, std::string text, Strength strength) {
    TorchText result{
        std::move(text), strength, {}, left.isNumber && right.isNumber, left.isWide || right.isWide};
    // Both are aligned to the same axes, so the longer one has all.
    result.axes = left.axes.size() >= right.axes.size() ? left.axes : right.axes;
    return result;
  }

  /// A bound that is a number clamps; the extremum of two tensors gives half the gradient to each where they
  /// tie.
  FailureOr<TorchText> printBound(Operation *op, bool isMinimum) {
    TorchText left = texts[op->getOperand(0)], right = texts[op->getOperand(1)];
    if (left.isNumber && right.isNumber)
      return number((isMinimum ? "min(" : "max(") + left.text + ", " + right.text + ")");
    if (left.isNumber)
      std::swap(left, right);
    if (right.isNumber)
      return call(left, std::string(isMinimum ? ".clamp(max=" : ".clamp(min=") + right.text + ")");
    return merge(left, right,
                 (isMinimum ? "torch.minimum(" : "torch.maximum(") + left.text + ", " + right.text + ")",
                 Strength::Primary);
  }

  FailureOr<TorchText> printSelect(arith::SelectOp select) {
    if (Value x = matchRelu(select); x && !texts[x].isNumber)
      return like(texts[x], "torch.relu(" + texts[x].text + ")", Strength::Primary);
    TorchText condition = texts[select.getCondition()], yes = texts[select.getTrueValue()],
              no = texts[select.getFalseValue()];
    if (condition.isNumber)
      return merge(yes, no,
                   yes.at(Strength::Comparison) + " if " + condition.text + " else " +
                       no.at(Strength::Comparison),
                   Strength::Comparison);
    // Of two numbers torch.where makes f32; a tensor of the first argument's type keeps that.
    if (yes.isNumber && no.isNumber) {
      yes = TorchText{scope.like + ".new_full([1], " + yes.text + ")", Strength::Primary, {}, false, false};
      yes.axes = condition.axes;
    }
    TorchText result = merge(merge(condition, yes, "", Strength::Primary), no, "", Strength::Primary);
    result.text = "torch.where(" + condition.text + ", " + yes.text + ", " + no.text + ")";
    result.isWide = yes.isWide || no.isWide;
    return result;
  }

  TorchScope &scope;
  ArrayRef<AxisRef> axes;
  FillPart fillPart;
  llvm::DenseMap<Value, TorchText> texts;
};

} // namespace

FailureOr<SmallVector<TorchText>> taylor::printRegion(TorchScope &scope, Region &region,
                                                      ArrayRef<TorchText> arguments, ArrayRef<AxisRef> axes,
                                                      FillPart fillPart) {
  return RegionPrinter(scope, axes, fillPart).print(region, arguments);
}

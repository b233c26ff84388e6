// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Torch/TorchValues.h"
#include "dialect/Taylor/EmptySums.h"

using namespace mlir;
using namespace taylor;

void TorchValues::bind(Value value, StringRef hint, TorchText text) {
  // A result that the specification yields under a name is called so here.
  std::string name = hint.str();
  for (OpOperand &use : value.getUses())
    if (auto yield = dyn_cast<YieldOp>(use.getOwner()))
      name = cast<StringAttr>((*yield.getNames())[use.getOperandNumber()]).getValue().str();
  if (!llvm::all_of(name, [](char c) { return isalnum(c) || c == '_'; }) || isdigit(name.front()))
    name = hint.str();
  texts[value] = TorchScope::isName(text) ? text : scope.assign(name, text);
}

void TorchValues::bindRows(Value result, StringRef hint, TorchText text, const KeySums &sums) {
  bind(result, hint, dead.fill(text, sums, axesOf(cast<ArrayType>(result.getType())), "0.0"));
  dead.setSums(result, sums);
}

SmallVector<TorchText> TorchValues::readRows(ValueRange arrays, ArrayRef<AxisRef> axes) {
  KeySums whole = dead.sumsOf(arrays);
  bool isJoint = llvm::any_of(arrays, [&](Value array) {
    KeySums own = dead.sumsOf(array);
    return !own.isNone() && !(own == whole);
  });
  SmallVector<TorchText> operands;
  for (Value array : arrays) {
    const TorchText &text = textOf(array);
    KeySums own = dead.sumsOf(array);
    if (isJoint && !own.isNone())
      operands.push_back(dead.choose(scope.align(text, axes), whole, axes, "1.0"));
    else if (isJoint)
      operands.push_back(scope.align(text, axes));
    else
      operands.push_back(scope.align(dead.fill(text, own, text.axes, "1.0"), axes));
  }
  return operands;
}

FailureOr<TorchText> TorchValues::printBody(Region &region, ValueRange arrays, ArrayRef<AxisRef> axes) {
  // Functions of some of the sums alone are 0 where these are empty.
  KeySums whole = dead.sumsOf(arrays);
  llvm::DenseMap<Value, KeySums> sums;
  for (auto [argument, array] : llvm::zip_equal(region.getArguments(), arrays))
    sums[argument] = dead.sumsOf(array);
  llvm::SmallDenseSet<Operation *> parts;
  for (Operation &scalar : region.front().without_terminator()) {
    KeySums depends;
    for (Value operand : scalar.getOperands())
      depends.add(sums[operand]);
    sums[scalar.getResult(0)] = depends;
    auto dependsOnSum = [&](Value operand) { return !sums[operand].isNone(); };
    if (depends.mayBeDead() && !(depends == whole) && !runsOnEmptySums(&scalar, dependsOnSum))
      parts.insert(&scalar);
  }
  auto fillPart = [&](Operation *part, Value of, TorchText text) {
    bool isResult = of == part->getResult(0);
    if (!parts.contains(part) || sums[of].isNone())
      return text;
    return dead.choose(text, sums[part->getResult(0)], axes, isResult ? "0.0" : "1.0");
  };
  FailureOr<SmallVector<TorchText>> body = printRegion(scope, region, readRows(arrays, axes), axes, fillPart);
  if (failed(body))
    return failure();
  TorchText text = body->front();
  // A formula without arrays, or widened by `-> type`, is no tensor of the full size yet.
  return text.isNumber || text.axes != axes ? scope.expand(text, axes) : text;
}

TorchText TorchValues::narrow(TorchText text) const {
  if (!text.isWide)
    return text;
  text.text = text.at(Strength::Power) + ".to(" + scope.like + ")";
  text.strength = Strength::Primary;
  text.isWide = false;
  return text;
}

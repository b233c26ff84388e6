// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Reference/Evaluator.h"

using namespace mlir;
using namespace taylor;
using namespace taylor::reference;

LogicalResult Evaluation::run(Operation *container, ArrayRef<Array> inputs) {
  body = &container->getRegion(0).front();
  slots.clear();
  steps.clear();
  results.clear();
  bool isSpec = isa<SpecOp>(container);
  auto store = [&](Value value, Array array, Array sees) {
    auto slot = std::make_unique<Slot>();
    slot->array = std::move(array);
    if (isSpec)
      slot->sees = std::move(sees);
    slot->differentiable = isa<FloatType>(cast<ArrayType>(value.getType()).getElementType());
    slots[value] = std::move(slot);
  };
  for (auto [argument, input] : llvm::zip_equal(body->getArguments(), inputs))
    store(argument, input, {});

  for (Operation &op : *body) {
    SmallVector<EvaluatedOperand> operands;
    for (Value value : op.getOperands()) {
      const Slot &slot = slotOf(value);
      operands.push_back({&slot.array, &slot.sees, slot.differentiable});
    }
    if (isa<YieldOp>(op)) {
      for (const EvaluatedOperand &operand : operands)
        results.push_back(*operand.array);
      return success();
    }
    FailureOr<Evaluated> evaluated = evaluate(&op, operands);
    if (failed(evaluated))
      return failure();
    for (auto [value, array, sees] : llvm::zip_equal(op.getResults(), evaluated->results, evaluated->sees))
      store(value, std::move(array), std::move(sees));
    steps.push_back({&op, std::move(evaluated->pullback)});
  }
  return container->emitOpError("requires a taylor.yield at its end");
}

FailureOr<Evaluated> Evaluation::evaluate(Operation *op, ArrayRef<EvaluatedOperand> operands) {
  for (ArrayRef<EvaluationRule> rules :
       {getLocalRules(), getTokenRules(), getPairRules(), getStateRules(), getChunkRules()})
    for (const EvaluationRule &rule : rules)
      if (rule.operation == op->getName().getTypeID())
        return rule.evaluate(op, operands, environment);
  return op->emitError("unsupported operation '") << op->getName() << "' in the reference evaluator";
}

std::vector<Array> Evaluation::pullback(ArrayRef<Array> cotangents) const {
  llvm::DenseMap<Value, Array> sums;
  auto add = [&](Value value, const Array &cotangent) {
    if (!cotangent.values.empty())
      addTo(sums[value], cotangent, environment.arithmetic.value);
  };
  for (auto [value, cotangent] : llvm::zip_equal(body->getTerminator()->getOperands(), cotangents))
    add(value, cotangent);
  for (const Step &step : llvm::reverse(steps)) {
    std::vector<Array> ofResults;
    bool any = false;
    for (Value result : step.op->getResults()) {
      ofResults.push_back(sums.lookup(result));
      any |= !ofResults.back().values.empty();
    }
    if (!any)
      continue;
    std::vector<Array> ofOperands = step.pullback(ofResults);
    for (auto [operand, cotangent] : llvm::zip(step.op->getOperands(), ofOperands))
      if (slotOf(operand).differentiable)
        add(operand, cotangent);
  }
  std::vector<Array> gradients;
  for (Value argument : body->getArguments()) {
    const Slot &slot = slotOf(argument);
    Array gradient = sums.lookup(argument);
    if (slot.differentiable && gradient.values.empty())
      gradient = Array(slot.array.shape);
    gradients.push_back(std::move(gradient));
  }
  return gradients;
}

//===----------------------------------------------------------------------===//
// Sizes and names
//===----------------------------------------------------------------------===//

LogicalResult taylor::reference::bindSizes(Operation *container, ArrayRef<Array> inputs,
                                           Environment &environment) {
  Block &body = container->getRegion(0).front();
  std::vector<std::string> names = argumentNames(container);
  for (auto [argument, input, name] : llvm::zip_equal(body.getArguments(), inputs, names)) {
    auto type = cast<ArrayType>(argument.getType());
    if (input.shape.rank() != type.getRank())
      return container->emitOpError("expected ")
             << type.getRank() << " axes of '" << name << "', but got " << input.shape.rank();
    for (auto [axis, written, size] : llvm::zip_equal(type.getAxes(), type.getSizes(), input.shape.sizes)) {
      bool isFree = written != ArrayType::kUnknown;
      auto known = environment.sizes.find(axis.getValue());
      int64_t expected = isFree ? written : known == environment.sizes.end() ? size : known->second;
      if (size != expected)
        return container->emitOpError("expected ")
               << axis.getValue() << " = " << expected << " of '" << name << "', but got " << size;
      environment.sizes[axis.getValue()] = size;
    }
  }
  int64_t heads = environment.sizeOf(AxisRole::Head), groups = environment.sizeOf(AxisRole::KeyHead);
  if (groups == 0 || heads % groups)
    return container->emitOpError("expected query heads as a multiple of key/value heads, but got h = ")
           << heads << " and g = " << groups;
  return success();
}

std::vector<std::string> taylor::reference::argumentNames(Operation *container) {
  std::vector<std::string> names;
  ArrayAttr attribute = isa<SpecOp>(container) ? cast<SpecOp>(container).getArgNames()
                                               : cast<FunctionOp>(container).getArgNames();
  for (StringAttr name : attribute.getAsRange<StringAttr>())
    names.push_back(name.str());
  return names;
}

std::vector<std::string> taylor::reference::resultNames(Operation *container) {
  std::vector<std::string> names;
  auto yield = cast<YieldOp>(container->getRegion(0).front().getTerminator());
  for (StringAttr name : yield.getNames()->getAsRange<StringAttr>())
    names.push_back(name.str());
  return names;
}

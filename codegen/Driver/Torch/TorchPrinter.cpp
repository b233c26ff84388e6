// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A specification as a function: its signature, the order of its statements, and its results.
#include "codegen/Driver/Torch/TorchPrinter.h"
#include "codegen/Driver/Torch/TorchLocal.h"
#include "codegen/Driver/Torch/TorchSums.h"
#include "dialect/Refusal.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor;

namespace {

/// Prints the function around the operations. It knows the specification's arguments and results.
class SpecPrinter {
public:
  explicit SpecPrinter(SpecOp spec) : spec(spec) {}
  FailureOr<std::string> print();

private:
  LogicalResult printArguments();
  LogicalResult printOperation(Operation *op);
  LogicalResult printResults(YieldOp op);

  SpecOp spec;
  TorchValues values;
  SumPrinter sums{values};
  std::string signature;
};

} // namespace

/// Names that a variable must not take: Python's words, and what the text itself calls besides its helpers.
static constexpr StringRef kReserved[] = {
    "False",  "None",     "True",   "and", "as",    "assert", "async",    "await", "break",
    "class",  "continue", "def",    "del", "elif",  "else",   "except",   "for",   "from",
    "global", "if",       "import", "in",  "is",    "lambda", "nonlocal", "not",   "or",
    "pass",   "raise",    "return", "try", "while", "with",   "yield",    "torch", "Tensor",
    "Tuple",  "float",    "int",    "min", "max",   "range"};

LogicalResult SpecPrinter::printArguments() {
  TorchScope &scope = values.scope;
  for (StringRef word : kReserved)
    scope.reserve(word);
  for (const TorchHelper &helper : getTorchHelpers())
    scope.reserve(helper.name);
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
    values.set(argument, text);
    signature += (signature.empty() ? "" : ", ") + text.text + ": Tensor";
    for (auto [dim, axis] : llvm::enumerate(array.getAxes()))
      scope.sizeSources.try_emplace(axis.getValue(), text.text + ".size(" + std::to_string(dim) + ")");
    if (scope.like.empty() && !text.isWide && isa<FloatType>(array.getElementType()))
      scope.like = text.text;
  }
  if (scope.like.empty())
    return spec.emitError("requires an argument of a real type that is no learned parameter");
  // Without key/value heads in any argument, heads are all there is.
  if (!scope.sizeSources.contains(AxisRole::Head) && scope.sizeSources.contains(AxisRole::KeyHead))
    scope.sizeSources[AxisRole::Head] = scope.sizeSources[AxisRole::KeyHead];
  for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead, AxisRole::Query, AxisRole::Key})
    scope.getSize(axis);
  if (scope.sizeSources.contains(AxisRole::Query) && scope.sizeSources.contains(AxisRole::Key))
    scope.sizeSources[AxisRole::Lag] = scope.getSize(AxisRole::Query) + " + " + scope.getSize(AxisRole::Key);
  return success();
}

LogicalResult SpecPrinter::printResults(YieldOp op) {
  std::string results;
  for (Value value : op.getValues()) {
    TorchText text =
        values.narrow(values.scope.expand(values.textOf(value), axesOf(cast<ArrayType>(value.getType()))));
    results += (results.empty() ? "" : ", ") + text.text;
  }
  values.scope.addLine("return " + results);
  return success();
}

LogicalResult SpecPrinter::printOperation(Operation *op) {
  for (const TorchRule &rule : getLocalTorchRules())
    if (rule.operation == op->getName().getTypeID())
      return rule.print(op, values);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<RecurrencesOp, RecurrenceOp>([&](auto sum) { return sums.print(sum); })
      .Case([&](YieldOp yield) { return printResults(yield); })
      .Default([](Operation *other) {
        return refuse(other->emitError("unsupported operation '"))
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
  bool isHelper =
      llvm::any_of(getTorchHelpers(), [&](const TorchHelper &helper) { return helper.name == name; });
  if (isHelper || llvm::is_contained(kReserved, StringRef(name)))
    name += "_";
  // TorchScript's parser takes no import; what the text needs stands in the comment.
  std::string text =
      "# Needs `import torch` and `from torch import Tensor`; or torch.jit.CompilationUnit(this text).\n";
  text += printTorchHelpers(values.scope.helpers);
  text += "\ndef " + name + "(" + signature + ") -> " + results + ":\n";
  for (const std::string &line : values.scope.lines)
    text += line + "\n";
  return text;
}

FailureOr<std::string> taylor::printTorch(SpecOp spec) { return SpecPrinter(spec).print(); }

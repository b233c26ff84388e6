// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A specification as a function, and what the printers of its operations share.
#include "codegen/Driver/Torch/TorchPrinter.h"
#include "codegen/Driver/Torch/SpecPrinter.h"
#include "dialect/Taylor/EmptySums.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor;

SmallVector<AxisRef> taylor::axesOf(ArrayType array) {
  SmallVector<AxisRef> axes;
  for (StringAttr axis : array.getAxes())
    axes.push_back(axis.getValue());
  return axes;
}

SmallVector<AxisRef> taylor::withoutAxis(ArrayRef<AxisRef> axes, AxisRef gone) {
  SmallVector<AxisRef> kept;
  llvm::copy_if(axes, std::back_inserter(kept), [&](StringRef axis) { return axis != gone; });
  return kept;
}

int64_t taylor::dimension(ArrayRef<AxisRef> axes, AxisRef axis) {
  return llvm::find(axes, axis) - axes.begin();
}

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

void SpecPrinter::Sums::add(const Sums &other) {
  for (const std::string &mask : other.masks)
    if (!llvm::is_contained(masks, mask))
      masks.push_back(mask);
  everywhere |= other.everywhere;
}

bool SpecPrinter::Sums::operator==(const Sums &other) const {
  return everywhere == other.everywhere && masks.size() == other.masks.size() &&
         llvm::all_of(masks, [&](const std::string &mask) { return llvm::is_contained(other.masks, mask); });
}

SpecPrinter::Sums SpecPrinter::sumsOf(ValueRange arrays) {
  Sums sums;
  for (Value array : arrays)
    sums.add(sumsOfValues[array]);
  return sums;
}

std::string SpecPrinter::maskOf(const Sums &sums) {
  if (sums.masks.size() == 1)
    return sums.masks.front();
  // In the order of all axes, of which a mask may lack some.
  SmallVector<AxisRef> axes;
  for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead, AxisRole::Query})
    if (llvm::any_of(sums.masks,
                     [&](const std::string &mask) { return llvm::is_contained(deadMasks[mask].axes, axis); }))
      axes.push_back(axis);
  TorchText joint;
  for (const std::string &mask : sums.masks) {
    TorchText one = scope.align(deadMasks[mask], axes);
    joint = joint.text.empty()
                ? one
                : TorchText{joint.text + " & " + one.at(Strength::Power), Strength::And, axes, false, false};
  }
  return nameMask(joint);
}

std::string SpecPrinter::nameMask(const TorchText &mask) {
  std::string &name = nameOfMask[mask.text];
  if (name.empty()) {
    name = scope.assign("dead", mask).text;
    deadMasks[name] = mask;
    deadMasks[name].text = name;
    deadMasks[name].strength = Strength::Primary;
  }
  return name;
}

TorchText SpecPrinter::fillDead(TorchText text, const Sums &sums, ArrayRef<AxisRef> axes, StringRef number) {
  // The row is gone where t is: a reduction over heads of rows that all see nothing was 0 already.
  if (!sums.mayBeDead() || !llvm::is_contained(axes, AxisRole::Query))
    return text;
  TorchText mask = scope.align(deadMasks[maskOf(sums)], axes);
  text.text = text.at(Strength::Power) + ".masked_fill(" + mask.text + ", " + number.str() + ")";
  text.strength = Strength::Primary;
  return text;
}

TorchText SpecPrinter::chooseDead(TorchText text, const Sums &sums, ArrayRef<AxisRef> axes,
                                  StringRef number) {
  if (text.isNumber || !sums.mayBeDead())
    return text;
  TorchText mask = scope.align(deadMasks[maskOf(sums)], axes);
  text.text = "torch.where(" + mask.text + ", " + number.str() + ", " + text.text + ")";
  text.strength = Strength::Primary;
  return text;
}

SmallVector<TorchText> SpecPrinter::readRows(ValueRange arrays, ArrayRef<AxisRef> axes) {
  Sums whole = sumsOf(arrays);
  bool isJoint = llvm::any_of(arrays, [&](Value array) {
    const Sums &own = sumsOfValues[array];
    return !own.isNone() && !(own == whole);
  });
  SmallVector<TorchText> operands;
  for (Value array : arrays) {
    const TorchText &text = texts[array];
    const Sums &own = sumsOfValues[array];
    if (isJoint && !own.isNone())
      operands.push_back(chooseDead(scope.align(text, axes), whole, axes, "1.0"));
    else if (isJoint)
      operands.push_back(scope.align(text, axes));
    else
      operands.push_back(scope.align(fillDead(text, own, text.axes, "1.0"), axes));
  }
  return operands;
}

void SpecPrinter::bindRows(Value result, StringRef hint, TorchText text, ValueRange arrays) {
  Sums sums = sumsOf(arrays);
  SmallVector<AxisRef> axes = axesOf(cast<ArrayType>(result.getType()));
  bind(result, hint, fillDead(text, sums, axes, "0.0"));
  sumsOfValues[result] = sums;
}

FailureOr<TorchText> SpecPrinter::printBody(Region &region, ValueRange arrays, ArrayRef<AxisRef> axes) {
  // Functions of some of the sums alone are 0 where these are empty.
  Sums whole = sumsOf(arrays);
  llvm::DenseMap<Value, Sums> sums;
  for (auto [argument, array] : llvm::zip_equal(region.getArguments(), arrays))
    sums[argument] = sumsOfValues[array];
  llvm::SmallDenseSet<Operation *> parts;
  for (Operation &scalar : region.front().without_terminator()) {
    Sums depends;
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
    return chooseDead(text, sums[part->getResult(0)], axes, isResult ? "0.0" : "1.0");
  };
  FailureOr<SmallVector<TorchText>> body = printRegion(scope, region, readRows(arrays, axes), axes, fillPart);
  if (failed(body))
    return failure();
  TorchText text = body->front();
  // A formula without arrays, or widened by `-> type`, is no tensor of the full size yet.
  return text.isNumber || text.axes != axes ? scope.expand(text, axes) : text;
}

TorchText SpecPrinter::readAtQueries(TorchText keys) {
  scope.useHelper("read_at");
  int64_t dim = dimension(keys.axes, AxisRole::Key);
  keys.text =
      "read_at(" + keys.text + ", " + scope.getIndex(AxisRole::Query).text + ", " + std::to_string(dim) + ")";
  keys.strength = Strength::Primary;
  keys.axes[dim] = AxisRole::Query;
  return keys;
}

TorchText SpecPrinter::readAtKeys(TorchText queries) {
  scope.useHelper("at_keys");
  int64_t dim = dimension(queries.axes, AxisRole::Query);
  queries.text =
      "at_keys(" + queries.text + ", " + scope.getSize(AxisRole::Key) + ", " + std::to_string(dim) + ")";
  queries.strength = Strength::Primary;
  queries.axes[dim] = AxisRole::Key;
  return queries;
}

TorchText SpecPrinter::readAtPairs(TorchText lags) {
  if (lags.find(AxisRole::Lag) < 0)
    return lags;
  scope.useHelper("read_lags");
  lags.text = "read_lags(" + lags.text + ", " + scope.getSize(AxisRole::Query) + ", " +
              scope.getSize(AxisRole::Key) + ")";
  lags.strength = Strength::Primary;
  lags.axes.back() = AxisRole::Query; // tokens follow batch and heads, and a scalar of pairs has no channel
  lags.axes.push_back(AxisRole::Key);
  return lags;
}

/// Names that a variable must not take: Python's words, and what the text itself calls besides its helpers.
static constexpr StringRef kReserved[] = {
    "False",  "None",     "True",   "and", "as",    "assert", "async",    "await", "break",
    "class",  "continue", "def",    "del", "elif",  "else",   "except",   "for",   "from",
    "global", "if",       "import", "in",  "is",    "lambda", "nonlocal", "not",   "or",
    "pass",   "raise",    "return", "try", "while", "with",   "yield",    "torch", "Tensor",
    "Tuple",  "float",    "int",    "min", "max",   "range"};

LogicalResult SpecPrinter::printArguments() {
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
  if (!scope.sizeSources.contains(AxisRole::Head) && scope.sizeSources.contains(AxisRole::KeyHead))
    scope.sizeSources[AxisRole::Head] = scope.sizeSources[AxisRole::KeyHead];
  for (AxisRef axis : {AxisRole::Batch, AxisRole::Head, AxisRole::KeyHead, AxisRole::Query, AxisRole::Key})
    scope.getSize(axis);
  if (scope.sizeSources.contains(AxisRole::Query) && scope.sizeSources.contains(AxisRole::Key))
    scope.sizeSources[AxisRole::Lag] = scope.getSize(AxisRole::Query) + " + " + scope.getSize(AxisRole::Key);
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
  for (const TorchRule &rule : getLocalTorchRules())
    if (rule.operation == op->getName().getTypeID())
      return rule.print(op, *this);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<RecurrencesOp, RecurrenceOp, YieldOp>([&](auto concrete) { return print(concrete); })
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
  bool isHelper =
      llvm::any_of(getTorchHelpers(), [&](const TorchHelper &helper) { return helper.name == name; });
  if (isHelper || llvm::is_contained(kReserved, StringRef(name)))
    name += "_";
  // TorchScript's parser takes no import; what the text needs stands in the comment.
  std::string text =
      "# Needs `import torch` and `from torch import Tensor`; or torch.jit.CompilationUnit(this text).\n";
  text += printTorchHelpers(scope.helpers);
  text += "\ndef " + name + "(" + signature + ") -> " + results + ":\n";
  for (const std::string &line : scope.lines)
    text += line + "\n";
  return text;
}

FailureOr<std::string> taylor::printTorch(SpecOp spec) { return SpecPrinter(spec).print(); }

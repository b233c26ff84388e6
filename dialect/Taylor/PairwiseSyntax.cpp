// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of taylor.pairwise.
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/BodySyntax.h"
#include "dialect/Taylor/Formula.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace taylor;

namespace {

/// An output as written: `rows(F)`, `rows(F, %b)`, `maximum`.
struct Output {
  PairOutput kind;
  size_t formula = 0;
  size_t yielded = 0;
  int64_t array = -1;
};

/// The names of the operands' segments, in their order.
constexpr StringLiteral kSegments[] = {"products", "scalars", "weighted"};

/// Collects what a formula uses as scalars (`used[i]` for operand i).
void collectScalars(const Formula &formula, llvm::SmallBitVector &used) {
  if (formula.kind == Formula::Kind::Operand)
    used.set(formula.operand);
  for (const FormulaPtr &argument : formula.arguments)
    collectScalars(*argument, used);
}

bool isCall(const Formula &formula, StringRef name) {
  return formula.kind == Formula::Kind::Call && formula.name == name;
}

/// The text of a pairwise operation, and the regions it stands for.
class PairwiseSyntax {
public:
  PairwiseSyntax(OpAsmParser &parser, OperationState &result)
      : parser(parser), result(result), formulas(parser) {}

  ParseResult parse();

private:
  ParseResult parseBlock();
  ParseResult parseVisible();
  ParseResult parseChunk();
  ParseResult parseOutputs();
  ParseResult findProducts();
  ParseResult findScalars();
  ParseResult buildRegions();
  /// Starts a block of `region` with products (if asked for) and scalars as arguments.
  FormulaScope startBlock(Region &region, OpBuilder &builder, bool withProducts, bool withMaximum);

  OpAsmParser &parser;
  OperationState &result;
  FormulaParser formulas;
  std::vector<Binding> bindings;
  std::vector<Binding> outputFormulas;
  FormulaPtr visible;
  SmallVector<Output> outputs;
  SmallVector<ArrayType> arrays;
  Type real;
  /// Binding that is the maximum, or none.
  std::optional<size_t> maximum;
  llvm::StringMap<unsigned> productNames;
  SmallVector<int64_t> products, scalars;
};

ParseResult PairwiseSyntax::parseBlock() {
  if (parser.parseLBrace() || formulas.parseBindings(bindings))
    return failure();
  for (auto [index, binding] : llvm::enumerate(bindings)) {
    if (binding.name.empty())
      return parser.emitError(binding.formula->loc,
                              "expected 'name = formula' in the block of taylor.pairwise");
    if (!isCall(*binding.formula, "maximum"))
      continue;
    if (maximum)
      return parser.emitError(binding.formula->loc, "expected at most one maximum(..), but got two");
    size_t count = binding.formula->arguments.size();
    if (count < 1 || count > 2)
      return parser.emitError(binding.formula->loc, "expected maximum(x) or maximum(x, floor)");
    maximum = index;
  }
  return success();
}

ParseResult PairwiseSyntax::parseVisible() {
  if (failed(parser.parseOptionalKeyword("visible")))
    return success();
  FailureOr<FormulaPtr> conditions = failure();
  if (parser.parseLParen() || failed(conditions = formulas.parseConditions()) || parser.parseRParen())
    return failure();
  visible = std::move(*conditions);
  return success();
}

ParseResult PairwiseSyntax::parseOutputs() {
  if (parser.parseArrow())
    return failure();
  do {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<PairOutput> kind = symbolizePairOutput(word);
    if (!kind)
      return parser.emitError(
                 loc, "expected rows(..), columns(..), diagonals(..), total(..) or maximum, but got '")
             << word << "'";
    Output output{*kind};
    if (*kind != PairOutput::Maximum) {
      FailureOr<FormulaPtr> formula = failure();
      if (parser.parseLParen() || failed(formula = formulas.parseFormula()))
        return failure();
      output.formula = outputFormulas.size();
      outputFormulas.emplace_back().formula = std::move(*formula);
      if (succeeded(parser.parseOptionalComma())) {
        OpAsmParser::UnresolvedOperand operand;
        if (*kind == PairOutput::Total || *kind == PairOutput::Diagonals)
          return parser.emitError(loc, "expected ")
                 << word << "(F): only rows and columns contract with an array";
        if (parser.parseOperand(operand))
          return failure();
        output.array = formulas.addOperand(operand);
      }
      if (parser.parseRParen())
        return failure();
    } else if (!maximum) {
      return parser.emitError(loc, "requires 'm = maximum(..)' in the block");
    }
    outputs.push_back(output);
  } while (succeeded(parser.parseOptionalComma()));
  return success();
}

ParseResult PairwiseSyntax::findProducts() {
  for (const Binding &binding : bindings) {
    const Formula &formula = *binding.formula;
    if (!isCall(formula, "dot"))
      continue;
    if (formula.arguments.size() != 2 || formula.arguments[0]->kind != Formula::Kind::Operand ||
        formula.arguments[1]->kind != Formula::Kind::Operand)
      return parser.emitError(formula.loc, "expected dot(%row, %column) of two arrays");
    int64_t row = formula.arguments[0]->operand, column = formula.arguments[1]->operand;
    if (arrays[row].has(AxisRole::Key))
      std::swap(row, column);
    productNames[binding.name] = products.size() / 2;
    products.append({row, column});
  }
  return success();
}

ParseResult PairwiseSyntax::findScalars() {
  llvm::SmallBitVector used(arrays.size());
  for (const Binding &binding : bindings)
    if (!isCall(*binding.formula, "dot"))
      collectScalars(*binding.formula, used);
  for (const Binding &binding : outputFormulas)
    collectScalars(*binding.formula, used);
  if (visible)
    collectScalars(*visible, used);
  for (unsigned index : used.set_bits())
    scalars.push_back(index);
  return success();
}

FormulaScope PairwiseSyntax::startBlock(Region &region, OpBuilder &builder, bool withProducts,
                                        bool withMaximum) {
  SmallVector<Type> types;
  if (withProducts)
    types.append(products.size() / 2, real);
  size_t firstScalar = types.size();
  for (int64_t scalar : scalars)
    types.push_back(arrays[scalar].getScalarType());
  if (withMaximum)
    types.push_back(real);
  Location loc = parser.getEncodedSourceLoc(parser.getNameLoc());
  Block *block = builder.createBlock(&region, region.end(), types, SmallVector<Location>(types.size(), loc));
  FormulaScope scope;
  scope.realType = real;
  scope.freeAxes = channelNamesOf(arrays);
  scope.operands.resize(arrays.size());
  for (auto [index, scalar] : llvm::enumerate(scalars))
    scope.operands[scalar] = block->getArgument(firstScalar + index);
  if (withProducts)
    for (auto &entry : productNames)
      scope.names[entry.getKey()] = block->getArgument(entry.getValue());
  if (withMaximum)
    scope.names[bindings[*maximum].name] = block->getArguments().back();
  return scope;
}

ParseResult PairwiseSyntax::buildRegions() {
  OpBuilder builder(parser.getContext());
  Location loc = parser.getEncodedSourceLoc(parser.getNameLoc());
  Region &visibleRegion = *result.addRegion(), &maximumRegion = *result.addRegion(),
         &weightRegion = *result.addRegion();
  if (visible) {
    FormulaScope scope = startBlock(visibleRegion, builder, false, false);
    Value condition = buildFormula(parser, builder, *visible, scope);
    if (!condition)
      return failure();
    YieldOp::create(builder, loc, condition, ArrayAttr());
  }
  auto bind = [&](const Binding &binding, FormulaScope &scope) -> ParseResult {
    if (isCall(*binding.formula, "dot") || isCall(*binding.formula, "maximum"))
      return success();
    Value value = buildFormula(parser, builder, *binding.formula, scope);
    if (!value)
      return failure();
    scope.names[binding.name] = value;
    return success();
  };
  if (maximum) {
    FormulaScope scope = startBlock(maximumRegion, builder, true, false);
    for (const Binding &binding : ArrayRef(bindings).take_front(*maximum))
      if (bind(binding, scope))
        return failure();
    SmallVector<Value> yielded;
    for (const FormulaPtr &argument : bindings[*maximum].formula->arguments) {
      yielded.push_back(buildFormula(parser, builder, *argument, scope));
      if (!yielded.back())
        return failure();
    }
    YieldOp::create(builder, loc, yielded, ArrayAttr());
  }
  FormulaScope scope = startBlock(weightRegion, builder, true, maximum.has_value());
  for (const Binding &binding : bindings)
    if (bind(binding, scope))
      return failure();
  // Outputs of one named weight sum the same yielded value.
  llvm::SetVector<Value> yielded;
  for (Output &output : outputs) {
    if (output.kind == PairOutput::Maximum)
      continue;
    Value value = buildFormula(parser, builder, *outputFormulas[output.formula].formula, scope);
    if (!value)
      return failure();
    yielded.insert(value);
    output.yielded = llvm::find(yielded, value) - yielded.begin();
  }
  YieldOp::create(builder, loc, yielded.getArrayRef(), ArrayAttr());
  return success();
}

ParseResult PairwiseSyntax::parseChunk() {
  SMLoc loc = parser.getCurrentLocation();
  int64_t chunk = 0;
  if (failed(parser.parseOptionalKeyword("chunk")))
    return success();
  if (parser.parseLParen() || parser.parseInteger(chunk) || parser.parseRParen())
    return failure();
  if (chunk < 1)
    return parser.emitError(loc, "expected a positive number of tokens in chunk(..), but got ") << chunk;
  result.getOrAddProperties<PairwiseOp::Properties>().chunk = parser.getBuilder().getI64IntegerAttr(chunk);
  return success();
}

ParseResult PairwiseSyntax::parse() {
  if (parseBlock() || parseVisible() || parseChunk() || parseOutputs() ||
      parser.parseOptionalAttrDict(result.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<Type> types, resultTypes;
  // A count of visible pairs has no operands.
  if (parser.parseColon() || (!formulas.operands.empty() && parser.parseTypeList(types)) ||
      parser.parseArrow() || parser.parseTypeList(resultTypes))
    return failure();
  if (types.size() != formulas.operands.size())
    return parser.emitError(loc, "expected ")
           << formulas.operands.size()
           << " operand types, one per distinct value in order of appearance, but got " << types.size();
  if (resultTypes.size() != outputs.size())
    return parser.emitError(loc, "expected ")
           << outputs.size() << " result types, but got " << resultTypes.size();
  for (Type type : types) {
    auto array = dyn_cast<ArrayType>(type);
    if (!array)
      return parser.emitError(loc, "expected operands of type !taylor.array, but got ") << type;
    arrays.push_back(array);
  }
  SmallVector<Value> values;
  if (parser.resolveOperands(formulas.operands, types, loc, values))
    return failure();
  result.addTypes(resultTypes);
  real = realTypeOf(parser.getContext(), types, resultTypes);
  if (findProducts() || findScalars() || buildRegions())
    return failure();
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> sums;
  SmallVector<int64_t> weighted;
  for (const Output &output : outputs) {
    bool isWeighted = output.array >= 0;
    sums.push_back(PairSumAttr::get(parser.getContext(), output.kind, output.yielded, isWeighted));
    if (isWeighted)
      weighted.push_back(output.array);
  }
  auto &properties = result.getOrAddProperties<PairwiseOp::Properties>();
  properties.sums = builder.getArrayAttr(sums);
  ArrayRef<int64_t> segments[] = {products, scalars, weighted};
  for (auto [size, segment] : llvm::zip(properties.operandSegmentSizes, segments)) {
    size = segment.size();
    for (int64_t number : segment)
      result.operands.push_back(values[number]);
  }
  return success();
}

/// The text of a pairwise operation between its name and its types.
class PairwisePrinter {
public:
  PairwisePrinter(OpAsmPrinter &printer, PairwiseOp op) : printer(printer), op(op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        formulas.reserve(block);
    nameArguments(op.getVisible(), false, false);
    nameArguments(op.getMaximum(), true, false);
    nameArguments(op.getWeight(), true, op.hasMaximum());
  }

  std::string text() {
    SmallVector<std::string> lines;
    for (int64_t i = 0; i < op.getNumProducts(); ++i) {
      auto [row, column] = op.getProduct(i);
      lines.push_back(product(i) + " = dot(" + name(row) + ", " + name(column) + ")");
    }
    if (op.hasMaximum()) {
      Block &block = op.getMaximum().front();
      llvm::append_range(lines, formulas.bindings(block));
      std::string maximum = maximumName() + " = maximum(";
      for (auto [index, value] : llvm::enumerate(block.getTerminator()->getOperands()))
        maximum += (index ? ", " : "") + formulas.formula(value);
      lines.push_back(maximum + ")");
    }
    Block &weight = op.getWeight().front();
    // Outputs may sum one weight: each is a use, though the block yields it once.
    for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>())
      if (sum.getKind() != PairOutput::Maximum)
        formulas.addUse(weight.getTerminator()->getOperand(sum.getYielded()));
    llvm::append_range(lines, formulas.bindings(weight));
    std::string text = " { " + llvm::join(lines, ", ") + " }";
    if (!op.getVisible().empty())
      text += " visible(" + formulas.formula(op.getVisible().front().getTerminator()->getOperand(0)) + ")";
    if (op.getChunk())
      text += " chunk(" + std::to_string(op.getChunk()) + ")";
    text += " -> ";
    for (auto [index, sum] : llvm::enumerate(op.getSums().getAsRange<PairSumAttr>())) {
      text += (index ? ", " : "") + stringifyPairOutput(sum.getKind()).str();
      if (sum.getKind() == PairOutput::Maximum)
        continue;
      text += "(" + formulas.formula(weight.getTerminator()->getOperand(sum.getYielded()));
      if (Value array = op.getArrayOfSum(index))
        text += ", " + name(array);
      text += ")";
    }
    return text;
  }

  bool isPrintable() {
    llvm::SmallDenseSet<Value> distinct(op.getScalars().begin(), op.getScalars().end());
    for (Region *region : {&op.getVisible(), &op.getMaximum(), &op.getWeight()})
      for (Block &block : *region)
        if (!FormulaPrinter::isPrintable(block))
          return false;
    return distinct.size() == op.getScalars().size();
  }

private:
  std::string name(Value array) { return nameOfValue(printer, array); }
  std::string product(int64_t i) { return formulas.freeName("s" + std::to_string(i)); }
  std::string maximumName() { return formulas.freeName("m"); }

  void nameArguments(Region &region, bool withProducts, bool withMaximum) {
    if (region.empty())
      return;
    int64_t argument = 0;
    if (withProducts)
      for (int64_t i = 0; i < op.getNumProducts(); ++i)
        formulas.setText(region.getArgument(argument++), product(i));
    for (Value scalar : op.getScalars())
      formulas.setText(region.getArgument(argument++), name(scalar));
    if (withMaximum)
      formulas.setText(region.getArgument(argument++), maximumName());
  }

  OpAsmPrinter &printer;
  PairwiseOp op;
  FormulaPrinter formulas;
};

/// `generic products(%a, ..) scalars(..) weighted(..) sums = .. visible {..} maximum {..} weight {..}`: for
/// regions that no formula says.
ParseResult parseGeneric(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<PairwiseOp::Properties>();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types, resultTypes;
  Region *visible = result.addRegion(), *maximum = result.addRegion(), *weight = result.addRegion();
  SMLoc loc = parser.getCurrentLocation();
  for (auto [size, segment] : llvm::zip(properties.operandSegmentSizes, kSegments)) {
    size_t before = operands.size();
    if (parser.parseKeyword(segment) || parser.parseOperandList(operands, AsmParser::Delimiter::Paren))
      return failure();
    size = operands.size() - before;
  }
  if (parser.parseKeyword("sums") || parser.parseEqual() || parser.parseAttribute(properties.sums))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("chunk")) &&
      (parser.parseEqual() || parser.parseAttribute(properties.chunk)))
    return failure();
  if ((succeeded(parser.parseOptionalKeyword("visible")) && parser.parseRegion(*visible)) ||
      (succeeded(parser.parseOptionalKeyword("maximum")) && parser.parseRegion(*maximum)) ||
      parser.parseKeyword("weight") || parser.parseRegion(*weight) ||
      parser.parseOptionalAttrDict(result.attributes) || parser.parseColon() ||
      (!operands.empty() && parser.parseTypeList(types)) || parser.parseArrowTypeList(resultTypes))
    return failure();
  result.addTypes(resultTypes);
  return parser.resolveOperands(operands, types, loc, result.operands);
}

void printGeneric(OpAsmPrinter &printer, PairwiseOp op) {
  printer << " generic";
  for (auto [number, segment] : llvm::enumerate(kSegments))
    printer << " " << segment << "(" << op.getODSOperands(number) << ")";
  printer << " sums = " << op.getSums();
  if (op.getChunk())
    printer << " chunk = " << op.getChunkAttr();
  auto printRegion = [&](StringRef name, Region &region) {
    if (region.empty())
      return;
    printer << " " << name << " ";
    printer.printRegion(region);
  };
  printRegion("visible", op.getVisible());
  printRegion("maximum", op.getMaximum());
  printRegion("weight", op.getWeight());
  printer.printOptionalAttrDict(llvm::to_vector(op->getDiscardableAttrs()));
  printer << " : " << op->getOperandTypes();
  printer.printArrowTypeList(op.getResultTypes());
}

} // namespace

ParseResult PairwiseOp::parse(OpAsmParser &parser, OperationState &result) {
  if (succeeded(parser.parseOptionalKeyword("generic")))
    return parseGeneric(parser, result);
  return PairwiseSyntax(parser, result).parse();
}

void PairwiseOp::print(OpAsmPrinter &printer) {
  PairwisePrinter pairs(printer, *this);
  std::string text = pairs.isPrintable() ? pairs.text() : "";
  SmallVector<Value> arrays = getArrays(), order = orderOfAppearance(text, printer, arrays);
  if (order.size() != arrays.size())
    return printGeneric(printer, *this);
  printer << text;
  printer.printOptionalAttrDict(llvm::to_vector((*this)->getDiscardableAttrs()));
  printer << " : " << TypeRange(ValueRange(order)) << " -> " << getResultTypes();
}

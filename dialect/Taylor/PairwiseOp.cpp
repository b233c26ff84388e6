// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// taylor.pairwise: syntax and verifier.
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/BodySyntax.h"
#include "dialect/Taylor/Formula.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

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
  if (parser.resolveOperands(formulas.operands, types, loc, result.operands))
    return failure();
  result.addTypes(resultTypes);
  real = realTypeOf(parser.getContext(), types, resultTypes);
  if (findProducts() || findScalars() || buildRegions())
    return failure();
  Builder &builder = parser.getBuilder();
  SmallVector<Attribute> sums;
  for (const Output &output : outputs)
    sums.push_back(PairSumAttr::get(parser.getContext(), output.kind, output.yielded, output.array));
  auto &properties = result.getOrAddProperties<PairwiseOp::Properties>();
  properties.products = builder.getDenseI64ArrayAttr(products);
  properties.scalars = builder.getDenseI64ArrayAttr(scalars);
  properties.sums = builder.getArrayAttr(sums);
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
    for (int64_t i = 0; i < op.getNumProducts(); ++i)
      lines.push_back(product(i) + " = dot(" + name(op.getProducts()[2 * i]) + ", " +
                      name(op.getProducts()[2 * i + 1]) + ")");
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
      if (sum.getArray() >= 0)
        text += ", " + name(sum.getArray());
      text += ")";
    }
    return text;
  }

  bool isPrintable() {
    llvm::SmallDenseSet<Value> distinct(op.getArrays().begin(), op.getArrays().end());
    for (Region *region : {&op.getVisible(), &op.getMaximum(), &op.getWeight()})
      for (Block &block : *region)
        if (!FormulaPrinter::isPrintable(block))
          return false;
    return distinct.size() == op.getArrays().size();
  }

private:
  std::string name(int64_t array) { return nameOfValue(printer, op.getArrays()[array]); }
  std::string product(int64_t i) { return formulas.freeName("s" + std::to_string(i)); }
  std::string maximumName() { return formulas.freeName("m"); }

  void nameArguments(Region &region, bool withProducts, bool withMaximum) {
    if (region.empty())
      return;
    int64_t argument = 0;
    if (withProducts)
      for (int64_t i = 0; i < op.getNumProducts(); ++i)
        formulas.setText(region.getArgument(argument++), product(i));
    for (int64_t scalar : op.getScalars())
      formulas.setText(region.getArgument(argument++), name(scalar));
    if (withMaximum)
      formulas.setText(region.getArgument(argument++), maximumName());
  }

  OpAsmPrinter &printer;
  PairwiseOp op;
  FormulaPrinter formulas;
};

/// `generic(%a, ..) visible {..} maximum {..} weight {..} products = .. scalars = .. sums = ..`: for regions
/// that no formula says.
ParseResult parseGeneric(OpAsmParser &parser, OperationState &result) {
  auto &properties = result.getOrAddProperties<PairwiseOp::Properties>();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types, resultTypes;
  Region *visible = result.addRegion(), *maximum = result.addRegion(), *weight = result.addRegion();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOperandList(operands, AsmParser::Delimiter::Paren) || parser.parseKeyword("products") ||
      parser.parseEqual() || parser.parseAttribute(properties.products) || parser.parseKeyword("scalars") ||
      parser.parseEqual() || parser.parseAttribute(properties.scalars) || parser.parseKeyword("sums") ||
      parser.parseEqual() || parser.parseAttribute(properties.sums))
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
  printer << " generic(" << op.getArrays() << ") products = " << op.getProductsAttr()
          << " scalars = " << op.getScalarsAttr() << " sums = " << op.getSums();
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
  printer << " : " << op.getArrays().getTypes();
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
  SmallVector<Value> order = orderOfAppearance(text, printer, getArrays());
  if (order.size() != getArrays().size())
    return printGeneric(printer, *this);
  printer << text;
  printer.printOptionalAttrDict(llvm::to_vector((*this)->getDiscardableAttrs()));
  printer << " : " << TypeRange(ValueRange(order)) << " -> " << getResultTypes();
}

Type PairwiseOp::getRealType() { return realTypeOf(getContext(), getArrays().getTypes(), getResultTypes()); }

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

namespace {

StringRef productChannel(ArrayType row, ArrayType column) {
  for (StringAttr axis : row.getAxes())
    if (!isRuntimeAxis(axis) && column.has(axis))
      return axis;
  return "";
}

LogicalResult verifyOperands(PairwiseOp op) {
  int64_t count = op.getArrays().size();
  auto typeOf = [&](int64_t array) { return cast<ArrayType>(op.getArrays()[array].getType()); };
  auto inRange = [&](int64_t array) { return array >= 0 && array < count; };
  if (op.getProducts().size() % 2 || !llvm::all_of(op.getProducts(), inRange) ||
      !llvm::all_of(op.getScalars(), inRange))
    return op.emitOpError("expected operand numbers below ") << count << " in products and scalars";
  for (int64_t i = 0; i < op.getNumProducts(); ++i) {
    ArrayType row = typeOf(op.getProducts()[2 * i]), column = typeOf(op.getProducts()[2 * i + 1]);
    if (!row.has(AxisRole::Query) || !column.has(AxisRole::Key))
      return op.emitOpError("expected dot(..) of an array with t and an array with u, but got ")
             << row << " and " << column;
    StringRef channel = productChannel(row, column);
    if (channel.empty())
      return op.emitOpError("expected dot(..) of arrays that share a channel axis, but got ")
             << row << " and " << column;
    if (row.sizeOf(channel) != column.sizeOf(channel))
      return op.emitOpError("expected one size of channel '")
             << channel << "', but got " << row << " and " << column;
    for (ArrayType array : {row, column})
      for (StringAttr axis : array.getAxes())
        if (!isRuntimeAxis(axis) && axis != channel)
          return op.emitOpError("unsupported second channel axis '")
                 << axis.getValue() << "' of an array in dot(..), which sums over '" << channel
                 << "' alone: " << array;
  }
  for (int64_t scalar : op.getScalars())
    if (hasChannel(typeOf(scalar)))
      return op.emitOpError("unsupported channel axis of a scalar: ")
             << typeOf(scalar) << "; a channel may occur only in dot(..) and in outputs";
  return success();
}

LogicalResult verifyRegion(PairwiseOp op, Region &region, StringRef name, bool withProducts,
                           bool withMaximum) {
  if (region.empty())
    return success();
  if (failed(verifyPairScalars(op, region)))
    return failure();
  SmallVector<Type> expected;
  if (withProducts)
    expected.append(op.getNumProducts(), op.getRealType());
  for (int64_t scalar : op.getScalars())
    expected.push_back(cast<ArrayType>(op.getArrays()[scalar].getType()).getScalarType());
  if (withMaximum)
    expected.push_back(op.getRealType());
  if (region.getArgumentTypes() != TypeRange(expected))
    return op.emitOpError("expected arguments of the ")
           << name << " region of types " << expected << ", but got " << region.getArgumentTypes();
  // A maximum may have a floor, its second number.
  unsigned most = name == "visible" ? 1 : name == "maximum" ? 2 : std::numeric_limits<unsigned>::max();
  if (unsigned count = region.front().back().getNumOperands(); count < 1 || count > most)
    return op.emitOpError("expected ") << (most == 1   ? "one condition"
                                           : most == 2 ? "one number, or two with a floor,"
                                                       : "at least one number")
                                       << " from the " << name << " region, but got " << count;
  for (Value value : region.front().getTerminator()->getOperands()) {
    bool isCondition = value.getType().isInteger(1);
    if (name == "visible" && !isCondition)
      return op.emitOpError("expected a condition in visible(..), such as u <= t, but got a number");
    if (name != "visible" && isCondition)
      return op.emitOpError("expected numbers from the ")
             << name << " region, but got a condition; write select(condition, 1.0, 0.0)";
    if (name != "visible" && value.getType() != op.getRealType())
      return op.emitOpError("expected numbers of type ")
             << op.getRealType() << " from the " << name << " region, but got " << value.getType();
  }
  return success();
}

LogicalResult verifyOutput(PairwiseOp op, PairSumAttr sum, ArrayType result) {
  if (result.getScalarType() != op.getRealType())
    return op.emitOpError("expected outputs that are computed in ")
           << op.getRealType() << ", as the pairs are, but got " << result;
  bool columns = sum.getKind() == PairOutput::Columns, diagonals = sum.getKind() == PairOutput::Diagonals;
  AxisRef own = columns     ? AxisRole::Key
                : diagonals ? AxisRole::Lag
                            : AxisRole::Query,
          other = columns ? AxisRole::Query : AxisRole::Key;
  if (AxisRef token = tokenAxis(result); sum.getKind() != PairOutput::Total && !token.empty() && token != own)
    return op.emitOpError("expected an output of ")
           << stringifyPairOutput(sum.getKind()) << " without axis '" << token << "', but got " << result;
  if (diagonals && !result.has(own))
    return op.emitOpError("expected an output of diagonals with axis 'lag', but got ")
           << result << "; a sum over all pairs is total(..)";
  bool maximum = sum.getKind() == PairOutput::Maximum;
  if (maximum && !op.hasMaximum())
    return op.emitOpError("requires a maximum region for the output maximum");
  if (!maximum &&
      (sum.getYielded() < 0 || sum.getYielded() >= op.getWeight().front().getTerminator()->getNumOperands()))
    return op.emitOpError("expected an output of a yielded scalar, but got number ") << sum.getYielded();
  if (maximum || sum.getArray() < 0) {
    if (hasChannel(result))
      return op.emitOpError("expected an output without channel axis, but got ") << result;
    return success();
  }
  if (sum.getArray() >= static_cast<int64_t>(op.getArrays().size()) || sum.getKind() == PairOutput::Total ||
      diagonals)
    return op.emitOpError("expected rows or columns contracted with an operand");
  auto array = cast<ArrayType>(op.getArrays()[sum.getArray()].getType());
  if (!array.has(other))
    return op.emitOpError("expected ") << stringifyPairOutput(sum.getKind()) << "(w, array) with axis '"
                                       << other << "' of the array, but got " << array;
  for (StringAttr axis : array.getAxes())
    if (!isRuntimeAxis(axis) && !result.has(axis))
      return op.emitOpError("expected the channel axis '")
             << axis.getValue() << "' in the output, but got " << result;
  for (auto [axis, size] : llvm::zip(result.getAxes(), result.getSizes()))
    if (!isRuntimeAxis(axis) && (!array.has(axis) || array.sizeOf(axis) != size))
      return op.emitOpError("expected the channel axes of ") << array << " in the output, but got " << result;
  return success();
}

} // namespace

LogicalResult PairwiseOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyRegion(*this, getVisible(), "visible", false, false)) ||
      failed(verifyRegion(*this, getMaximum(), "maximum", true, false)) ||
      failed(verifyRegion(*this, getWeight(), "weight", true, hasMaximum())))
    return failure();
  if (getSums().size() != getResults().size())
    return emitOpError("expected one sum per result, but got ")
           << getSums().size() << " for " << getResults().size();
  for (auto [sum, result] : llvm::zip(getSums().getAsRange<PairSumAttr>(), getResults()))
    if (failed(verifyOutput(*this, sum, cast<ArrayType>(result.getType()))))
      return failure();
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// taylor.spec and taylor.function.
#include "dialect/Sources.h"
#include "dialect/Taylor/Annotation.h"
#include "dialect/Taylor/Carried.h"
#include "dialect/Taylor/NearestName.h"
#include "dialect/Taylor/TaylorAttrs.h"
#include "dialect/Taylor/TaylorDialect.h"
#include "dialect/Taylor/TextParsing.h"
#include "dialect/Tile/TileDialect.h"

using namespace mlir;
using namespace taylor;

/// Words that come before what passes say of a specification or a function.
static constexpr llvm::StringLiteral kOf = "of", kSeries = "series", kForm = "form", kCarries = "carries",
                                     kPreparesKeys = "prepares_keys";

namespace {

SourceAttr defaultSource(MLIRContext *context) {
  FloatAttr zero = FloatAttr::get(Float64Type::get(context), 0.0);
  return SourceAttr::get(context, SourceKind::Projection, false, Initial::Zeros, zero, zero);
}

bool hasTokens(ArrayType array) { return array.has(AxisRole::Query) || array.has(AxisRole::Key); }

/// `name : index = 10`, `name = 0.5`.
ParseResult parseParameters(OpAsmParser &parser, NamedAttrList &parameters) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&]() -> ParseResult {
    std::string name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&name))
      return failure();
    bool isIndex = false;
    if (succeeded(parser.parseOptionalColon())) {
      if (failed(parser.parseOptionalKeyword("index")))
        return parser.emitError(loc, "expected '")
               << name << " : index = 10' for an integer or '" << name << " = 0.5' for a real parameter";
      isIndex = true;
    }
    if (parser.parseEqual())
      return failure();
    if (parameters.get(name))
      return parser.emitError(loc, "expected distinct parameters, but got '") << name << "' twice";
    Builder &builder = parser.getBuilder();
    bool negative = succeeded(parser.parseOptionalMinus());
    int64_t integer = 0;
    OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
    if (isInteger.has_value()) {
      if (failed(*isInteger))
        return failure();
      integer = negative ? -integer : integer;
      parameters.append(name, isIndex ? Attribute(builder.getI64IntegerAttr(integer))
                                      : Attribute(builder.getF64FloatAttr(static_cast<double>(integer))));
      return success();
    }
    double number;
    if (isIndex)
      return parser.emitError(parser.getCurrentLocation(), "expected an integer for the index parameter '")
             << name << "'; without ': index' it is a real parameter";
    if (parser.parseFloat(number))
      return failure();
    parameters.append(name, builder.getF64FloatAttr(negative ? -number : number));
    return success();
  });
}

void printParameters(OpAsmPrinter &printer, DictionaryAttr parameters) {
  if (parameters.empty())
    return;
  printer << " parameters(";
  llvm::interleaveComma(parameters, printer, [&](NamedAttribute parameter) {
    printer << parameter.getName().getValue();
    if (auto integer = dyn_cast<IntegerAttr>(parameter.getValue()))
      printer << " : index = " << integer.getInt();
    else
      printer << " = " << formatNumber(cast<FloatAttr>(parameter.getValue()).getValueAsDouble());
  });
  printer << ")";
}

/// The body of a specification or a function; says what it must end in before MLIR asks for a terminator.
ParseResult parseBody(OpAsmParser &parser, OperationState &result,
                      ArrayRef<OpAsmParser::Argument> arguments) {
  llvm::SmallDenseSet<StringRef> names;
  for (const OpAsmParser::Argument &argument : arguments)
    if (!names.insert(argument.ssaName.name).second)
      return parser.emitError(argument.ssaName.location, "expected distinct argument names, but got '")
             << argument.ssaName.name << "' twice";
  SMLoc loc = parser.getCurrentLocation();
  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments) || rejectUnknownValues(parser, loc, *body, arguments))
    return failure();
  if (body->empty() || body->front().empty() || !isa<YieldOp>(body->front().back()))
    return parser.emitError(loc, "requires a taylor.yield of at least one array at the end of the body");
  return success();
}

/// What specifications and functions end with: their form, what calls carry, whether they prepare keys,
/// attributes, the body.
template <typename Properties>
ParseResult parseFormAndBody(OpAsmParser &parser, OperationState &result, Properties &properties,
                             ArrayRef<OpAsmParser::Argument> arguments) {
  if ((succeeded(parser.parseOptionalKeyword(kForm)) && parser.parseAttribute(properties.form)) ||
      (succeeded(parser.parseOptionalKeyword(kCarries)) && parser.parseAttribute(properties.carries)))
    return failure();
  if (succeeded(parser.parseOptionalKeyword(kPreparesKeys)))
    properties.prepares_keys = parser.getBuilder().getUnitAttr();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  return parseBody(parser, result, arguments);
}

template <typename Container> void printFormAndBody(OpAsmPrinter &printer, Container op) {
  if (op.getFormAttr())
    printer << " " << kForm << " " << op.getFormAttr();
  if (op.getCarriesAttr())
    printer << " " << kCarries << " " << op.getCarriesAttr();
  if (op.getPreparesKeys())
    printer << " " << kPreparesKeys;
  printer.printOptionalAttrDictWithKeyword(llvm::to_vector(op->getDiscardableAttrs()));
  printer << " ";
  printer.printRegion(op.getBody(), /*printEntryBlockArgs=*/false);
}

LogicalResult verifyForm(Operation *op, Attribute form) {
  if (form && !isa<tile::FormAttr>(form))
    return op->emitOpError("expected #tile.form<..> as its form, but got ") << form;
  return success();
}

LogicalResult verifyCarries(Operation *op, CarryAttr carries) {
  if (!carries)
    return success();
  if (carries.getBlock() < 1)
    return op->emitOpError("expected a block of 1 component or more in what it carries, but got ")
           << carries.getBlock();
  if (carries.getChannels() < 0 || carries.getMostTokens() < 0)
    return op->emitOpError("expected channels and tokens of 0 or more in what it carries, but got ")
           << carries.getChannels() << " and " << carries.getMostTokens();
  return success();
}

/// Results are arrays with distinct names, and none of `names`.
LogicalResult verifyYield(YieldOp yield, llvm::SmallDenseSet<StringRef> names = {}) {
  for (Value value : yield.getValues())
    if (!isa<ArrayType>(value.getType()))
      return yield.emitOpError("expected results of type !taylor.array, but got ") << value.getType();
  if (!yield.getNames() || yield.getNames()->size() != yield.getValues().size())
    return yield.emitOpError("requires a name for each result");
  for (StringAttr name : yield.getNames()->getAsRange<StringAttr>())
    if (!names.insert(name.getValue()).second)
      return yield.emitOpError("expected distinct result names, but got ")
             << name << " twice; name the results of an operation each, as in %a, %b = .., or write "
             << "taylor.yield \"a\" %x, \"b\" %y";
  return success();
}

/// What prepares keys gives what later calls read of them: `cache.NAME`, and what its own next call begins
/// from. Names of a function's results have their role before them.
LogicalResult verifyPrepared(YieldOp yield) {
  for (StringRef name : yield.getNames()->getAsValueRange<StringAttr>()) {
    StringRef output = name;
    bool isOutput = output.consume_front("output:") || !output.contains(':');
    if (isOutput && !output.starts_with(kCachePrefix) && !isCarried(output))
      return yield.emitOpError("expected results 'cache.NAME' or 'final.NAME' where 'prepares_keys' stands, "
                               "but got '")
             << name << "'";
  }
  return success();
}

/// A name in a formula that is neither an axis, nor bound, nor a parameter.
LogicalResult reportUnknownName(SpecOp spec, ParameterOp op) {
  NearestName nearest(op.getName());
  for (NamedAttribute parameter : spec.getParameters())
    nearest.consider(parameter.getName());
  InFlightDiagnostic diagnostic =
      op->emitError("expected an axis, a bound name or a parameter of the specification, but got '")
      << op.getName() << "'; ";
  if (op.getName() == "s" && isa<RecurrencesOp>(op->getParentOp()))
    return diagnostic
           << "the score s is known in score(..) and weight(..); a weight that is 0 for some scores is "
              "weight(select(0.5 < s, exp(s), 0.0))";
  std::string small = op.getName().lower();
  if (small != op.getName() && (isRoleAxis(small) || (small == "s" && isa<RecurrencesOp>(op->getParentOp()))))
    return diagnostic << "did you mean '" << small << "'? The score and axes have small letters";
  Operation *parent = op->getParentOp();
  auto result = parent->getNumResults() ? dyn_cast<ArrayType>(parent->getResult(0).getType()) : ArrayType();
  if (result && result.has(op.getName()))
    return diagnostic
           << "an axis of the result is known where an operand has it; taylor.map 1.0 -> !taylor.array<["
           << op.getName() << " = " << result.sizeOf(op.getName()) << "]> makes one";
  if (nearest.get().empty())
    return diagnostic << "declare it as parameters(" << op.getName()
                      << " = 1.0), or : index = 10 for an integer";
  return diagnostic << "did you mean '" << nearest.get() << "'?";
}

/// Orders named by a parameter need an integer one.
LogicalResult verifyOrders(SpecOp spec, RecurrencesOp op) {
  for (std::optional<Attribute> bound : {op.getFirstOrder(), op.getLastOrder()}) {
    auto name = dyn_cast_or_null<StringAttr>(bound.value_or(Attribute()));
    if (!name || isa_and_nonnull<IntegerAttr>(spec.getParameters().get(name.getValue())))
      continue;
    NearestName nearest(name.getValue());
    for (NamedAttribute parameter : spec.getParameters())
      if (isa<IntegerAttr>(parameter.getValue()))
        nearest.consider(parameter.getName());
    InFlightDiagnostic diagnostic = op.emitOpError("requires an index parameter '")
                                    << name.getValue() << "'; ";
    if (nearest.get().empty())
      return diagnostic << "declare it as parameters(" << name.getValue() << " : index = 10)";
    return diagnostic << "did you mean '" << nearest.get() << "'?";
  }
  return success();
}

/// Block arguments are printed under the names of the specification.
void nameArguments(Region &region, ArrayAttr names, OpAsmSetValueNameFn setName) {
  for (auto [argument, name] : llvm::zip(region.getArguments(), names)) {
    StringRef text = cast<StringAttr>(name).getValue();
    // Formulas read no name that ends in a minus.
    setName(argument, text.substr(text.find(':') == StringRef::npos ? 0 : text.find(':') + 1).rtrim('-'));
  }
}

} // namespace

//===----------------------------------------------------------------------===//
// SpecOp
//===----------------------------------------------------------------------===//

ParseResult SpecOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  auto &properties = result.getOrAddProperties<Properties>();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> names, sources;
  if (parser.parseSymbolName(properties.sym_name) ||
      (succeeded(parser.parseOptionalKeyword(kOf)) && parser.parseSymbolName(properties.step_of)))
    return failure();
  auto parseArgument = [&]() -> ParseResult {
    OpAsmParser::Argument argument;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseArgument(argument, /*allowType=*/true))
      return failure();
    auto array = dyn_cast<ArrayType>(argument.type);
    if (!array)
      return parser.emitError(loc, "expected an argument of type !taylor.array, but got ") << argument.type;
    StringRef name = argument.ssaName.name.drop_front();
    SourceAttr source;
    if (succeeded(parser.parseOptionalKeyword("from"))) {
      FailureOr<SourceAttr> parsed = parseSource(parser);
      if (failed(parsed))
        return failure();
      source = *parsed;
    } else if (hasTokens(array)) {
      source = defaultSource(parser.getContext());
    } else {
      return parser.emitError(loc, "requires a source of argument '%")
             << name << "', which has no token axis: write 'from parameter(ones)' or 'from input'";
    }
    names.push_back(builder.getStringAttr(name));
    sources.push_back(source);
    arguments.push_back(argument);
    return success();
  };
  NamedAttrList parameters;
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseArgument) ||
      (succeeded(parser.parseOptionalKeyword("parameters")) && parseParameters(parser, parameters)))
    return failure();
  properties.arg_names = builder.getArrayAttr(names);
  properties.sources = builder.getArrayAttr(sources);
  properties.parameters = parameters.getDictionary(parser.getContext());
  if (succeeded(parser.parseOptionalKeyword(kSeries)) && parser.parseAttribute(properties.series))
    return failure();
  return parseFormAndBody(parser, result, properties, arguments);
}

void SpecOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  if (getStepOf()) {
    printer << " " << kOf << " ";
    printer.printSymbolName(*getStepOf());
  }
  printer << "(";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getSources()), printer, [&](auto pair) {
    auto [argument, source] = pair;
    printer.printRegionArgument(argument);
    auto array = cast<ArrayType>(argument.getType());
    if (source != defaultSource(getContext()) || !hasTokens(array)) {
      printer << " from ";
      printSource(printer, cast<SourceAttr>(source));
    }
  });
  printer << ")";
  printParameters(printer, getParameters());
  if (getSeriesAttr())
    printer << " " << kSeries << " " << getSeriesAttr();
  printFormAndBody(printer, *this);
}

void SpecOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameArguments(region, getArgNames(), setName);
}

/// Kernels know an axis by its name alone, so a free axis has one size in all of a container. A formula means
/// the axis by its name, so that no parameter may be called so.
static LogicalResult verifyFreeAxes(Operation *container, Block &body, ArrayAttr names,
                                    DictionaryAttr parameters) {
  struct Known {
    int64_t size;
    StringRef argument; // empty for a result
  };
  llvm::StringMap<Known> known;
  auto conflict = [&](ArrayType array, StringRef argument) -> std::optional<std::pair<StringRef, Known>> {
    for (auto [axis, size] : llvm::zip(array.getAxes(), array.getSizes()))
      if (!isRoleAxis(axis)) {
        Known first = known.try_emplace(axis.getValue(), Known{size, argument}).first->second;
        if (first.size != size)
          return std::pair(axis.getValue(), first);
      }
    return std::nullopt;
  };
  for (auto [argument, name] : llvm::zip(body.getArguments(), names.getAsValueRange<StringAttr>()))
    if (auto array = cast<ArrayType>(argument.getType()); auto found = conflict(array, name))
      return container->emitOpError("expected size ")
             << found->second.size << " of the free axis '" << found->first << "' of '" << name
             << "', as of '" << found->second.argument << "', but got " << array.sizeOf(found->first)
             << ": give it a name of its own";
  for (Operation &op : body)
    for (Type type : op.getResultTypes())
      if (auto array = dyn_cast<ArrayType>(type))
        if (auto found = conflict(array, ""))
          return op.emitOpError("expected size ")
                 << found->second.size << " of the free axis '" << found->first << "', as before it, but got "
                 << array.sizeOf(found->first) << ": give it a name of its own";
  for (NamedAttribute parameter : parameters) {
    StringRef name = parameter.getName();
    if (!isa<IntegerAttr, FloatAttr>(parameter.getValue()))
      return container->emitOpError("expected a number as the parameter '")
             << name << "', but got " << parameter.getValue();
    if (isRoleAxis(name) || known.contains(name))
      return container->emitOpError("unsupported parameter '")
             << name << "': formulas mean the axis by this name; choose another";
  }
  return success();
}

/// What reads itself, or a result from below: a state, as someone would write it who thinks of a loop over
/// tokens.
static LogicalResult verifyOrder(Block &body) {
  for (Operation &op : body)
    for (Value operand : op.getOperands())
      if (Operation *from = operand.getDefiningOp();
          from && from->getBlock() == &body && !from->isBeforeInBlock(&op)) {
        InFlightDiagnostic diagnostic = op.emitError("expected results from above, but this reads ");
        diagnostic
            << (from == &op ? "its own result" : "a result from below")
            << "; a state over tokens is a sum (taylor.recurrences, with decay(..) where it forgets) or a "
               "scan (taylor.scan), and a state that is multiplied by more than a decay, such as that "
               "of the delta rule, is unsupported";
        if (from != &op)
          diagnostic.attachNote(from->getLoc()) << "computed here";
        return diagnostic;
      }
  return success();
}

LogicalResult SpecOp::verify() {
  if (failed(verifyForm(*this, getFormAttr())) || failed(verifyCarries(*this, getCarriesAttr())) ||
      failed(verifyOrder(getBody().front())))
    return failure();
  if (getArgNames().size() != getBody().getNumArguments() ||
      getSources().size() != getBody().getNumArguments())
    return emitOpError("expected one name and one source per argument");
  llvm::SmallDenseSet<StringRef> names;
  for (auto [argument, name, source] : llvm::zip(getBody().getArguments(), getArgNames(), getSources())) {
    auto array = dyn_cast<ArrayType>(argument.getType());
    StringRef text = cast<StringAttr>(name).getValue();
    if (!array)
      return emitOpError("expected arguments of type !taylor.array, but got ") << argument.getType();
    if (!names.insert(text).second)
      return emitOpError("expected distinct argument names, but got '") << text << "' twice";
    if (array.has(AxisRole::Lag))
      return emitOpError("unsupported axis lag of the argument '")
             << text << "': compute it from an array with a free axis, by taylor.map or taylor.reduce";
    SourceKind kind = cast<SourceAttr>(source).getKind();
    if (kind == SourceKind::Projection && !hasTokens(array))
      return emitOpError("requires a token axis (t or u) of the projected argument '") << text << "'";
    if (kind == SourceKind::Parameter && (hasTokens(array) || array.has(AxisRole::Batch)))
      return emitOpError("unsupported axis b, t or u of the learned parameter '")
             << text << "'; leave the axis out, or write 'from input' for what the caller gives";
    if (kind != SourceKind::Input && !isa<FloatType>(array.getElementType()))
      return emitOpError("requires 'from input' for the integer argument '") << text << "'";
  }
  return verifyFreeAxes(*this, getBody().front(), getArgNames(), getParameters());
}

/// Whether a value is computed from any real argument: what comes of integers alone (numbers of documents,
/// positions) is no content of tokens.
static bool dependsOnReals(Operation *op) {
  return anySource(op->getOperands(), [](Value value) {
    auto type = dyn_cast<ArrayType>(value.getType());
    return isa<BlockArgument>(value) && (!type || isa<FloatType>(type.getElementType()));
  });
}

/// Whether an argument or a computed array has the axis.
static bool hasArrayWith(SpecOp spec, AxisRef axis) {
  auto has = [&](Type type) { return isa<ArrayType>(type) && cast<ArrayType>(type).has(axis); };
  Block &body = spec.getBody().front();
  return llvm::any_of(body.getArgumentTypes(), has) ||
         llvm::any_of(body, [&](Operation &op) { return llvm::any_of(op.getResultTypes(), has); });
}

/// A running sum or maximum over tokens is of the past of each; next to a sum over all keys it would mean one
/// order of tokens only.
static LogicalResult verifyRunningScans(SpecOp spec) {
  bool bidirectional = false;
  Operation *runs = nullptr;
  auto isRunning = [](Operation *op) {
    auto scan = dyn_cast<ScanOp>(op);
    return scan ? !scan.isShift() : isa<RecurrentOpInterface>(op);
  };
  for (Operation &op : spec.getBody().front()) {
    if (auto sums = dyn_cast<RecurrencesOp>(op))
      bidirectional |= sums.getMask() == Mask::Bidirectional;
    else if (auto sum = dyn_cast<RecurrenceOp>(op))
      bidirectional |= sum.getMask() == Mask::Bidirectional;
    else if (!runs && isRunning(&op) && dependsOnReals(&op))
      runs = &op;
  }
  if (!bidirectional || !runs)
    return success();
  auto scan = dyn_cast<ScanOp>(runs);
  return runs->emitError("unsupported running ")
         << (scan && scan.getKind() == ScanKind::Max ? "maximum" : "sum")
         << " over tokens in a bidirectional attention: it is for causal use only; compile with a causal "
            "mask";
}

/// A name without a prefix is a clause in the wrong place, or a misspelt one: no pass reads it.
static LogicalResult verifyAttributes(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (StringRef name = attribute.getName(); !name.contains('.'))
      return op->emitOpError("unsupported attribute '")
             << name << "': clauses stand without braces, and notes of your own have a prefix, as 'my."
             << name << "'";
  return success();
}

LogicalResult SpecOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield || yield.getValues().empty())
    return emitOpError("requires a taylor.yield of at least one array at its end");
  if (failed(verifyYield(yield)) || (getPreparesKeys() && failed(verifyPrepared(yield))))
    return failure();
  for (Value value : yield.getValues())
    if (cast<ArrayType>(value.getType()).has(AxisRole::Lag))
      return yield.emitOpError("unsupported axis lag of a result: it is read in formulas over pairs");
  for (Operation &op : getBody().front())
    if (op.getDialect() != getOperation()->getDialect())
      return op.emitOpError(
          "unsupported in a specification: scalar work belongs into the formula of a taylor.map");
  WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
    if (op->getDialect() == getOperation()->getDialect() && failed(verifyAttributes(op)))
      return WalkResult::interrupt();
    if (auto parameter = dyn_cast<ParameterOp>(op); parameter && !getParameters().get(parameter.getName()))
      return reportUnknownName(*this, parameter);
    if (auto size = dyn_cast<SizeOp>(op);
        size && !isRuntimeAxis(size.getAxis()) && !hasArrayWith(*this, size.getAxis()))
      return size.emitError("expected an axis of the specification's arrays in size(..), but got '")
             << size.getAxis() << "'";
    if (auto sums = dyn_cast<RecurrencesOp>(op); sums && failed(verifyOrders(*this, sums)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return verifyRunningScans(*this);
}

//===----------------------------------------------------------------------===//
// FunctionOp
//===----------------------------------------------------------------------===//

ParseResult FunctionOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  auto &properties = result.getOrAddProperties<Properties>();
  StringAttr spec;
  if (parser.parseSymbolName(properties.sym_name) || parser.parseKeyword(kOf) || parser.parseSymbolName(spec))
    return failure();
  properties.spec_name = spec;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> names, sources;
  auto parseArgument = [&]() -> ParseResult {
    std::string name;
    return failure(parser.parseString(&name) ||
                   (names.push_back(builder.getStringAttr(name)),
                    parser.parseArgument(arguments.emplace_back(), /*allowType=*/true)));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseArgument))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("sources"))) {
    auto parseOne = [&]() -> ParseResult {
      FailureOr<SourceAttr> source = parseSource(parser);
      if (failed(source))
        return failure();
      sources.push_back(*source);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
      return failure();
    properties.sources = builder.getArrayAttr(sources);
  }
  NamedAttrList parameters;
  if ((succeeded(parser.parseOptionalKeyword("parameters")) && parseParameters(parser, parameters)) ||
      (succeeded(parser.parseOptionalKeyword("plan")) && parser.parseAttribute(properties.plan)))
    return failure();
  properties.arg_names = builder.getArrayAttr(names);
  properties.parameters = parameters.getDictionary(parser.getContext());
  return parseFormAndBody(parser, result, properties, arguments);
}

void FunctionOp::print(OpAsmPrinter &printer) {
  printer << " ";
  printer.printSymbolName(getSymName());
  printer << " " << kOf << " ";
  printer.printSymbolName(getSpecName());
  printer << "(";
  llvm::interleaveComma(llvm::zip(getBody().getArguments(), getArgNames()), printer, [&](auto pair) {
    printer << std::get<1>(pair) << " ";
    printer.printRegionArgument(std::get<0>(pair));
  });
  printer << ")";
  if (getSources()) {
    printer << " sources [";
    llvm::interleaveComma(*getSources(), printer,
                          [&](Attribute source) { printSource(printer, cast<SourceAttr>(source)); });
    printer << "]";
  }
  printParameters(printer, getParameters());
  if (getPlanAttr())
    printer << " plan " << getPlanAttr();
  printFormAndBody(printer, *this);
}

void FunctionOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  nameArguments(region, getArgNames(), setName);
}

std::string FunctionOp::nameOf(StringRef spec, FunctionRole role) {
  return (spec + "." + stringifyFunctionRole(role)).str();
}

bool FunctionOp::isTwin() {
  auto form = cast_if_present<tile::FormAttr>(getFormAttr());
  return form && getShortName() != stringifyFunctionRole(form.getFunction());
}

LogicalResult FunctionOp::verify() {
  if (Attribute plan = getPlanAttr(); plan && !isa<tile::PlanAttr>(plan))
    return emitOpError("expected #tile.plan<..> as its plan, but got ") << plan;
  if (failed(verifyForm(*this, getFormAttr())) || failed(verifyCarries(*this, getCarriesAttr())))
    return failure();
  if (getArgNames().size() != getBody().getNumArguments())
    return emitOpError("expected one name per argument");
  int64_t inputs = llvm::count_if(getArgNames().getAsValueRange<StringAttr>(),
                                  [](StringRef name) { return name.starts_with("input:"); });
  if (getSources() && int64_t(getSources()->size()) != inputs)
    return emitOpError("expected a source per input, ") << inputs << ", but got " << getSources()->size();
  llvm::SmallDenseSet<StringRef> names;
  for (auto [argument, name] : llvm::zip(getBody().getArguments(), getArgNames())) {
    if (!isa<ArrayType>(argument.getType()))
      return emitOpError("expected arguments of type !taylor.array, but got ") << argument.getType();
    StringRef text = cast<StringAttr>(name).getValue();
    if (!names.insert(text).second)
      return emitOpError("expected distinct argument names, but got '") << text << "' twice";
    StringRef role = text.split(':').first;
    if (role != "input" && role != "output" && role != "saved" && role != "cotangent")
      return emitOpError("expected an argument named input:, output:, saved: or cotangent:, but got ")
             << name;
  }
  if (failed(verifyFreeAxes(*this, getBody().front(), getArgNames(), getParameters())))
    return failure();
  for (Operation &op : getBody().front())
    if (op.getDialect() != getOperation()->getDialect() && !op.hasTrait<Annotation>())
      return op.emitOpError(
          "unsupported in a function: scalar work belongs into the formula of a taylor.map");
  if (auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
      !yield || !yield.getNames() || yield.getNames()->size() != yield.getValues().size())
    return emitOpError("requires a taylor.yield with a name for each result at its end");
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  return failure(failed(verifyYield(yield, names)) || (getPreparesKeys() && failed(verifyPrepared(yield))));
}

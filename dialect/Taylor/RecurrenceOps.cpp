// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// taylor.recurrences and taylor.recurrence.
#include "dialect/Taylor/Axes.h"
#include "dialect/Taylor/BodySyntax.h"
#include "dialect/Taylor/Formula.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace taylor;

namespace {

/// The one axis that is neither a token nor a head nor a batch; empty if there is none or several.
StringRef channelOf(ArrayType array) {
  StringRef channel;
  for (StringAttr axis : array.getAxes())
    if (!isRuntimeAxis(axis)) {
      if (!channel.empty())
        return "";
      channel = axis;
    }
  return channel;
}

LogicalResult verifyQueryKeyValue(EmitError emitError, ArrayType query, ArrayType key, ArrayType value) {
  if (!query.has("t"))
    return emitError() << "requires axis t of the query, but got " << query;
  if (!key.has("u"))
    return emitError() << "requires axis u of the key, but got " << key;
  if (!value.has("u"))
    return emitError() << "requires axis u of the value, but got " << value;
  StringRef channel = channelOf(query);
  if (channel.empty() || channelOf(key) != channel)
    return emitError() << "expected one channel axis that query and key share, but got " << query << " and "
                       << key;
  if (query.sizeOf(channel) != key.sizeOf(channel))
    return emitError() << "expected one size of channel '" << channel << "', but got " << query << " and "
                       << key;
  if (channelOf(value).empty())
    return emitError() << "expected one channel axis of the value, but got " << value;
  if (channelOf(value) == channel)
    return emitError() << "expected a channel axis of the value other than that of the score, but got '"
                       << channel << "'";
  return success();
}

FailureOr<SmallVector<Type>> inferSums(EmitError emitError, ArrayType query, ArrayType key, ArrayType value,
                                       ArrayAttr sums, StringRef feature) {
  if (failed(verifyQueryKeyValue(emitError, query, key, value)))
    return failure();
  MLIRContext *context = query.getContext();
  StringRef scoreChannel = channelOf(query), valueChannel = channelOf(value);
  Type real = realTypeOf(context, {query, key, value});
  ArrayType rows = query.without({scoreChannel}), columns = key.without({scoreChannel, StringRef("u")});
  FailureOr<ArrayType> numerator =
      joinArrays(emitError, context, {rows, columns, value.without({StringRef("u")})}, {}, real);
  if (failed(numerator))
    return failure();
  SmallVector<Type> types;
  for (SumAttr sum : sums.getAsRange<SumAttr>()) {
    if (sum.getValue() == Sum::Numerator) {
      types.push_back(*numerator);
    } else if (sum.getValue() == Sum::State) {
      SmallVector<StringRef> feature_{feature};
      FailureOr<ArrayType> state =
          joinArrays(emitError, context, {columns, value.without({StringRef("u")})}, feature_, real);
      if (failed(state))
        return failure();
      types.push_back(*state);
    } else {
      types.push_back(numerator->without({valueChannel}));
    }
  }
  return types;
}

ParseResult parseSums(OpAsmParser &parser, ArrayAttr &sums) {
  MLIRContext *context = parser.getContext();
  SmallVector<Attribute> list;
  auto parseSum = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Sum> sum = symbolizeSum(word);
    if (!sum)
      return parser.emitError(loc, "expected numerator, mass, count or state, but got '") << word << "'";
    list.push_back(SumAttr::get(context, *sum));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalSquare, parseSum))
    return failure();
  if (list.empty())
    list.push_back(SumAttr::get(context, Sum::Numerator));
  sums = ArrayAttr::get(context, list);
  return success();
}

void printSums(OpAsmPrinter &printer, ArrayAttr sums) {
  printer << " [";
  llvm::interleaveComma(sums.getAsRange<SumAttr>(), printer,
                        [&](SumAttr sum) { printer << stringifySum(sum.getValue()); });
  printer << "]";
}

Value sumNamed(Operation *op, ArrayAttr sums, Sum wanted) {
  for (auto [index, sum] : llvm::enumerate(sums.getAsRange<SumAttr>()))
    if (sum.getValue() == wanted)
      return op->getResult(index);
  return {};
}

LogicalResult verifySums(Operation *op, ArrayAttr sums) {
  llvm::SmallDenseSet<int> seen;
  for (SumAttr sum : sums.getAsRange<SumAttr>())
    if (!seen.insert(static_cast<int>(sum.getValue())).second)
      return op->emitOpError("expected each sum once, but got '")
             << stringifySum(sum.getValue()) << "' twice";
  return success();
}

LogicalResult verifyYielded(Operation *op, Region &region, StringRef clause, bool isCondition) {
  if (region.empty())
    return success();
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  Type type = yield && yield.getValues().size() == 1 ? yield.getValues()[0].getType() : Type();
  if (isCondition && (!type || !type.isInteger(1)))
    return op->emitOpError("expected a condition in ")
           << clause << "(..), such as t - u < 8.0, but got a number";
  if (!isCondition && !isa_and_nonnull<FloatType>(type))
    return op->emitOpError("expected a number in ")
           << clause << "(..), but got a condition; write select(condition, 1.0, 0.0)";
  return success();
}

/// A scale multiplies all products alike: it reads sizes and parameters, no positions.
LogicalResult verifyScale(Operation *op, Region &scale) {
  if (failed(verifyYielded(op, scale, "scale", /*isCondition=*/false)))
    return failure();
  for (StringRef axis : indexedAxes(scale))
    return op->emitOpError("expected a scale of sizes and parameters, but got the index '")
           << axis << "'; what varies along an axis belongs into score(..)";
  return success();
}

/// The clauses of taylor.recurrences as read, before the types are known.
struct Clauses {
  explicit Clauses(OpAsmParser &parser) : parser(parser), formulas(parser) {}

  ParseResult parse();
  ParseResult parseOrders();
  ParseResult parseCoefficients();

  OpAsmParser &parser;
  FormulaParser formulas;
  bool exponential = false, allOrders = false;
  Attribute first, last;
  std::optional<SmallVector<double>> coefficients;
  std::optional<Mask> mask;
  std::optional<OpAsmParser::UnresolvedOperand> decay;
  std::vector<Binding> scale, score, weight, visible;
};

ParseResult Clauses::parseOrders() {
  Builder &builder = parser.getBuilder();
  if (parser.parseLParen())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("all"))) {
    allOrders = true;
    return parser.parseRParen();
  }
  auto parseBound = [&](Attribute &bound) -> ParseResult {
    int64_t integer;
    OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
    if (isInteger.has_value()) {
      bound = builder.getI64IntegerAttr(integer);
      return *isInteger;
    }
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return failure();
    bound = builder.getStringAttr(name);
    return success();
  };
  return failure(parseBound(first) || parser.parseKeyword("to") || parseBound(last) || parser.parseRParen());
}

ParseResult Clauses::parseCoefficients() {
  if (parser.parseLParen())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("factorial")))
    return parser.parseRParen();
  coefficients.emplace();
  do {
    bool negative = succeeded(parser.parseOptionalMinus());
    double value;
    if (parser.parseFloat(value))
      return failure();
    coefficients->push_back(negative ? -value : value);
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRParen();
}

ParseResult Clauses::parse() {
  auto parseOne = [&](std::vector<Binding> &bindings) -> ParseResult {
    FailureOr<FormulaPtr> formula = failure();
    if (parser.parseLParen() || failed(formula = formulas.parseFormula()) || parser.parseRParen())
      return failure();
    bindings.emplace_back().formula = std::move(*formula);
    return success();
  };
  llvm::StringSet<llvm::MallocAllocator> seen;
  StringRef word;
  while (true) {
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&word)))
      return success();
    std::string clause = word.str();
    if (!seen.insert(clause).second)
      return parser.emitError(loc, "expected each clause once, but got '") << clause << "' twice";
    ParseResult parsed = success();
    if (clause == "orders") {
      parsed = parseOrders();
    } else if (clause == "coefficients") {
      parsed = parseCoefficients();
    } else if (clause == "exponential") {
      exponential = allOrders = true;
    } else if (clause == "scale") {
      parsed = parseOne(scale);
    } else if (clause == "score") {
      parsed = parseOne(score);
    } else if (clause == "weight") {
      parsed = parseOne(weight);
    } else if (clause == "causal" || clause == "bidirectional") {
      if (mask)
        return parser.emitError(loc, "expected either causal or bidirectional, but got both");
      mask = symbolizeMask(clause);
    } else if (clause == "decay") {
      decay.emplace();
      parsed = failure(parser.parseLParen() || parser.parseOperand(*decay) || parser.parseRParen());
    } else if (clause == "visible") {
      FailureOr<FormulaPtr> conditions = failure();
      if (parser.parseLParen() || failed(conditions = formulas.parseConditions()) || parser.parseRParen())
        return failure();
      visible.emplace_back().formula = std::move(*conditions);
    } else {
      return parser.emitError(
                 loc,
                 "expected a clause (orders, coefficients, exponential, weight, scale, score, decay, causal, "
                 "bidirectional, visible), but got '")
             << clause << "'";
    }
    if (parsed)
      return failure();
  }
}

/// The formula rsqrt(size(CHANNEL)).
FormulaPtr inverseRootOfChannels(SMLoc loc, StringRef channel) {
  auto make = [&](Formula::Kind kind, StringRef name) {
    auto formula = std::make_unique<Formula>();
    formula->kind = kind;
    formula->name = name.str();
    formula->loc = loc;
    return formula;
  };
  FormulaPtr size = make(Formula::Kind::Call, "size");
  size->arguments.push_back(make(Formula::Kind::Name, channel));
  FormulaPtr root = make(Formula::Kind::Call, "rsqrt");
  root->arguments.push_back(std::move(size));
  return root;
}

void printFormula(OpAsmPrinter &printer, StringRef clause, Region &region, ArrayRef<std::string> names) {
  if (region.empty())
    return;
  llvm::DenseMap<Value, std::string> leaves;
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    leaves[argument] = name;
  printer << " " << clause << "("
          << FormulaPrinter(leaves).formula(region.front().getTerminator()->getOperand(0)) << ")";
}

/// Array types of a type list, or an error.
FailureOr<SmallVector<ArrayType>> asArrays(OpAsmParser &parser, SMLoc loc, ArrayRef<Type> types) {
  SmallVector<ArrayType> arrays;
  for (Type type : types) {
    auto array = dyn_cast<ArrayType>(type);
    if (!array) {
      parser.emitError(loc, "expected operands of type !taylor.array, but got ") << type;
      return failure();
    }
    arrays.push_back(array);
  }
  return arrays;
}

} // namespace

//===----------------------------------------------------------------------===//
// RecurrencesOp
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Type>> RecurrencesOp::inferResultTypes(EmitError emitError, ArrayType query,
                                                             ArrayType key, ArrayType value, ArrayAttr sums) {
  return inferSums(emitError, query, key, value, sums, "f");
}

Value RecurrencesOp::getSum(Sum sum) { return sumNamed(*this, getSums(), sum); }

ParseResult RecurrencesOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  auto &properties = result.getOrAddProperties<Properties>();
  SmallVector<OpAsmParser::UnresolvedOperand> operands(3);
  Clauses clauses(parser);
  SmallVector<Type> types;
  if (parseSums(parser, properties.sums) || parser.parseOperand(operands[0]) || parser.parseComma() ||
      parser.parseOperand(operands[1]) || parser.parseComma() || parser.parseOperand(operands[2]) ||
      clauses.parse() || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonTypeList(types))
    return failure();
  if (clauses.decay)
    operands.push_back(*clauses.decay);
  size_t firstExtra = operands.size();
  llvm::append_range(operands, clauses.formulas.operands);
  if (types.size() != operands.size())
    return parser.emitError(loc, "expected ")
           << operands.size() << " operand types (query, key, value, decay, then other "
           << "values in order of appearance), but got " << types.size();
  FailureOr<SmallVector<ArrayType>> arrays = asArrays(parser, loc, types);
  if (failed(arrays) || parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  if (!clauses.mask)
    return parser.emitError(parser.getNameLoc(), "requires a clause causal or bidirectional");
  if (clauses.weight.empty() + !(clauses.allOrders || clauses.first) != 1)
    return parser.emitError(parser.getNameLoc(),
                            "requires exactly one of the clauses exponential, orders(..) and weight(..)");
  if (clauses.exponential && (clauses.first || clauses.coefficients || !clauses.scale.empty()))
    return parser.emitError(parser.getNameLoc(),
                            "expected exponential alone: it stands for orders(all) coefficients(factorial) "
                            "scale(rsqrt(size(d)))");
  FailureOr<SmallVector<Type>> results =
      inferResultTypes([&] { return parser.emitError(parser.getNameLoc()); }, (*arrays)[0], (*arrays)[1],
                       (*arrays)[2], properties.sums);
  if (failed(results))
    return failure();
  result.addTypes(*results);
  properties.operandSegmentSizes = {1, 1, 1, clauses.decay ? 1 : 0,
                                    static_cast<int32_t>(operands.size() - firstExtra)};
  properties.mask = MaskAttr::get(parser.getContext(), *clauses.mask);
  if (clauses.allOrders)
    properties.all_orders = builder.getUnitAttr();
  properties.first_order = clauses.first;
  properties.last_order = clauses.last;
  if (clauses.coefficients)
    properties.coefficients = builder.getF64ArrayAttr(*clauses.coefficients);
  if (clauses.exponential)
    clauses.scale.emplace_back().formula =
        inverseRootOfChannels(parser.getNameLoc(), channelOf((*arrays)[0]));

  // Region arguments: the score where there is one, then the scalars of the extras; arrays with a channel
  // have none.
  Type real = realTypeOf(parser.getContext(), types);
  auto build = [&](std::vector<Binding> &bindings, bool withScore, bool withExtras) -> ParseResult {
    Region *region = result.addRegion();
    if (bindings.empty())
      return success();
    SmallVector<Type> argumentTypes;
    SmallVector<int64_t> scalars;
    if (withScore)
      argumentTypes.push_back(real);
    for (size_t i = firstExtra; i < operands.size(); ++i) {
      bool scalar = withExtras;
      scalars.push_back(scalar ? static_cast<int64_t>(argumentTypes.size()) : -1);
      if (scalar)
        argumentTypes.push_back((*arrays)[i].getScalarType());
    }
    SmallVector<std::pair<StringRef, int64_t>> named;
    if (withScore)
      named.push_back({"s", 0});
    return buildFormulaRegion(parser, *region, bindings, argumentTypes, scalars, named, {}, real);
  };
  return failure(build(clauses.scale, false, false) || build(clauses.score, true, true) ||
                 build(clauses.weight, true, true) || build(clauses.visible, false, true));
}

void RecurrencesOp::print(OpAsmPrinter &printer) {
  printSums(printer, getSums());
  printer << " " << getQuery() << ", " << getKey() << ", " << getValue();
  auto printBound = [&](Attribute bound) {
    if (auto integer = dyn_cast<IntegerAttr>(bound))
      printer << integer.getInt();
    else
      printer << cast<StringAttr>(bound).getValue();
  };
  if (getAllOrders()) {
    printer << " orders(all)";
  } else if (getFirstOrder()) {
    printer << " orders(";
    printBound(*getFirstOrder());
    printer << " to ";
    printBound(*getLastOrder());
    printer << ")";
  }
  if (getCoefficients()) {
    printer << " coefficients(";
    llvm::interleaveComma(getCoefficients()->getAsRange<FloatAttr>(), printer,
                          [&](FloatAttr c) { printer << formatNumber(c.getValueAsDouble()); });
    printer << ")";
  }
  SmallVector<std::string> extras, withScore{"s"};
  for (Value extra : getExtras())
    extras.push_back(nameOfValue(printer, extra));
  llvm::append_range(withScore, extras);
  printFormula(printer, "weight", getWeight(), withScore);
  printFormula(printer, "scale", getScale(), {});
  printFormula(printer, "score", getScore(), withScore);
  if (getDecay())
    printer << " decay(" << getDecay() << ")";
  printer << " " << stringifyMask(getMask());
  printFormula(printer, "visible", getVisible(), extras);
  printer.printOptionalAttrDict(llvm::to_vector((*this)->getDiscardableAttrs()));
  printer << " : " << (*this)->getOperandTypes();
}

LogicalResult RecurrencesOp::verify() {
  for (Region *region : {&getScale(), &getScore(), &getWeight(), &getVisible()})
    if (failed(verifyScalars(*this, *region)))
      return failure();
  if (failed(verifySums(*this, getSums())))
    return failure();
  FailureOr<SmallVector<Type>> inferred =
      inferResultTypes([&] { return emitOpError(); }, getQuery().getType(), getKey().getType(),
                       getValue().getType(), getSums());
  if (failed(inferred))
    return failure();
  if (getResultTypes() != TypeRange(*inferred))
    return emitOpError("expected results of types ") << *inferred << ", but got " << getResultTypes();
  for (SumAttr sum : getSums().getAsRange<SumAttr>())
    if (sum.getValue() == Sum::State)
      return emitOpError("unsupported sum 'state': a state belongs to one order; use taylor.recurrence");
  if (getDecay() && !getDecay().getType().has("u"))
    return emitOpError("requires axis u of the running log-decay, but got ") << getDecay().getType();
  for (Value extra : getExtras())
    if (!channelOf(cast<ArrayType>(extra.getType())).empty())
      return emitOpError("unsupported channel axis of a value in a formula of pairs: ") << extra.getType();
  if (getDecay() && getMask() == Mask::Bidirectional)
    return emitOpError("unsupported decay of a bidirectional sum: a decay runs from past keys to a query");
  if (failed(verifyScale(*this, getScale())) ||
      failed(verifyYielded(*this, getScore(), "score", /*isCondition=*/false)) ||
      failed(verifyYielded(*this, getWeight(), "weight", /*isCondition=*/false)) ||
      failed(verifyYielded(*this, getVisible(), "visible", /*isCondition=*/true)))
    return failure();
  if (auto first = dyn_cast_or_null<IntegerAttr>(getFirstOrder().value_or(Attribute()))) {
    if (first.getInt() < 0)
      return emitOpError("expected orders >= 0, but got ") << first.getInt();
    auto last = dyn_cast<IntegerAttr>(*getLastOrder());
    if (last && last.getInt() < first.getInt())
      return emitOpError("expected orders(a to b) with a <= b, but got ")
             << first.getInt() << " to " << last.getInt();
    if (last && getCoefficients() &&
        static_cast<int64_t>(getCoefficients()->size()) != last.getInt() - first.getInt() + 1)
      return emitOpError("expected ")
             << last.getInt() - first.getInt() + 1 << " coefficients, one per order, but got "
             << getCoefficients()->size();
  }
  if (getCoefficients() && !getFirstOrder())
    return emitOpError("requires orders(a to b) for explicit coefficients");
  return success();
}

//===----------------------------------------------------------------------===//
// RecurrenceOp
//===----------------------------------------------------------------------===//

Value RecurrenceOp::getSum(Sum sum) { return sumNamed(*this, getSums(), sum); }

ParseResult RecurrenceOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  auto &properties = result.getOrAddProperties<Properties>();
  SmallVector<OpAsmParser::UnresolvedOperand> operands(3);
  SmallVector<Type> types;
  FormulaParser formulas(parser);
  std::vector<Binding> scale;
  int64_t order;
  double coefficient = 1.0;
  int32_t hasDecay = 0, hasState = 0;
  if (parseSums(parser, properties.sums) || parser.parseOperand(operands[0]) || parser.parseComma() ||
      parser.parseOperand(operands[1]) || parser.parseComma() || parser.parseOperand(operands[2]) ||
      parser.parseKeyword("order") || parser.parseLParen() || parser.parseInteger(order) ||
      parser.parseRParen())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("coefficient"))) {
    if (parser.parseLParen())
      return failure();
    bool negative = succeeded(parser.parseOptionalMinus());
    if (parser.parseFloat(coefficient) || parser.parseRParen())
      return failure();
    coefficient = negative ? -coefficient : coefficient;
  }
  if (succeeded(parser.parseOptionalKeyword("scale"))) {
    FailureOr<FormulaPtr> formula = failure();
    if (parser.parseLParen() || failed(formula = formulas.parseFormula()) || parser.parseRParen())
      return failure();
    scale.emplace_back().formula = std::move(*formula);
  }
  auto parseOperandClause = [&](StringRef word, int32_t &present) -> ParseResult {
    if (failed(parser.parseOptionalKeyword(word)))
      return success();
    present = 1;
    return failure(parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
                   parser.parseRParen());
  };
  SMLoc maskLoc;
  StringRef mask;
  if (parseOperandClause("decay", hasDecay) || parseOperandClause("state", hasState) ||
      (maskLoc = parser.getCurrentLocation(), parser.parseKeyword(&mask)))
    return failure();
  if (!symbolizeMask(mask))
    return parser.emitError(maskLoc, "expected causal or bidirectional, but got '") << mask << "'";
  properties.mask = MaskAttr::get(parser.getContext(), *symbolizeMask(mask));
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColonTypeList(types))
    return failure();
  FailureOr<SmallVector<ArrayType>> arrays = asArrays(parser, loc, types);
  if (failed(arrays) || parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  properties.operandSegmentSizes = {1, 1, 1, hasDecay, hasState};
  properties.order = builder.getI64IntegerAttr(order);
  properties.coefficient = builder.getF64FloatAttr(coefficient);
  FailureOr<SmallVector<Type>> results =
      inferSums([&] { return parser.emitError(parser.getNameLoc()); }, (*arrays)[0], (*arrays)[1],
                (*arrays)[2], properties.sums, "f");
  if (failed(results))
    return failure();
  result.addTypes(*results);
  Region *region = result.addRegion();
  if (scale.empty())
    return success();
  return buildFormulaRegion(parser, *region, scale, {}, {}, {}, {}, realTypeOf(parser.getContext(), types));
}

void RecurrenceOp::print(OpAsmPrinter &printer) {
  printSums(printer, getSums());
  printer << " " << getQuery() << ", " << getKey() << ", " << getValue() << " order(" << getOrder() << ")";
  if (getCoefficient().convertToDouble() != 1.0)
    printer << " coefficient(" << formatNumber(getCoefficient().convertToDouble()) << ")";
  printFormula(printer, "scale", getScale(), {});
  if (getDecay())
    printer << " decay(" << getDecay() << ")";
  if (getState())
    printer << " state(" << getState() << ")";
  printer << " " << stringifyMask(getMask());
  printer.printOptionalAttrDict(llvm::to_vector((*this)->getDiscardableAttrs()));
  printer << " : " << (*this)->getOperandTypes();
}

LogicalResult RecurrenceOp::verify() {
  if (failed(verifyScalars(*this, getScale())))
    return failure();
  if (failed(verifySums(*this, getSums())))
    return failure();
  FailureOr<SmallVector<Type>> inferred = inferSums([&] { return emitOpError(); }, getQuery().getType(),
                                                    getKey().getType(), getValue().getType(), getSums(), "f");
  if (failed(inferred))
    return failure();
  if (getResults().size() != inferred->size())
    return emitOpError("expected ") << inferred->size() << " results, but got " << getResults().size();
  if (int64_t order = getOrderAttr().getInt(); order < 0)
    return emitOpError("expected an order >= 0, but got ") << order;
  if (failed(verifyScale(*this, getScale())))
    return failure();
  if (getDecay() && getMask() == Mask::Bidirectional)
    return emitOpError(
        "unsupported decay of a bidirectional recurrence: a decay runs from past keys to a query");
  if (getDecay() && !getDecay().getType().has("u"))
    return emitOpError("requires axis u of the running log-decay, but got ") << getDecay().getType();
  if (getState() && getMask() == Mask::Bidirectional)
    return emitOpError("unsupported state of a bidirectional recurrence: a state belongs to a causal one");
  if (getState() && !getState().getType().has("f"))
    return emitOpError("requires axis f (features) of the state, but got ") << getState().getType();
  return success();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/RecurrenceSyntax.h"
#include "dialect/Taylor/NearestName.h"
#include "dialect/Taylor/TextParsing.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace taylor;

static LogicalResult verifyQueryKeyValue(EmitError emitError, ArrayType query, ArrayType key,
                                         ArrayType value) {
  if (!query.has(AxisRole::Query))
    return emitError() << "requires axis t of the query, but got " << query;
  if (!key.has(AxisRole::Key))
    return emitError() << "requires axis u of the key, but got " << key;
  if (!value.has(AxisRole::Key))
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
  return success();
}

FailureOr<SmallVector<Type>> taylor::inferSums(EmitError emitError, ArrayType query, ArrayType key,
                                               ArrayType value, ArrayAttr sums, AxisRef feature) {
  if (failed(verifyQueryKeyValue(emitError, query, key, value)))
    return failure();
  MLIRContext *context = query.getContext();
  StringRef scoreChannel = channelOf(query), valueChannel = channelOf(value);
  Type real = realTypeOf(context, {query, key, value});
  ArrayType rows = query.without({scoreChannel}),
            columns = key.without({scoreChannel, AxisRef(AxisRole::Key)});
  FailureOr<ArrayType> numerator =
      joinArrays(emitError, context, {rows, columns, value.without({AxisRole::Key})}, {}, real);
  if (failed(numerator))
    return failure();
  SmallVector<Type> types;
  for (SumAttr sum : sums.getAsRange<SumAttr>()) {
    if (sum.getValue() == Sum::Numerator) {
      types.push_back(*numerator);
    } else if (sum.getValue() == Sum::State) {
      FailureOr<ArrayType> state =
          joinArrays(emitError, context, {columns, value.without({AxisRole::Key})}, feature, real);
      if (failed(state))
        return failure();
      types.push_back(*state);
    } else {
      types.push_back(numerator->without({valueChannel}));
    }
  }
  return types;
}

ParseResult taylor::parseSums(OpAsmParser &parser, ArrayAttr &sums) {
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

void taylor::printSums(OpAsmPrinter &printer, ArrayAttr sums) {
  printer << " [";
  llvm::interleaveComma(sums.getAsRange<SumAttr>(), printer,
                        [&](SumAttr sum) { printer << stringifySum(sum.getValue()); });
  printer << "]";
}

Value taylor::sumNamed(Operation *op, ArrayAttr sums, Sum wanted) {
  for (auto [index, sum] : llvm::enumerate(sums.getAsRange<SumAttr>()))
    if (sum.getValue() == wanted)
      return op->getResult(index);
  return {};
}

LogicalResult taylor::verifySums(Operation *op, ArrayAttr sums) {
  llvm::SmallDenseSet<int> seen;
  for (SumAttr sum : sums.getAsRange<SumAttr>())
    if (!seen.insert(static_cast<int>(sum.getValue())).second)
      return op->emitOpError("expected each sum once, but got '")
             << stringifySum(sum.getValue()) << "' twice";
  return success();
}

LogicalResult taylor::verifyOrder(Operation *op, int64_t order) {
  constexpr int64_t most = 256;
  if (order < 0)
    return op->emitOpError("expected orders >= 0, but got ") << order;
  if (order > most)
    return op->emitOpError("unsupported order ")
           << order << ", expected at most " << most << "; for the whole series write orders(all)";
  return success();
}

LogicalResult taylor::verifyClause(Operation *op, Region &region, StringRef clause, TypeRange arguments,
                                   bool isCondition) {
  if (region.empty())
    return success();
  if (region.getArgumentTypes() != arguments)
    return op->emitOpError("expected arguments of ") << clause << "(..) of the types [" << arguments
                                                     << "], but got [" << region.getArgumentTypes() << "]";
  auto yield = dyn_cast<YieldOp>(region.front().getTerminator());
  Type type = yield && yield.getValues().size() == 1 ? yield.getValues()[0].getType() : Type();
  if (isCondition && (!type || !type.isInteger(1)))
    return op->emitOpError("expected a condition in ")
           << clause << "(..), such as t - u < 8.0, but got a number";
  if (!isCondition && !isa_and_nonnull<FloatType>(type))
    return op->emitOpError("expected a number in ")
           << clause << "(..), but got a condition; write select(condition, 1.0, 0.0)";
  // The text has no other form.
  if (!FormulaPrinter::isPrintable(region.front()))
    return op->emitOpError("unsupported operations in ")
           << clause << "(..): no formula says them; compute what is of one token by a taylor.map in front";
  return success();
}

LogicalResult taylor::verifyScale(Operation *op, Region &scale) {
  if (failed(verifyClause(op, scale, "scale", {}, /*isCondition=*/false)))
    return failure();
  for (StringRef axis : indexedAxes(scale))
    return op->emitOpError("expected a scale of sizes and parameters, but got the index '")
           << axis << "'; what varies along an axis belongs into score(..)";
  return success();
}

LogicalResult taylor::verifyDecay(Operation *op, Value decay, Mask mask) {
  if (!decay)
    return success();
  auto type = cast<ArrayType>(decay.getType());
  if (!type.has(AxisRole::Key))
    return op->emitOpError("requires axis u of the running log-decay, but got ")
           << type << "; scan a gate over u: %D = taylor.scan sum over(u) %f";
  for (StringAttr axis : type.getAxes())
    if (axis != AxisRole::Key && axis != AxisRole::Batch && axis != AxisRole::Head &&
        axis != AxisRole::KeyHead)
      return op->emitOpError("unsupported axis '")
             << axis.getValue()
             << "' of the running log-decay, which is one number per head and key, but got " << type
             << "; a decay of each channel is no sum over keys of a weight of t and u";
  if (mask == Mask::Bidirectional)
    return op->emitOpError(
        "unsupported decay of a bidirectional sum: a decay runs from past keys to a query; "
        "compile with a causal mask");
  return success();
}

ParseResult Clauses::parseOrders() {
  Builder &builder = parser.getBuilder();
  if (parser.parseLParen())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("all"))) {
    allOrders = true;
    return parser.parseRParen();
  }
  auto parseBound = [&](Attribute &bound) -> ParseResult {
    int64_t integer = 0;
    OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
    if (isInteger.has_value()) {
      bound = builder.getI64IntegerAttr(integer);
      return *isInteger;
    }
    std::string name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseOptionalKeywordOrString(&name))
      return parser.emitError(loc,
                              "expected an integer or the name of an index parameter in 'orders', but got '")
             << textAt(loc) << "'";
    bound = builder.getStringAttr(name);
    return success();
  };
  SMLoc loc = parser.getCurrentLocation();
  if (parseBound(first))
    return failure();
  if (failed(parser.parseOptionalKeyword("to"))) {
    InFlightDiagnostic diagnostic =
        parser.emitError(loc, "expected orders(all) or orders(a to b), but got '");
    if (auto name = dyn_cast<StringAttr>(first))
      return diagnostic << name.getValue() << "'";
    return diagnostic << cast<IntegerAttr>(first).getInt() << "' alone";
  }
  return failure(parseBound(last) || parser.parseRParen());
}

ParseResult Clauses::parseCoefficients() {
  if (parser.parseLParen())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (succeeded(parser.parseOptionalKeyword(&word))) {
    if (word != "factorial")
      return parser.emitError(loc, "expected factorial or numbers, but got '") << word << "'";
    return parser.parseRParen();
  }
  coefficients.emplace();
  OpAsmParser::UnresolvedOperand array;
  if (parser.parseOptionalOperand(array).has_value())
    return parser.emitError(loc, "expected factorial or numbers in 'coefficients', but got '")
           << textAt(loc) << "'; a series with coefficients from arrays is a formula: weight(1.0 + %a * s)";
  do {
    double &value = coefficients->emplace_back();
    if (parseNumber(parser, value))
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  return parser.parseRParen();
}

ParseResult Clauses::parseDecay() {
  if (parser.parseLParen())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult array = parser.parseOptionalOperand(decay.emplace());
  if (!array.has_value())
    return parser.emitError(loc,
                            "expected the %name of an array over u in 'decay'; a taylor.map or taylor.scan "
                            "in front computes one, and 'weight' takes a formula of t and u");
  return failure(*array || parser.parseRParen());
}

static ParseResult rejectClause(OpAsmParser &parser, SMLoc loc, StringRef clause) {
  static constexpr StringRef known[] = {"orders", "coefficients", "exponential", "weight",        "scale",
                                        "score",  "decay",        "causal",      "bidirectional", "visible"};
  if (clause.contains('.')) // the next operation
    return rejectMissingTypes(parser, loc);
  NearestName nearest(clause);
  for (StringRef one : known)
    nearest.consider(one);
  InFlightDiagnostic diagnostic = parser.emitError(loc, "expected a clause (")
                                  << llvm::join(ArrayRef(known), ", ") << "), but got '" << clause << "'";
  if (!nearest.get().empty())
    diagnostic << "; did you mean '" << nearest.get() << "'?";
  return failure();
}

ParseResult Clauses::parse() {
  auto parseOne = [&](std::vector<Binding> &bindings) -> ParseResult {
    return failure(parser.parseLParen() || formulas.parseBody(bindings) || parser.parseRParen());
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
      parsed = parseDecay();
    } else if (clause == "visible") {
      parsed = failure(parser.parseLParen() || formulas.parseConditions(visible) || parser.parseRParen());
    } else {
      return rejectClause(parser, loc, clause);
    }
    if (parsed)
      return failure();
  }
}

ParseResult Clauses::check() {
  if (!mask)
    return parser.emitError(parser.getNameLoc(), "requires a clause causal or bidirectional");
  if (weight.empty() + !(allOrders || first) != 1)
    return parser.emitError(parser.getNameLoc(),
                            "requires exactly one of the clauses exponential, orders(..) and weight(..)");
  if (exponential && (first || coefficients || !scale.empty()))
    return parser.emitError(parser.getNameLoc(),
                            "expected exponential alone: it stands for orders(all) coefficients(factorial) "
                            "scale(rsqrt(size(d)))");
  return success();
}

FormulaPtr taylor::inverseRootOfChannels(SMLoc loc, StringRef channel) {
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

/// Whether a scalar has a long text without names: of shared parts, each use counts.
static bool isLong(Value scalar, unsigned &left) {
  if (left == 0)
    return true;
  --left;
  Operation *op = scalar.getDefiningOp();
  return op && llvm::any_of(op->getOperands(), [&](Value operand) { return isLong(operand, left); });
}

void taylor::printFormula(OpAsmPrinter &printer, StringRef clause, Region &region,
                          ArrayRef<std::string> names) {
  if (region.empty())
    return;
  llvm::DenseMap<Value, std::string> leaves;
  for (auto [argument, name] : llvm::zip(region.getArguments(), names))
    leaves[argument] = name;
  Value scalar = region.front().getTerminator()->getOperand(0);
  FormulaPrinter formulas(leaves);
  unsigned left = 200;
  printer << " " << clause << "("
          << (isLong(scalar, left) ? formulas.body(region.front()) : formulas.formula(scalar)) << ")";
}

FailureOr<SmallVector<ArrayType>> taylor::asArrays(OpAsmParser &parser, SMLoc loc, ArrayRef<Type> types) {
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

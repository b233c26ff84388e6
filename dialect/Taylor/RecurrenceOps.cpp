// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// taylor.recurrences and taylor.recurrence.
#include "dialect/Taylor/RecurrenceSyntax.h"
#include "dialect/Taylor/TextParsing.h"

using namespace mlir;
using namespace taylor;

//===----------------------------------------------------------------------===//
// RecurrencesOp
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Type>> RecurrencesOp::inferResultTypes(EmitError emitError, ArrayType query,
                                                             ArrayType key, ArrayType value, ArrayAttr sums) {
  return inferSums(emitError, query, key, value, sums, AxisRole::Feature);
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
  size_t count = operands.size() + clauses.decay.has_value() + clauses.formulas.operands.size();
  if (parseOperandTypes(parser, count, types))
    return failure();
  if (clauses.decay)
    operands.push_back(*clauses.decay);
  size_t firstExtra = operands.size();
  llvm::append_range(operands, clauses.formulas.operands);
  if (types.size() != operands.size())
    return parser.emitError(loc, "expected ")
           << operands.size() << " operand types (query, key, value, " << (clauses.decay ? "decay, " : "")
           << "then other values in order of appearance), but got " << types.size();
  FailureOr<SmallVector<ArrayType>> arrays = asArrays(parser, loc, types);
  if (failed(arrays) || parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  if (clauses.check())
    return failure();
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
    for (size_t i = firstExtra; withExtras && i < operands.size(); ++i) {
      scalars.push_back(argumentTypes.size());
      argumentTypes.push_back((*arrays)[i].getScalarType());
    }
    SmallVector<std::pair<StringRef, int64_t>> named;
    if (withScore)
      named.push_back({"s", 0});
    return buildFormulaRegion(parser, *region, bindings, argumentTypes, scalars, named,
                              channelNamesOf(*arrays), real);
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

/// Arguments of the regions: the score where there is one, then the scalars of the extras.
static LogicalResult verifyClauses(RecurrencesOp op) {
  SmallVector<Type> withScore{realTypeOf(op.getContext(), op->getOperandTypes())};
  for (Value extra : op.getExtras())
    withScore.push_back(cast<ArrayType>(extra.getType()).getScalarType());
  return failure(failed(verifyScale(op, op.getScale())) ||
                 failed(verifyClause(op, op.getScore(), "score", withScore, /*isCondition=*/false)) ||
                 failed(verifyClause(op, op.getWeight(), "weight", withScore, /*isCondition=*/false)) ||
                 failed(verifyClause(op, op.getVisible(), "visible", ArrayRef(withScore).drop_front(),
                                     /*isCondition=*/true)));
}

std::pair<int64_t, SmallVector<double>> RecurrencesOp::getTerms(int64_t first) {
  auto coefficients = llvm::map_to_vector(getCoefficients()->getAsRange<FloatAttr>(),
                                          [](FloatAttr c) { return c.getValueAsDouble(); });
  // The verifier has seen one that is not 0.
  while (coefficients.back() == 0.0)
    coefficients.pop_back();
  auto *begin = llvm::find_if(coefficients, [](double c) { return c != 0.0; });
  first += begin - coefficients.begin();
  coefficients.erase(coefficients.begin(), begin);
  return {first, std::move(coefficients)};
}

LogicalResult RecurrencesOp::verify() {
  for (Region *region : {&getScale(), &getScore(), &getWeight(), &getVisible()})
    if (failed(verifyPairScalars(*this, *region)))
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
  if (failed(verifyDecay(*this, getDecay(), getMask())))
    return failure();
  for (Value extra : getExtras())
    if (hasChannel(cast<ArrayType>(extra.getType())))
      return emitOpError("unsupported channel axis of a value in a formula of pairs: ")
             << extra.getType() << "; sum over its channels in front, by taylor.reduce";
  if (failed(verifyClauses(*this)))
    return failure();
  if (getAllOrders() + getFirstOrder().has_value() + !getWeight().empty() != 1 ||
      getFirstOrder().has_value() != getLastOrder().has_value())
    return emitOpError("requires exactly one of orders(all), orders(a to b) and weight(..)");
  for (std::optional<Attribute> bound : {getFirstOrder(), getLastOrder()})
    if (auto order = dyn_cast_or_null<IntegerAttr>(bound.value_or(Attribute()));
        order && failed(verifyOrder(*this, order.getInt())))
      return failure();
  if (auto first = dyn_cast_or_null<IntegerAttr>(getFirstOrder().value_or(Attribute()))) {
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
  auto isZero = [](FloatAttr coefficient) { return coefficient.getValue().isZero(); };
  if (getCoefficients() && llvm::all_of(getCoefficients()->getAsRange<FloatAttr>(), isZero))
    return emitOpError("requires a coefficient other than 0; a sum whose every weight is 0 can be left out");
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
  if (succeeded(parser.parseOptionalKeyword("coefficient")) && parseNumberInParentheses(parser, coefficient))
    return failure();
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
  if (parseOperandClause("decay", hasDecay) || parseOperandClause("state", hasState))
    return failure();
  SMLoc maskLoc = parser.getCurrentLocation();
  StringRef mask;
  if (parser.parseKeyword(&mask))
    return failure();
  if (!symbolizeMask(mask))
    return parser.emitError(maskLoc, "expected causal or bidirectional, but got '") << mask << "'";
  properties.mask = MaskAttr::get(parser.getContext(), *symbolizeMask(mask));
  if (parser.parseOptionalAttrDict(result.attributes))
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  if (parseOperandTypes(parser, operands.size(), types))
    return failure();
  FailureOr<SmallVector<ArrayType>> arrays = asArrays(parser, loc, types);
  if (failed(arrays) || parser.resolveOperands(operands, types, loc, result.operands))
    return failure();
  properties.operandSegmentSizes = {1, 1, 1, hasDecay, hasState};
  properties.order = builder.getI64IntegerAttr(order);
  properties.coefficient = builder.getF64FloatAttr(coefficient);
  FailureOr<SmallVector<Type>> results =
      inferSums([&] { return parser.emitError(parser.getNameLoc()); }, (*arrays)[0], (*arrays)[1],
                (*arrays)[2], properties.sums, AxisRole::Feature);
  if (failed(results))
    return failure();
  result.addTypes(*results);
  Region *region = result.addRegion();
  if (scale.empty())
    return success();
  return buildFormulaRegion(parser, *region, scale, {}, {}, {}, channelNamesOf(*arrays),
                            realTypeOf(parser.getContext(), types));
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
  FailureOr<SmallVector<Type>> inferred =
      inferSums([&] { return emitOpError(); }, getQuery().getType(), getKey().getType(), getValue().getType(),
                getSums(), AxisRole::Feature);
  if (failed(inferred))
    return failure();
  if (getResults().size() != inferred->size())
    return emitOpError("expected ") << inferred->size() << " results, but got " << getResults().size();
  for (auto [result, type] : llvm::zip(getResults(), *inferred))
    if (cast<ArrayType>(result.getType()).getAxes() != cast<ArrayType>(type).getAxes())
      return emitOpError("expected a result of the axes of ") << type << ", but got " << result.getType();
  if (failed(verifyOrder(*this, getOrderAttr().getInt())))
    return failure();
  if (getCoefficient().isZero())
    return emitOpError("requires a coefficient other than 0; a sum whose every weight is 0 can be left out");
  if (failed(verifyScale(*this, getScale())))
    return failure();
  if (failed(verifyDecay(*this, getDecay(), getMask())))
    return failure();
  if (getState() && getMask() == Mask::Bidirectional)
    return emitOpError("unsupported state of a bidirectional recurrence: a state belongs to a causal one");
  if (getState() && !getState().getType().has(AxisRole::Feature))
    return emitOpError("requires axis f (features) of the state, but got ") << getState().getType();
  return success();
}

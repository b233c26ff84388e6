// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas from trees to regions.
#include "dialect/Taylor/Formula.h"
#include "dialect/Taylor/NearestName.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace taylor;

namespace {

using Arguments = ArrayRef<Value>;

Value constant(OpBuilder &builder, Location loc, Type type, double value) {
  return arith::ConstantOp::create(builder, loc, FloatAttr::get(type, value));
}

/// A call with real arguments and a real result.
struct RealCall {
  StringRef name;
  unsigned arity;
  Value (*build)(OpBuilder &builder, Location loc, Arguments x);
};

Value buildSilu(OpBuilder &builder, Location loc, Arguments x) {
  return arith::MulFOp::create(builder, loc, x[0], SigmoidOp::create(builder, loc, x[0]));
}

/// x times the normal distribution's function of x, not its approximation by tanh.
Value buildGelu(OpBuilder &builder, Location loc, Arguments x) {
  Type real = x[0].getType();
  Value scaled =
      arith::MulFOp::create(builder, loc, x[0], constant(builder, loc, real, llvm::numbers::inv_sqrt2));
  Value one = constant(builder, loc, real, 1.0), half = constant(builder, loc, real, 0.5);
  Value sum = arith::AddFOp::create(builder, loc, one, math::ErfOp::create(builder, loc, scaled));
  return arith::MulFOp::create(builder, loc, arith::MulFOp::create(builder, loc, half, x[0]), sum);
}

/// relu'(0) = 0, unlike a clamp's derivative on its bound: hence a select and not a maximum. A NaN is not at
/// most 0, and stays.
Value buildRelu(OpBuilder &builder, Location loc, Arguments x) {
  Value zero = constant(builder, loc, x[0].getType(), 0.0);
  Value isOff = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLE, x[0], zero);
  return arith::SelectOp::create(builder, loc, isOff, zero, x[0]);
}

/// The exponential sees at most 0, so the branch that is not taken is finite too, and so is its derivative;
/// by a select, since a clamp's derivative would be 0 where x is a NaN.
Value buildElu(OpBuilder &builder, Location loc, Arguments x) {
  Value zero = constant(builder, loc, x[0].getType(), 0.0);
  Value positive = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, zero, x[0]);
  Value bounded = arith::SelectOp::create(builder, loc, positive, zero, x[0]);
  return arith::SelectOp::create(builder, loc, positive, x[0], math::ExpM1Op::create(builder, loc, bounded));
}

template <typename Op> Value buildUnary(OpBuilder &builder, Location loc, Arguments x) {
  return Op::create(builder, loc, x[0]);
}
template <typename Op> Value buildBinary(OpBuilder &builder, Location loc, Arguments x) {
  return Op::create(builder, loc, x[0], x[1]);
}

constexpr RealCall kRealCalls[] = {
    {"exp", 1, buildUnary<math::ExpOp>},
    {"expm1", 1, buildUnary<math::ExpM1Op>},
    {"log", 1, buildUnary<math::LogOp>},
    {"log2", 1, buildUnary<math::Log2Op>},
    {"log1p", 1, buildUnary<math::Log1pOp>},
    {"sqrt", 1, buildUnary<math::SqrtOp>},
    {"rsqrt", 1, buildUnary<math::RsqrtOp>},
    {"tanh", 1, buildUnary<math::TanhOp>},
    {"abs", 1, buildUnary<math::AbsFOp>},
    {"floor", 1, buildUnary<math::FloorOp>},
    {"sin", 1, buildUnary<math::SinOp>},
    {"cos", 1, buildUnary<math::CosOp>},
    {"erf", 1, buildUnary<math::ErfOp>},
    {"sigmoid", 1, buildUnary<SigmoidOp>},
    {"softplus", 1, buildUnary<SoftplusOp>},
    {"stop", 1, buildUnary<StopGradientOp>},
    {"silu", 1, buildSilu},
    {"gelu", 1, buildGelu},
    {"relu", 1, buildRelu},
    {"elu", 1, buildElu},
    {"pow", 2, buildBinary<math::PowFOp>},
    {"min", 2, buildBinary<arith::MinimumFOp>},
    {"max", 2, buildBinary<arith::MaximumFOp>},
};

/// Calls whose arguments or results are not all real.
constexpr StringRef kOtherCalls[] = {"select", "and", "or", "not", "size", "infinity"};

class FormulaBuilder {
public:
  FormulaBuilder(OpAsmParser &parser, OpBuilder &builder, FormulaScope &scope)
      : parser(parser), builder(builder), scope(scope) {}

  Value build(const Formula &formula) {
    switch (formula.kind) {
    case Formula::Kind::Number:
      return constant(builder, location(formula), scope.realType, formula.number);
    case Formula::Kind::Operand:
      return buildOperand(formula);
    case Formula::Kind::Name:
      return buildName(formula);
    case Formula::Kind::Call:
      return buildCall(formula);
    case Formula::Kind::Negate:
      if (Value argument = buildReal(*formula.arguments[0]))
        return arith::NegFOp::create(builder, location(formula), argument);
      return {};
    case Formula::Kind::Binary:
      return buildBinaryOperator(formula);
    }
    llvm_unreachable("all kinds of formulas are covered");
  }

private:
  Location location(const Formula &formula) { return parser.getEncodedSourceLoc(formula.loc); }
  InFlightDiagnostic error(const Formula &formula, const Twine &message) {
    return parser.emitError(formula.loc, message);
  }

  Value buildReal(const Formula &formula) {
    Value value = build(formula);
    if (!value)
      return {};
    if (value.getType().isInteger(32))
      return arith::SIToFPOp::create(builder, location(formula), scope.realType, value);
    if (!isa<FloatType>(value.getType())) {
      error(formula, "expected a number, but got a condition; write select(condition, 1.0, 0.0)");
      return {};
    }
    return value;
  }

  bool checkOneType(const Formula &formula, Arguments numbers) {
    for (Value number : numbers)
      if (number.getType() != numbers[0].getType()) {
        error(formula, "expected numbers of one type in '" + Twine(formula.name) + "', but got ")
            << numbers[0].getType() << " and " << number.getType()
            << "; convert the array of the other type in a line of its own, as in %y = taylor.map %x : !of_x "
               "-> !of_y";
        return false;
      }
    return true;
  }

  Value buildCondition(const Formula &formula) {
    Value value = build(formula);
    if (value && !value.getType().isInteger(1)) {
      error(formula, "expected a condition (such as s < 1.0), but got a number");
      return {};
    }
    return value;
  }

  Value buildOperand(const Formula &formula) {
    bool readsArrays = size_t(formula.operand) < scope.operands.size();
    Value value = readsArrays ? scope.operands[formula.operand] : Value();
    if (!readsArrays)
      error(formula,
            "unsupported array in a formula of sizes and parameters; in place of a scale, multiply the "
            "score: score(%x * s)");
    else if (!value)
      error(
          formula,
          "requires an array without channel axis here; a channel may occur only in dot(..) and in outputs");
    return value;
  }

  Value buildName(const Formula &formula) {
    if (auto it = scope.names.find(formula.name); it != scope.names.end())
      return it->second;
    Location loc = location(formula);
    if (isRoleAxis(formula.name) || llvm::is_contained(scope.freeAxes, formula.name))
      return IndexOp::create(builder, loc, scope.realType, builder.getStringAttr(formula.name));
    return ParameterOp::create(builder, loc, scope.realType, builder.getStringAttr(formula.name));
  }

  bool checkArity(const Formula &formula, unsigned arity) {
    if (formula.arguments.size() == arity)
      return true;
    error(formula, "expected " + Twine(arity) + " argument" + (arity == 1 ? "" : "s") + " of '" +
                       formula.name + "', but got " + Twine(formula.arguments.size()));
    return false;
  }

  Value buildCall(const Formula &formula) {
    Location loc = location(formula);
    for (const RealCall &call : kRealCalls) {
      if (call.name != formula.name)
        continue;
      if (!checkArity(formula, call.arity))
        return {};
      SmallVector<Value> arguments;
      for (const FormulaPtr &argument : formula.arguments) {
        arguments.push_back(buildReal(*argument));
        if (!arguments.back())
          return {};
      }
      if (!checkOneType(formula, arguments))
        return {};
      return call.build(builder, loc, arguments);
    }
    if (formula.name == "select")
      return buildSelect(formula);
    if (formula.name == "and" || formula.name == "or" || formula.name == "not")
      return buildLogic(formula);
    if (formula.name == "size") {
      if (!checkArity(formula, 1))
        return {};
      if (formula.arguments[0]->kind != Formula::Kind::Name) {
        error(formula, "expected the name of an axis in size(..), but got another formula");
        return {};
      }
      StringRef axis = formula.arguments[0]->name;
      if (!isRoleAxis(axis) && !llvm::is_contained(scope.freeAxes, axis)) {
        error(formula,
              "expected b, h, g, t, u, lag, d, e, f or an axis of the operands in size(..), but got '" +
                  axis + "'");
        return {};
      }
      return SizeOp::create(builder, loc, scope.realType, builder.getStringAttr(formula.arguments[0]->name));
    }
    if (formula.name == "infinity")
      return checkArity(formula, 0)
                 ? constant(builder, loc, scope.realType, std::numeric_limits<double>::infinity())
                 : Value();
    reportUnknownCall(formula);
    return {};
  }

  Value buildSelect(const Formula &formula) {
    if (!checkArity(formula, 3))
      return {};
    Value condition = buildCondition(*formula.arguments[0]);
    Value ifTrue = condition ? buildReal(*formula.arguments[1]) : Value();
    Value ifFalse = ifTrue ? buildReal(*formula.arguments[2]) : Value();
    if (!ifFalse || !checkOneType(formula, {ifTrue, ifFalse}))
      return {};
    return arith::SelectOp::create(builder, location(formula), condition, ifTrue, ifFalse);
  }

  Value buildLogic(const Formula &formula) {
    Location loc = location(formula);
    bool isNot = formula.name == "not";
    if (!checkArity(formula, isNot ? 1 : 2))
      return {};
    Value left = buildCondition(*formula.arguments[0]);
    if (!left)
      return {};
    Value right = isNot ? arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true)).getResult()
                        : buildCondition(*formula.arguments[1]);
    if (!right)
      return {};
    if (isNot)
      return arith::XOrIOp::create(builder, loc, left, right);
    if (formula.name == "and")
      return arith::AndIOp::create(builder, loc, left, right);
    return arith::OrIOp::create(builder, loc, left, right);
  }

  void reportUnknownCall(const Formula &formula) {
    if (formula.name == "dot") {
      error(formula,
            "unsupported function 'dot' in a formula; in taylor.pairwise, an inner product has a name "
            "of its own: { s = dot(%q, %k), w = exp(s) }");
      return;
    }
    // Two edits of four letters are another word.
    NearestName nearest(formula.name, formula.name.size() <= 4 ? 2 : 3);
    for (const RealCall &call : kRealCalls)
      nearest.consider(call.name);
    for (StringRef known : kOtherCalls)
      nearest.consider(known);
    InFlightDiagnostic diagnostic = error(formula, "unsupported function '" + Twine(formula.name) + "'");
    if (!nearest.get().empty()) {
      diagnostic << "; did you mean '" << nearest.get() << "'?";
      return;
    }
    diagnostic << "; known are ";
    for (const RealCall &call : kRealCalls)
      diagnostic << call.name << ", ";
    diagnostic << llvm::join(llvm::ArrayRef(kOtherCalls), ", ");
  }

  Value buildBinaryOperator(const Formula &formula) {
    Location loc = location(formula);
    const Formula &leftFormula = *formula.arguments[0], &rightFormula = *formula.arguments[1];
    if (formula.name == "==") {
      // Integer arrays (document numbers) compare exactly.
      Value left = build(leftFormula), right = left ? build(rightFormula) : Value();
      if (!right)
        return {};
      if (left.getType() == right.getType() && isa<IntegerType>(left.getType()))
        return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, left, right);
    }
    Value left = buildReal(leftFormula), right = left ? buildReal(rightFormula) : Value();
    if (!right || !checkOneType(formula, {left, right}))
      return {};
    if (formula.name == "+")
      return arith::AddFOp::create(builder, loc, left, right);
    if (formula.name == "-")
      return arith::SubFOp::create(builder, loc, left, right);
    if (formula.name == "*")
      return arith::MulFOp::create(builder, loc, left, right);
    if (formula.name == "/")
      return arith::DivFOp::create(builder, loc, left, right);
    arith::CmpFPredicate predicate = formula.name == "<"    ? arith::CmpFPredicate::OLT
                                     : formula.name == "<=" ? arith::CmpFPredicate::OLE
                                                            : arith::CmpFPredicate::OEQ;
    return arith::CmpFOp::create(builder, loc, predicate, left, right);
  }

  OpAsmParser &parser;
  OpBuilder &builder;
  FormulaScope &scope;
};

} // namespace

Value taylor::buildFormula(OpAsmParser &parser, OpBuilder &builder, const Formula &formula,
                           FormulaScope &scope) {
  return FormulaBuilder(parser, builder, scope).build(formula);
}

ParseResult taylor::buildFormulaRegion(OpAsmParser &parser, Region &region,
                                       const std::vector<Binding> &bindings, ArrayRef<Type> argumentTypes,
                                       ArrayRef<int64_t> operandScalars,
                                       ArrayRef<std::pair<StringRef, int64_t>> named,
                                       ArrayRef<AxisRef> freeAxes, Type realType) {
  OpBuilder builder(parser.getContext());
  Location loc = parser.getEncodedSourceLoc(parser.getNameLoc());
  Block *block = builder.createBlock(&region, region.end(), argumentTypes,
                                     SmallVector<Location>(argumentTypes.size(), loc));
  FormulaScope scope;
  scope.realType = realType;
  scope.freeAxes.assign(freeAxes.begin(), freeAxes.end());
  for (int64_t argument : operandScalars)
    scope.operands.push_back(argument < 0 ? Value() : Value(block->getArgument(argument)));
  for (auto [name, argument] : named)
    scope.names[name] = block->getArgument(argument);

  Value last;
  for (const Binding &binding : bindings) {
    last = buildFormula(parser, builder, *binding.formula, scope);
    if (!last)
      return failure();
    if (!binding.name.empty())
      scope.names[binding.name] = last;
  }
  if (!last)
    return parser.emitError(parser.getNameLoc(), "expected a formula, but got an empty body");
  if (last.getType().isInteger(32))
    last = arith::SIToFPOp::create(builder, loc, realType, last);
  YieldOp::create(builder, loc, last, ArrayAttr());
  return success();
}

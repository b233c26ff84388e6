// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Parameters.h"
#include "passes/Algebra/ScalarRanges.h"
#include "passes/Debug.h"
#include "passes/Passes.h"
#include "passes/Specification/MaskConditions.h"
#include "passes/Specification/Series.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "taylor-specialize"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_SPECIALIZEPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

/// What a specification is compiled for.
struct Choices {
  int64_t headDim, valueDim;
  /// Storage type of arguments and results, and the type everything is computed in.
  Type storage, compute;
  SmallVector<ParameterSetting> parameters;
  std::optional<Mask> mask;
};

/// Whether scalars and arrays are not negative, as far as their formulas show: relu, exp, sigmoid, softplus,
/// elu + 1, squares, and sums, products and powers of such. Each is looked at once: scalars share operands.
class Signs {
public:
  /// `value` is not negative for another reason.
  void assumeNonNegative(Value value) { known[value] = true; }

  bool isNonNegative(Value value) {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    bool is = isa<ArrayType>(value.getType()) ? computeArray(value) : compute(value);
    return known[value] = is;
  }

private:
  bool compute(Value scalar);
  bool computeArray(Value array);

  DenseMap<Value, bool> known;
};

/// What a formula comes to.
Value yieldedBy(Region &formula) { return formula.front().getTerminator()->getOperand(0); }

bool Signs::computeArray(Value array) {
  if (rangeOfArray(array).low >= 0)
    return true;
  if (auto map = array.getDefiningOp<MapOp>())
    return isNonNegative(yieldedBy(map.getBody()));
  if (auto reduce = array.getDefiningOp<ReduceOp>())
    return isNonNegative(yieldedBy(reduce.getBody()));
  return false;
}

bool Signs::compute(Value scalar) {
  Operation *op = scalar.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    Operation *formula = argument.getOwner()->getParentOp();
    return isa<MapOp, ReduceOp>(formula) && isNonNegative(formula->getOperand(argument.getArgNumber()));
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto number = dyn_cast<FloatAttr>(constant.getValue());
    return number && number.getValueAsDouble() >= 0;
  }
  if (isa<math::ExpOp, math::Exp2Op, SigmoidOp, SoftplusOp, math::SqrtOp, math::RsqrtOp, math::AbsFOp,
          SizeOp>(op))
    return true;
  if (isa<math::ExpM1Op>(op))
    return false;
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    // select(0 < x, x, y) and select(x <= 0, y, x): x where it is positive.
    auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
    bool isAbove = compare && compare.getPredicate() == arith::CmpFPredicate::OLT &&
                   isNonNegative(compare.getLhs()) && compare.getRhs() == select.getTrueValue();
    bool isNotBelow = compare && compare.getPredicate() == arith::CmpFPredicate::OLE &&
                      isNonNegative(compare.getRhs()) && compare.getLhs() == select.getFalseValue();
    return (isAbove || isNonNegative(select.getTrueValue())) &&
           (isNotBelow || isNonNegative(select.getFalseValue()));
  }
  if (auto add = dyn_cast<arith::AddFOp>(op)) {
    // elu(x) + 1, elu being at least -1.
    auto atLeastMinusOne = [](Value x) {
      auto select = x.getDefiningOp<arith::SelectOp>();
      return select && select.getFalseValue().getDefiningOp<math::ExpM1Op>();
    };
    auto isOne = [](Value x) {
      auto constant = x.getDefiningOp<arith::ConstantOp>();
      auto number = constant ? dyn_cast<FloatAttr>(constant.getValue()) : FloatAttr();
      return number && number.getValueAsDouble() >= 1.0;
    };
    if ((atLeastMinusOne(add.getLhs()) && isOne(add.getRhs())) ||
        (atLeastMinusOne(add.getRhs()) && isOne(add.getLhs())))
      return true;
  }
  if (isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1))
    return true;
  if (isa<math::PowFOp>(op))
    return isNonNegative(op->getOperand(0));
  auto isPart = [&](Value operand) { return isNonNegative(operand); };
  if (isa<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::MinimumFOp>(op))
    return llvm::all_of(op->getOperands(), isPart);
  if (isa<arith::MaximumFOp>(op))
    return llvm::any_of(op->getOperands(), isPart);
  return false;
}

/// Degrees of scalars as polynomials in another, `x`. Each is looked at once.
class Polynomials {
public:
  explicit Polynomials(Value x) : x(x) {}

  /// Nothing where it is no polynomial. The largest that it can have: leading terms that cancel count.
  std::optional<int64_t> degreeOf(Value scalar) {
    if (auto it = known.find(scalar); it != known.end())
      return it->second;
    std::optional<int64_t> degree = compute(scalar);
    return known[scalar] = degree;
  }

private:
  std::optional<int64_t> compute(Value scalar);

  Value x;
  DenseMap<Value, std::optional<int64_t>> known;
};

std::optional<int64_t> Polynomials::compute(Value scalar) {
  constexpr int64_t largest = 1000; // of any use; and no product of degrees overflows
  Operation *op = scalar.getDefiningOp();
  if (!op)
    return scalar == x ? 1 : 0;
  SmallVector<int64_t> degrees;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> degree = degreeOf(operand);
    if (!degree)
      return std::nullopt;
    degrees.push_back(*degree);
  }
  std::optional<double> degree;
  if (llvm::all_of(degrees, [](int64_t part) { return part == 0; }))
    degree = 0;
  else if (isa<arith::AddFOp, arith::SubFOp, arith::NegFOp>(op))
    degree = *llvm::max_element(degrees);
  else if (isa<arith::MulFOp>(op))
    degree = degrees[0] + degrees[1];
  else if (isa<arith::DivFOp>(op) && degrees[1] == 0)
    degree = degrees[0];
  else if (FloatAttr power; isa<math::PowFOp>(op) && matchPattern(op->getOperand(1), m_Constant(&power)))
    degree = degrees[0] * power.getValueAsDouble();
  if (!degree || !(*degree >= 0 && *degree <= largest) || *degree != int64_t(*degree))
    return std::nullopt;
  return int64_t(*degree);
}

/// Whether a scalar, or a product or sum with it, is divided by or has another function taken that needs it
/// positive. Its absolute value, its square and the larger of it and another number are other things.
/// `seen` holds what has been asked about: a number may reach another by many ways.
bool isDivisor(Value scalar, llvm::SmallDenseSet<Value> &seen) {
  if (!seen.insert(scalar).second)
    return false;
  return llvm::any_of(scalar.getUsers(), [&](Operation *user) {
    if (isa<arith::DivFOp>(user))
      return user->getOperand(1) == scalar || isDivisor(user->getResult(0), seen);
    if (isa<math::RsqrtOp, math::SqrtOp, math::LogOp, math::Log2Op, math::Log1pOp, math::PowFOp>(user))
      return user->getOperand(0) == scalar;
    if (isa<arith::MulFOp>(user) && user->getOperand(0) == user->getOperand(1))
      return false;
    return isa<arith::MulFOp, arith::AddFOp, arith::SubFOp, StopGradientOp>(user) &&
           isDivisor(user->getResult(0), seen);
  });
}

/// The same of an array.
bool isDivisorArray(Value array) {
  return llvm::any_of(array.getUses(), [](OpOperand &use) {
    auto map = dyn_cast<MapOp>(use.getOwner());
    llvm::SmallDenseSet<Value> seen;
    return map && use.getOperandNumber() < map.getArrays().size() &&
           isDivisor(map.getBody().getArgument(use.getOperandNumber()), seen);
  });
}

/// Specialises one specification in place.
class Specializer {
public:
  Specializer(SpecOp spec, const Choices &choices) : spec(spec), choices(choices) {}
  LogicalResult run();

private:
  LogicalResult setOrders(RecurrencesOp op);
  LogicalResult warnOfSigns(RecurrencesOp op);
  void warnUnusedInputs();
  FailureOr<ArrayType> sized(Location loc, ArrayType type, Type elementType);
  LogicalResult setTypes();
  void setScalarTypes();

  SpecOp spec;
  const Choices &choices;
};

/// Warns of a mass that something is divided by, and that may have either sign.
LogicalResult Specializer::warnOfSigns(RecurrencesOp op) {
  Value mass = op.getSum(Sum::Mass);
  if (!mass || !isDivisorArray(mass))
    return success();
  std::optional<int64_t> last;
  if (op.getLastOrder()) {
    FailureOr<Series> series = readSeries(op);
    if (failed(series))
      return failure();
    ArrayRef<double> coefficients = series->coefficients;
    last = series->first + coefficients.size() - 1;
    bool hasPositive = llvm::any_of(coefficients, [](double coefficient) { return coefficient > 0.0; });
    if (coefficients.back() < 0.0 && hasPositive) {
      op.emitWarning() << "a series with coefficients of both signs, of which the last is negative, can be "
                          "zero or negative, "
                          "and so can its mass: dividing by it is unsafe; choose a positive last "
                          "coefficient, or a norm in "
                          "place of the mass";
      return success();
    }
  } else if (!op.getWeight().empty()) {
    last = Polynomials(op.getWeight().getArgument(0)).degreeOf(yieldedBy(op.getWeight()));
  }
  if (!last || *last % 2 == 0)
    return success();
  Signs signs;
  bool isPositive = op.getScore().empty()
                        ? signs.isNonNegative(op.getQuery()) && signs.isNonNegative(op.getKey())
                        : signs.isNonNegative(yieldedBy(op.getScore()));
  if (!op.getWeight().empty()) {
    if (isPositive)
      signs.assumeNonNegative(op.getWeight().getArgument(0));
    isPositive = signs.isNonNegative(yieldedBy(op.getWeight()));
  }
  if (isPositive)
    return success();
  StringRef what = op.getLastOrder() ? "top order" : "degree";
  op.emitWarning()
      << (op.getLastOrder() ? "a series" : "a weight") << " with the odd " << what << " " << *last
      << " can be zero or negative, and so can its mass: dividing by it is unsafe; choose an even " << what
      << ", features of queries and keys that are never negative, or a norm in place of the mass";
  return success();
}

/// Inputs that no result depends on.
void Specializer::warnUnusedInputs() {
  Block &body = spec.getBody().front();
  llvm::SmallDenseSet<Value> used;
  walkSources(body.getTerminator()->getOperands(), [&](Value value) { return used.insert(value).second; });
  for (auto [argument, name] : llvm::zip(body.getArguments(), spec.getArgNames().getAsRange<StringAttr>()))
    if (!used.contains(argument))
      emitWarning(argument.getLoc()) << "no result depends on the input '" << name.getValue()
                                     << "', and its gradient is zero; use it, or remove it";
}

LogicalResult Specializer::setOrders(RecurrencesOp op) {
  if (failed(resolveOrders(spec, op)))
    return failure();
  return warnOfSigns(op);
}

FailureOr<ArrayType> Specializer::sized(Location loc, ArrayType type, Type elementType) {
  SmallVector<int64_t> sizes(type.getSizes());
  for (auto [axis, size] : llvm::zip(type.getAxes(), sizes)) {
    int64_t wanted = axis == AxisRole::Channel        ? choices.headDim
                     : axis == AxisRole::ValueChannel ? choices.valueDim
                                                      : ArrayType::kUnknown;
    if (wanted == ArrayType::kUnknown)
      continue;
    if (size != ArrayType::kUnknown && size != wanted)
      return emitError(loc) << "expected axis '" << axis.getValue() << "' of size " << size
                            << " as written, but got "
                            << (axis == AxisRole::Channel ? "head-dim=" : "value-dim=") << wanted;
    size = wanted;
  }
  return ArrayType::get(type.getContext(), type.getAxes(), sizes, elementType);
}

LogicalResult Specializer::setTypes() {
  auto convert = [&](Value value, Type real) -> LogicalResult {
    auto array = dyn_cast<ArrayType>(value.getType());
    if (!array)
      return success();
    FailureOr<ArrayType> type =
        sized(value.getLoc(), array, array.getElementType().isF64() ? real : array.getElementType());
    if (failed(type))
      return failure();
    value.setType(*type);
    return success();
  };
  Block &body = spec.getBody().front();
  for (auto [argument, source] : llvm::zip(body.getArguments(), spec.getSources())) {
    bool learned = cast<SourceAttr>(source).getKind() == SourceKind::Parameter;
    if (failed(convert(argument, learned ? choices.compute : choices.storage)))
      return failure();
  }
  for (Operation &op : body) {
    for (Value result : op.getResults())
      if (failed(convert(result, choices.compute)))
        return failure();
    if (auto array = dyn_cast<ArrayOpInterface>(op); array && failed(array.verifySizes()))
      return failure();
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  OpBuilder builder(yield);
  for (OpOperand &operand : yield->getOpOperands())
    if (isa<FloatType>(arrayTypeOf(operand.get()).getElementType()))
      operand.set(buildConversion(builder, yield.getLoc(), operand.get(), choices.storage));
  return success();
}

/// Regions compute in f64 until now; all their scalars become the compute type.
void Specializer::setScalarTypes() {
  if (choices.compute.isF64())
    return;
  auto narrow = [&](Value value) {
    if (value.getType().isF64())
      value.setType(choices.compute);
  };
  spec.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          narrow(argument);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()); number && number.getType().isF64())
        constant.setValueAttr(FloatAttr::get(choices.compute, number.getValueAsDouble()));
    for (Value result : op->getResults())
      narrow(result);
  });
}

LogicalResult Specializer::run() {
  if (failed(setParameters(spec, choices.parameters)) ||
      (choices.mask && failed(setMask(spec, *choices.mask))))
    return failure();
  for (RecurrencesOp op : spec.getBody().getOps<RecurrencesOp>())
    if (failed(setOrders(op)))
      return failure();
  warnUnusedInputs();
  if (failed(setTypes()))
    return failure();
  if (failed(checkMasks(spec, {choices.headDim, choices.valueDim})))
    return failure();
  replaceNumbers(spec, spec.getParameters(), {choices.headDim, choices.valueDim});
  setScalarTypes();
  LDBG() << "@" << spec.getSymName() << ": d = " << choices.headDim << ", e = " << choices.valueDim
         << ", stored in " << choices.storage << ", computed in " << choices.compute;
  return success();
}

class Specialize : public ::taylor::impl::SpecializePassBase<Specialize> {
public:
  using ::taylor::impl::SpecializePassBase<Specialize>::SpecializePassBase;

private:
  void runOnOperation() override;
  FailureOr<Choices> readChoices();
};

} // namespace

FailureOr<Choices> Specialize::readChoices() {
  ModuleOp module = getOperation();
  Builder builder(module.getContext());
  Choices choices{headDim, valueDim ? valueDim : headDim, {}, builder.getF32Type(), {}, {}};
  // As taylorc: no published model has larger heads.
  auto isSize = [](int64_t size) { return size >= 1 && size <= 1024; };
  if (!isSize(choices.headDim) || !isSize(choices.valueDim))
    return module.emitError() << "expected sizes from 1 to 1024, but got head-dim=" << choices.headDim
                              << " value-dim=" << choices.valueDim;
  switch (dtype) {
  case StorageType::F32:
    choices.storage = builder.getF32Type();
    break;
  case StorageType::BF16:
    choices.storage = builder.getBF16Type();
    break;
  case StorageType::F16:
    choices.storage = builder.getF16Type();
    break;
  case StorageType::F64:
    choices.storage = choices.compute = builder.getF64Type();
    break;
  }
  if (mask != MaskChoice::Written)
    choices.mask = mask == MaskChoice::Causal ? Mask::Causal : Mask::Bidirectional;
  std::string error;
  FailureOr<SmallVector<ParameterSetting>> settings = parseParameterSettings(parameters, error);
  if (failed(settings))
    return module.emitError() << error;
  choices.parameters = std::move(*settings);
  return choices;
}

void Specialize::runOnOperation() {
  FailureOr<Choices> choices = readChoices();
  if (failed(choices))
    return signalPassFailure();
  for (SpecOp spec : getOperation().getOps<SpecOp>()) {
    if (failed(Specializer(spec, *choices).run()))
      return signalPassFailure();
    ++numSpecialized;
  }
}

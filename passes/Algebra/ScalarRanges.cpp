// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Algebra/ScalarRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace taylor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Range join(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

/// The smallest range that holds all these numbers; everything if one of them is NaN (0 times infinity).
Range hull(std::initializer_list<double> ends) {
  Range range{kInfinity, -kInfinity};
  for (double end : ends) {
    if (std::isnan(end))
      return {};
    range = join(range, {end, end});
  }
  return range;
}

/// A product with 0 is 0: the other side is a finite number, of unknown size.
double multiply(double x, double y) { return x == 0 || y == 0 ? 0 : x * y; }

Range operator+(Range a, Range b) { return hull({a.low + b.low, a.high + b.high}); }
Range operator-(Range a) { return {-a.high, -a.low}; }
Range operator*(Range a, Range b) {
  return hull(
      {multiply(a.low, b.low), multiply(a.low, b.high), multiply(a.high, b.low), multiply(a.high, b.high)});
}
Range operator/(Range a, Range b) {
  if (b.low == 0)
    return a * Range{1 / b.high, kInfinity};
  if (b.low < 0 && b.high >= 0)
    return {};
  return a * Range{1 / b.high, 1 / b.low};
}

/// A function that grows, between the ends.
Range grow(Range x, double (*f)(double)) { return {f(x.low), f(x.high)}; }

/// Whether two scalars of different regions are one formula over the same arguments. `same` holds the pairs
/// that were compared: scalars share operands.
bool isSame(Value a, Value b, llvm::SmallDenseSet<std::pair<Value, Value>> &same) {
  if (!same.insert({a, b}).second)
    return true;
  auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
  if (x || y)
    return x && y && x.getArgNumber() == y.getArgNumber();
  Operation *f = a.getDefiningOp(), *g = b.getDefiningOp();
  return f->getName() == g->getName() && f->getAttrDictionary() == g->getAttrDictionary() &&
         llvm::all_of_zip(f->getOperands(), g->getOperands(),
                          [&](Value x, Value y) { return isSame(x, y, same); });
}

bool isSame(Value a, Value b) {
  llvm::SmallDenseSet<std::pair<Value, Value>> same;
  return isSame(a, b, same);
}

/// Whether `a` is `bound`, or one of those whose maximum that is.
bool isAtMost(Value a, Value bound) {
  auto maximum = bound.getDefiningOp<arith::MaximumFOp>();
  return isSame(a, bound) || (maximum && (isAtMost(a, maximum.getLhs()) || isAtMost(a, maximum.getRhs())));
}

/// Ranges of the scalars of one region.
class Ranges {
public:
  /// `argument` gives the ranges of the region's arguments; `maximum` is its running maximum, of `below`.
  Ranges(function_ref<Range(BlockArgument)> argument, Value maximum = {}, Value below = {})
      : argument(argument), maximum(maximum), below(below) {}

  Range of(Value value) {
    if (auto given = dyn_cast<BlockArgument>(value))
      return argument(given);
    auto known = ranges.find(value);
    if (known != ranges.end())
      return known->second;
    Range range = compute(value.getDefiningOp());
    ranges[value] = range;
    return range;
  }

private:
  Range compute(Operation *op) {
    auto x = [&](unsigned i) { return of(op->getOperand(i)); };
    return TypeSwitch<Operation *, Range>(op)
        .Case([&](arith::ConstantOp constant) {
          auto number = dyn_cast<FloatAttr>(constant.getValue());
          return number ? Range{number.getValueAsDouble(), number.getValueAsDouble()} : Range();
        })
        .Case([&](arith::SubFOp sub) {
          Range difference = x(0) + -x(1);
          if (maximum && sub.getRhs() == maximum && isAtMost(sub.getLhs(), below))
            difference.high = std::min(difference.high, 0.0);
          return difference;
        })
        .Case([&](arith::AddFOp) { return x(0) + x(1); })
        .Case([&](arith::MulFOp mul) {
          Range square = x(0) * x(1);
          if (mul.getLhs() == mul.getRhs())
            square.low = std::max(square.low, 0.0);
          return square;
        })
        .Case([&](arith::DivFOp) { return x(0) / x(1); })
        .Case([&](arith::NegFOp) { return -x(0); })
        .Case<arith::MaximumFOp, arith::MaxNumFOp>(
            [&](Operation *) { return Range{std::max(x(0).low, x(1).low), std::max(x(0).high, x(1).high)}; })
        .Case<arith::MinimumFOp, arith::MinNumFOp>(
            [&](Operation *) { return Range{std::min(x(0).low, x(1).low), std::min(x(0).high, x(1).high)}; })
        .Case([&](arith::SelectOp select) {
          Range chosen = x(1), other = x(2);
          // select(c < y, y, z), as elu is, and select(y <= c, z, y), as relu is: y where it is above c.
          auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
          if (compare && compare.getPredicate() == arith::CmpFPredicate::OLT &&
              compare.getRhs() == select.getTrueValue())
            chosen.low = std::max(chosen.low, of(compare.getLhs()).low);
          // select(c < y, z, y): y where it is not.
          if (compare && compare.getPredicate() == arith::CmpFPredicate::OLT &&
              compare.getRhs() == select.getFalseValue())
            other.high = std::min(other.high, of(compare.getLhs()).high);
          // select(y < c, z, y): y where it is not below c.
          if (compare && compare.getPredicate() == arith::CmpFPredicate::OLT &&
              compare.getLhs() == select.getFalseValue())
            other.low = std::max(other.low, of(compare.getRhs()).low);
          if (compare && compare.getPredicate() == arith::CmpFPredicate::OLE &&
              compare.getLhs() == select.getFalseValue())
            other.low = std::max(other.low, of(compare.getRhs()).low);
          return join(chosen, other);
        })
        .Case<arith::ExtFOp, arith::TruncFOp, StopGradientOp>([&](Operation *) { return x(0); })
        .Case([&](math::AbsFOp) {
          Range range = x(0);
          double low =
              range.low <= 0 && range.high >= 0 ? 0 : std::min(std::fabs(range.low), std::fabs(range.high));
          return Range{low, range.largest()};
        })
        .Case([&](math::ExpOp) { return grow(x(0), std::exp); })
        .Case([&](math::ExpM1Op) { return grow(x(0), std::expm1); })
        .Case([&](SigmoidOp) { return Range{0, 1}; })
        .Case([&](SoftplusOp) {
          return grow(x(0), [](double y) { return std::max(y, 0.0) + std::log1p(std::exp(-std::fabs(y))); });
        })
        .Case([&](math::TanhOp) { return grow(x(0), std::tanh); })
        .Case([&](math::ErfOp) { return grow(x(0), std::erf); })
        .Case([&](SizeOp) { return Range{0, kInfinity}; })
        .Case<math::SinOp, math::CosOp>([&](Operation *) { return Range{-1, 1}; })
        .Case([&](math::PowFOp) {
          Range power = x(1);
          bool isEven = power.low == power.high && std::fmod(power.low, 2) == 0;
          return isEven || x(0).low >= 0 ? Range{0, kInfinity} : Range();
        })
        .Case([&](math::SqrtOp) {
          return Range{std::sqrt(std::max(x(0).low, 0.0)), std::sqrt(std::max(x(0).high, 0.0))};
        })
        .Default([](Operation *) { return Range(); });
  }

  function_ref<Range(BlockArgument)> argument;
  Value maximum, below;
  DenseMap<Value, Range> ranges;
};

/// A sum keeps the sign of its terms.
Range sumOf(Range term) { return {term.low >= 0 ? 0 : -kInfinity, term.high <= 0 ? 0 : kInfinity}; }

/// Whether a function of finite numbers in these ranges is finite, and so is its derivative.
bool staysFinite(Operation &op, function_ref<Range(unsigned)> range) {
  // Above, exp overflows f32.
  constexpr double kLargestExponent = 88;
  return TypeSwitch<Operation *, bool>(&op)
      .Case([&](arith::DivFOp) { return range(1).low > 0 || range(1).high < 0; })
      .Case<math::SqrtOp, math::RsqrtOp, math::LogOp, math::Log2Op>(
          [&](Operation *) { return range(0).low > 0; })
      .Case([&](math::Log1pOp) { return range(0).low > -1; })
      .Case<math::ExpOp, math::ExpM1Op>([&](Operation *) { return range(0).high <= kLargestExponent; })
      .Case([&](math::PowFOp) {
        Range power = range(1);
        bool isWhole = power.low == power.high && power.low >= 1 && std::floor(power.low) == power.low;
        return isWhole || range(0).low > 0;
      })
      .Case<arith::ConstantOp, arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::MaximumFOp,
            arith::MaxNumFOp, arith::MinimumFOp, arith::MinNumFOp, arith::CmpFOp, arith::CmpIOp,
            arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp, arith::ExtFOp, arith::TruncFOp,
            arith::SIToFPOp, IndexOp, SizeOp, ParameterOp, StopGradientOp, SigmoidOp, SoftplusOp,
            math::TanhOp, math::ErfOp, math::SinOp, math::CosOp, math::AbsFOp, math::FloorOp, YieldOp>(
          [](Operation *) { return true; })
      .Default([](Operation *) { return false; });
}

/// The value that @NAME.forward yields for the argument `saved:x` of @NAME.backward; null if there is none.
Value savedBy(BlockArgument argument) {
  auto function = dyn_cast<FunctionOp>(argument.getOwner()->getParentOp());
  if (!function)
    return {};
  auto role = cast<StringAttr>(function.getArgNames()[argument.getArgNumber()]);
  // A backward of another form, such as f.backward_long, has a forward of that form.
  constexpr StringLiteral kBackward = ".backward";
  StringRef name = function.getSymName();
  size_t place = name.rfind(kBackward);
  if (!role.getValue().starts_with("saved:") || place == StringRef::npos)
    return {};
  auto forward = SymbolTable::lookupNearestSymbolFrom<FunctionOp>(
      function->getParentOp(),
      StringAttr::get(function.getContext(),
                      name.take_front(place) + ".forward" + name.drop_front(place + kBackward.size())));
  auto yield = forward ? cast<YieldOp>(forward.getBody().front().getTerminator()) : YieldOp();
  if (!yield || !yield.getNames())
    return {};
  const auto *found = llvm::find(*yield.getNames(), role);
  return found == yield.getNames()->end() ? Value() : yield.getValues()[found - yield.getNames()->begin()];
}

/// Ranges of arrays, each worked out once: arrays share operands.
class ArrayRanges {
public:
  /// `isZero`: arrays that are taken to be 0, as they are at tokens that do not exist.
  explicit ArrayRanges(function_ref<bool(Value)> isZero = {}) : isZero(isZero) {}

  Range of(Value array) {
    if (isZero && isZero(array))
      return {0, 0};
    if (auto it = known.find(array); it != known.end())
      return it->second;
    Range range = compute(array);
    return known[array] = range;
  }

  /// Of what a weight region yields.
  Range ofWeight(PairwiseOp op, int64_t yielded) {
    return ofScalar(op, op.getWeight().front().getTerminator()->getOperand(yielded));
  }

  Range ofScalar(PairwiseOp op, Value scalar) {
    Block &weight = op.getWeight().front();
    auto argument = [&](BlockArgument given) -> Range {
      Value array = op.getArrayOf(given);
      return array ? of(array) : Range();
    };
    Value maximum, below;
    if (op.hasMaximum()) {
      maximum = weight.getArguments().back();
      below = op.getMaximum().front().getTerminator()->getOperand(0);
    }
    return Ranges(argument, maximum, below).of(scalar);
  }

private:
  Range compute(Value array) {
    if (auto argument = dyn_cast<BlockArgument>(array))
      if (Value saved = savedBy(argument))
        return of(saved);
    if (cast<ArrayType>(array.getType()).getElementType().isF16())
      return {-kLargestHalf, kLargestHalf};
    if (auto map = array.getDefiningOp<MapOp>())
      return ofLocal(map.getArrays(), map.getBody().front(), !map.getLive().empty());
    if (auto reduce = array.getDefiningOp<ReduceOp>(); reduce && reduce.getKind() == Reduction::Sum)
      return sumOf(ofLocal(reduce.getArrays(), reduce.getBody().front(), !reduce.getLive().empty()));
    if (auto pairwise = array.getDefiningOp<PairwiseOp>())
      return ofSum(pairwise, cast<OpResult>(array).getResultNumber());
    return {};
  }

  Range ofLocal(ValueRange arrays, Block &body, bool isGuarded) {
    auto argument = [&](BlockArgument given) { return of(arrays[given.getArgNumber()]); };
    Range range = Ranges(argument).of(body.getTerminator()->getOperand(0));
    return isGuarded ? join(range, {0, 0}) : range;
  }

  Range ofSum(PairwiseOp op, unsigned result) {
    PairSumAttr sum = op.getSum(result);
    if (sum.getKind() == PairOutput::Maximum)
      return {};
    Range term = ofWeight(op, sum.getYielded());
    Value array = op.getArrayOfSum(result);
    return sumOf(array ? term * of(array) : term);
  }

  function_ref<bool(Value)> isZero;
  DenseMap<Value, Range> known;
};

bool staysFinite(Operation *mapOrReduction, ArrayRanges &ofArrays) {
  auto map = dyn_cast<MapOp>(mapOrReduction);
  auto reduce = dyn_cast<ReduceOp>(mapOrReduction);
  OperandRange arrays = map ? map.getArrays() : reduce.getArrays();
  auto argument = [&](BlockArgument given) { return ofArrays.of(arrays[given.getArgNumber()]); };
  Ranges ranges(argument);
  return llvm::all_of(map ? map.getBody().front() : reduce.getBody().front(), [&](Operation &op) {
    return staysFinite(op, [&](unsigned i) { return ranges.of(op.getOperand(i)); });
  });
}

} // namespace

Range taylor::rangeOfArray(Value array) { return ArrayRanges().of(array); }

bool taylor::staysFinite(Operation *mapOrReduction) {
  ArrayRanges ofArrays;
  return ::staysFinite(mapOrReduction, ofArrays);
}

bool taylor::isFiniteOfZeros(Value array, function_ref<bool(Value)> isZero) {
  ArrayRanges ofArrays(isZero);
  llvm::SetVector<Value> values; // each once: values share operands
  values.insert(array);
  for (size_t i = 0; i < values.size(); ++i) {
    Value value = values[i];
    Operation *from = value.getDefiningOp();
    if (!from || isZero(value))
      continue;
    auto array = dyn_cast<ArrayOpInterface>(from);
    if (isa<MapOp, ReduceOp>(from) ? !::staysFinite(from, ofArrays) : !array || !array.isRotation())
      return false;
    values.insert(from->operand_begin(), from->operand_end());
  }
  return true;
}

Range taylor::rangeOfWeight(PairwiseOp op, int64_t yielded) { return ArrayRanges().ofWeight(op, yielded); }
Range taylor::rangeOfScalar(PairwiseOp op, Value scalar) { return ArrayRanges().ofScalar(op, scalar); }

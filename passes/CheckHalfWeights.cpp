// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of weights by intervals over scalar regions. Passes.td has the rule.
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CHECKHALFWEIGHTSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLargestHalf = 65504;

/// All values that a scalar may have. Not-a-number is none of them: rounding does not make one.
struct Range {
  double low = -kInfinity, high = kInfinity;

  double largest() const { return std::max(std::fabs(low), std::fabs(high)); }
};

Range join(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

/// The hull of what a combination of the ends gives; an indefinite one (0 times infinity) tells nothing.
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
  if (b.low <= 0 && b.high >= 0)
    return {};
  return a * Range{1 / b.high, 1 / b.low};
}

/// A function that grows, between the ends.
Range grow(Range x, double (*f)(double)) { return {f(x.low), f(x.high)}; }

/// Whether two scalars of different regions are one formula over the same arguments.
bool isSame(Value a, Value b) {
  auto x = dyn_cast<BlockArgument>(a), y = dyn_cast<BlockArgument>(b);
  if (x || y)
    return x && y && x.getArgNumber() == y.getArgNumber();
  Operation *f = a.getDefiningOp(), *g = b.getDefiningOp();
  return f->getName() == g->getName() && f->getAttrDictionary() == g->getAttrDictionary() &&
         llvm::all_of_zip(f->getOperands(), g->getOperands(), isSame);
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
          if (maximum && sub.getRhs() == maximum && isSame(sub.getLhs(), below))
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
        .Case([&](arith::SelectOp) { return join(x(1), x(2)); })
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
        .Case<math::SinOp, math::CosOp>([&](Operation *) { return Range{-1, 1}; })
        .Case([&](math::SqrtOp) {
          return Range{std::sqrt(std::max(x(0).low, 0.0)), std::sqrt(std::max(x(0).high, 0.0))};
        })
        .Default([](Operation *) { return Range(); });
  }

  function_ref<Range(BlockArgument)> argument;
  Value maximum, below;
  DenseMap<Value, Range> ranges;
};

/// What a map or the storage type says of an array's elements.
Range rangeOfArray(Value array) {
  if (cast<ArrayType>(array.getType()).getElementType().isF16())
    return {-kLargestHalf, kLargestHalf};
  auto map = array.getDefiningOp<MapOp>();
  if (!map)
    return {};
  auto argument = [&](BlockArgument given) { return rangeOfArray(map.getArrays()[given.getArgNumber()]); };
  Range range = Ranges(argument).of(map.getBody().front().getTerminator()->getOperand(0));
  return map.getLive().empty() ? range : join(range, {0, 0});
}

struct CheckHalfWeightsPass : taylor::impl::CheckHalfWeightsPassBase<CheckHalfWeightsPass> {
  void runOnOperation() override {
    if (!getOperation().getSources())
      return; // a backward: it computes the forward's weights again
    for (PairwiseOp op : getOperation().getBody().getOps<PairwiseOp>())
      if (failed(check(op)))
        return signalPassFailure();
  }

  static LogicalResult check(PairwiseOp op) {
    Block &weight = op.getWeight().front();
    auto argument = [&](BlockArgument given) -> Range {
      int64_t scalar = int64_t(given.getArgNumber()) - op.getNumProducts();
      bool isArray = scalar >= 0 && scalar < int64_t(op.getScalars().size());
      return isArray ? rangeOfArray(op.getArrays()[op.getScalars()[scalar]]) : Range();
    };
    Value maximum, below;
    if (op.hasMaximum()) {
      maximum = weight.getArguments().back();
      below = op.getMaximum().front().getTerminator()->getOperand(0);
    }
    Ranges ranges(argument, maximum, below);
    for (auto sum : op.getSums().getAsRange<PairSumAttr>()) {
      if (sum.getKind() == PairOutput::Maximum || sum.getArray() < 0)
        continue;
      Range range = ranges.of(weight.getTerminator()->getOperand(sum.getYielded()));
      if (!(range.largest() <= kLargestHalf))
        return op.emitError() << "expected weights of at most 65504, the largest number of f16, but got "
                              << describe(range)
                              << ": use bf16, or bound the score, as in score(max(min(s, 8.0), -8.0))";
    }
    return success();
  }

  static std::string describe(Range range) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%g to %g", range.low, range.high);
    return text;
  }
};

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/Emit/MaskedScores.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace taylor;

namespace {

/// What is known of a scalar: its number (0 and infinities too), that it is finite, or nothing.
struct Limit {
  std::optional<double> number;
  bool finite = false;

  static Limit of(double x) { return {x, std::isfinite(x)}; }
  static Limit unknown(bool finite) { return {std::nullopt, finite}; }
  bool is(double x) const { return number && *number == x; }
  bool isInfinite() const { return number && std::isinf(*number); }
};

/// Limits of the scalars of a region.
class Limits {
public:
  void set(Value scalar, Limit limit) { limits[scalar] = limit; }

  Limit of(Value scalar) {
    if (auto it = limits.find(scalar); it != limits.end())
      return it->second;
    Limit limit = scalar.getDefiningOp() ? compute(scalar.getDefiningOp()) : Limit();
    return limits[scalar] = limit;
  }

private:
  static Limit add(Limit a, Limit b) {
    if (a.number && b.number)
      return number(*a.number + *b.number);
    if (a.isInfinite() && b.finite)
      return a;
    if (b.isInfinite() && a.finite)
      return b;
    return Limit::unknown(a.finite && b.finite);
  }
  static Limit negate(Limit a) { return a.number ? Limit::of(-*a.number) : a; }
  static Limit multiply(Limit a, Limit b) {
    if (a.number && b.number)
      return number(*a.number * *b.number);
    if ((a.is(0) && b.finite) || (b.is(0) && a.finite))
      return Limit::of(0);
    return Limit::unknown(a.finite && b.finite);
  }
  static Limit divide(Limit a, Limit b) {
    return b.number && *b.number != 0 ? multiply(a, Limit::of(1 / *b.number)) : Limit();
  }
  /// The larger one; with `sign` -1 the smaller one.
  static Limit larger(Limit a, Limit b, double sign) {
    if (a.number && b.number)
      return Limit::of(sign * std::max(sign * *a.number, sign * *b.number));
    for (auto [x, other] : {std::pair(a, b), std::pair(b, a)})
      if (x.isInfinite())
        return sign * *x.number > 0 ? (other.finite ? x : Limit()) : other;
    return Limit::unknown(a.finite && b.finite);
  }
  static Limit select(Limit a, Limit b) {
    if (a.number && b.number && *a.number == *b.number)
      return a;
    return Limit::unknown(a.finite && b.finite);
  }
  /// A function that is known at the limits, and finite where `bounded` if its operand is.
  static Limit apply(Limit a, bool bounded, llvm::function_ref<double(double)> function) {
    return a.number ? number(function(*a.number)) : Limit::unknown(bounded && a.finite);
  }
  static Limit number(double x) { return std::isnan(x) ? Limit() : Limit::of(x); }

  Limit compute(Operation *op) {
    SmallVector<Limit> x = llvm::map_to_vector(op->getOperands(), [&](Value v) { return of(v); });
    return TypeSwitch<Operation *, Limit>(op)
        .Case([&](arith::ConstantOp constant) {
          auto real = dyn_cast<FloatAttr>(constant.getValue());
          return real ? number(real.getValueAsDouble()) : Limit();
        })
        .Case<IndexOp, SizeOp>([&](auto) { return Limit::unknown(/*finite=*/true); })
        .Case([&](StopGradientOp) { return x[0]; })
        .Case([&](arith::AddFOp) { return add(x[0], x[1]); })
        .Case([&](arith::SubFOp) { return add(x[0], negate(x[1])); })
        .Case([&](arith::NegFOp) { return negate(x[0]); })
        .Case([&](arith::MulFOp) { return multiply(x[0], x[1]); })
        .Case([&](arith::DivFOp) { return divide(x[0], x[1]); })
        .Case([&](arith::MaximumFOp) { return larger(x[0], x[1], 1); })
        .Case([&](arith::MinimumFOp) { return larger(x[0], x[1], -1); })
        .Case([&](arith::SelectOp) { return select(x[1], x[2]); })
        .Case([&](math::ExpOp) { return apply(x[0], false, [](double y) { return std::exp(y); }); })
        .Case([&](math::Exp2Op) { return apply(x[0], false, [](double y) { return std::exp2(y); }); })
        .Case([&](math::TanhOp) { return apply(x[0], true, [](double y) { return std::tanh(y); }); })
        .Case([&](math::AbsFOp) { return apply(x[0], true, [](double y) { return std::abs(y); }); })
        .Case([&](SigmoidOp) { return apply(x[0], true, [](double y) { return 1 / (1 + std::exp(-y)); }); })
        .Case([&](SoftplusOp) {
          return apply(x[0], true,
                       [](double y) { return std::max(y, 0.0) + std::log1p(std::exp(-std::abs(y))); });
        })
        .Default([](Operation *) { return Limit(); });
  }

  DenseMap<Value, Limit> limits;
};

} // namespace

/// The scalars that a region yields, product `masked` being `value`.
static SmallVector<Limit> limitsOf(PairwiseOp op, Region &region, const MaskedProduct &masked,
                                   function_ref<bool(Value)> isFinite) {
  Limits limits;
  int64_t count = op.getNumProducts();
  for (BlockArgument argument : region.getArguments()) {
    int64_t number = argument.getArgNumber();
    Limit limit = Limit::unknown(/*finite=*/true); // the running maximum
    if (number == masked.product) {
      limit = Limit::of(masked.value);
    } else if (number < count) {
      auto [row, column] = op.getProduct(number);
      limit.finite = isFinite(row) && isFinite(column);
    } else if (Value array = op.getArrayOf(argument)) {
      // An array with lag holds what its formula gives for pairs that no one sees, too.
      limit.finite = !cast<ArrayType>(array.getType()).has(AxisRole::Lag) && isFinite(array);
    }
    limits.set(argument, limit);
  }
  return llvm::map_to_vector(region.front().getTerminator()->getOperands(),
                             [&](Value v) { return limits.of(v); });
}

std::optional<MaskedProduct> taylor::findMaskedProduct(PairwiseOp op, ArrayRef<int64_t> summed,
                                                       function_ref<bool(Value)> isFinite) {
  double infinity = std::numeric_limits<double>::infinity();
  for (int64_t product = 0; product < op.getNumProducts(); ++product)
    for (double value : {-infinity, infinity, 0.0}) {
      MaskedProduct masked{product, value};
      SmallVector<Limit> weights = limitsOf(op, op.getWeight(), masked, isFinite);
      bool suits = llvm::all_of(summed, [&](int64_t i) { return weights[i].is(0); });
      if (suits && op.hasMaximum())
        suits = limitsOf(op, op.getMaximum(), masked, isFinite).front().is(-infinity);
      if (suits)
        return masked;
    }
  return std::nullopt;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scale of a score goes into the coefficients of its polynomials. Passes.td has the rule.
#include "dialect/Taylor/TaylorDialect.h"
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#define DEBUG_TYPE "taylor-fold-score-scale"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_FOLDSCORESCALEPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {

std::optional<double> numberOf(Value value) {
  FloatAttr number;
  return matchPattern(value, m_Constant(&number)) ? std::optional(number.getValueAsDouble()) : std::nullopt;
}

/// The least power of a scale, or the inverse of the most, that a product of scores may lack (else it is
/// written in another base than the score).
constexpr double kLeastPower = 0x1p-16;

/// Numbers that f32 has with all of its digits; a product with 0 is not one that polynomials have.
bool isOrdinary(double number) { return std::fabs(number) > 1e-30 && std::fabs(number) < 1e30; }

/// The scalars of a weight region that are polynomials in one scaled score x = s * c, and others' products
/// and sums with these, written anew in s.
class Rewriting {
public:
  Rewriting(arith::MulFOp scaled, Value score, double scale, Operation *yield)
      : scaled(scaled), score(score), scale(scale), builder(yield), loc(scaled.getLoc()) {}

  /// Whether there are fewer operations now; else nothing has changed.
  bool run() {
    collect(scaled.getResult());
    SmallVector<std::pair<OpOperand *, Value>> replaced;
    for (Value value : polynomials)
      for (OpOperand &use : value.getUses())
        if (!isRule(use.getOwner()))
          replaced.push_back({&use, times(value, 1)});
    SmallVector<Value> dead = llvm::to_vector(polynomials);
    // With its readers elsewhere, all of the old operations are dead, the scale's too.
    bool isBetter = !failed && created.size() < polynomials.size();
    LDBG() << loc << ": the scale " << scale
           << (isBetter ? " goes into numbers"
               : failed ? " stays, f32 may not hold the numbers"
                        : " stays, nothing is saved")
           << ", " << polynomials.size() << " operations read it";
    if (!isBetter) {
      for (Operation *op : llvm::reverse(constants))
        created.push_back(op);
      for (Operation *op : created)
        op->dropAllReferences();
      for (Operation *op : created)
        op->erase();
      return false;
    }
    for (auto [use, value] : replaced)
      use->set(value);
    // What was written stands at the end until here.
    sortTopologically(builder.getBlock());
    for (bool isChanging = true; isChanging;) { // each round but the last erases something
      isChanging = false;
      for (Value &value : dead)
        if (value && value.use_empty()) {
          value.getDefiningOp()->erase();
          value = {};
          isChanging = true;
        }
    }
    return true;
  }

private:
  static bool isRule(Operation *op) {
    return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op);
  }

  /// What is computed from a value by sums and products.
  void collect(Value value) {
    if (!polynomials.insert(value))
      return;
    for (Operation *user : value.getUsers())
      if (isRule(user))
        collect(user->getResult(0));
  }

  bool isPolynomial(Value value) { return polynomials.contains(value); }

  Value constant(Value like, double number) {
    failed |= !isOrdinary(number);
    auto made = arith::ConstantOp::create(builder, loc, builder.getFloatAttr(like.getType(), number));
    constants.push_back(made);
    return made;
  }

  template <typename Op, typename... Operands> Value make(Operands... operands) {
    auto made = Op::create(builder, loc, operands...);
    created.push_back(made);
    return made;
  }

  Value multiply(Value value, double factor) {
    return factor == 1 ? value : make<arith::MulFOp>(value, constant(value, factor));
  }

  /// A value is `number` times `rest`, a scalar without it; null: the number alone. `scales` is the power of
  /// the scale that the rest lacks.
  struct Split {
    double number = 1;
    Value rest;
    double scales = 1;
  };

  Split split(Value value) {
    if (std::optional<double> number = numberOf(value))
      return {*number, Value()};
    if (value == scaled.getResult())
      return {scale, score, scale};
    if (!isPolynomial(value))
      return {1, value};
    Operation *op = value.getDefiningOp();
    if (isFarPower(value))
      return {1, times(value, 1)};
    if (isa<arith::MulFOp>(op)) {
      Split x = split(op->getOperand(0)), y = split(op->getOperand(1));
      double number = x.number * y.number, scales = x.scales * y.scales;
      // A power of the score may leave f32 where that of the scaled one does not.
      failed |= !isOrdinary(number) || std::fabs(scales) < kLeastPower || std::fabs(scales) > 1 / kLeastPower;
      if (!x.rest || !y.rest)
        return {number, x.rest ? x.rest : y.rest, scales};
      Value &product = products[{value, score}];
      if (!product)
        product = make<arith::MulFOp>(x.rest, y.rest);
      return {number, product, scales};
    }
    if (isa<arith::NegFOp>(op)) {
      Split x = split(op->getOperand(0));
      return {-x.number, x.rest, x.scales};
    }
    return {1, times(value, 1)};
  }

  /// A value that is `number` times the scaled score to the power of `degree`.
  struct Power {
    double number = 1, degree = 0;
  };

  std::optional<Power> powerOf(Value value) {
    if (std::optional<double> number = numberOf(value))
      return Power{*number, 0};
    if (value == scaled.getResult())
      return Power{1, 1};
    auto known = powers.find(value);
    if (known != powers.end())
      return known->second;
    Operation *op = isPolynomial(value) ? value.getDefiningOp() : nullptr;
    std::optional<Power> power;
    if (isa_and_nonnull<arith::NegFOp>(op)) {
      power = powerOf(op->getOperand(0));
      if (power)
        power->number = -power->number;
    } else if (isa_and_nonnull<arith::MulFOp>(op)) {
      std::optional<Power> x = powerOf(op->getOperand(0)), y = powerOf(op->getOperand(1));
      if (x && y)
        power = Power{x->number * y->number, x->degree + y->degree};
    }
    return powers[value] = power;
  }

  /// Whether that power of the score itself may leave f32 where the value does not.
  bool isFarPower(Value value) {
    std::optional<Power> power = powerOf(value);
    double scales = power ? std::pow(std::fabs(scale), power->degree) : 1;
    return scales < kLeastPower || scales > 1 / kLeastPower;
  }

  /// factor * value of such a power, K x^n, as y^n with y = s (K c^n)^(1/n): every power of y lies between 1
  /// and the value, so none leaves f32 where the value does not.
  Value takeRoot(Value value, double factor) {
    Power power = *powerOf(value);
    double number = power.number * factor;
    if (number < 0 && std::fmod(power.degree, 2) == 0)
      return make<arith::NegFOp>(takeRoot(value, -factor));
    double root =
        std::copysign(scale * std::pow(std::fabs(number), 1 / power.degree), number < 0 ? -scale : scale);
    return multiplyOut(value, multiply(score, root));
  }

  /// The products of the value, without its numbers, of another score.
  Value multiplyOut(Value value, Value base) {
    if (value == scaled.getResult())
      return base;
    Value &product = products[{value, base}];
    if (product)
      return product;
    Operation *op = value.getDefiningOp();
    Value result;
    for (Value operand : op->getOperands())
      if (!numberOf(operand)) {
        Value part = multiplyOut(operand, base);
        result = result ? make<arith::MulFOp>(result, part) : part;
      }
    return products[{value, base}] = result;
  }

  /// Whether a factor of the value costs nothing: it goes into numbers that are added in it.
  bool absorbs(Value value) {
    auto [known, isNew] = absorbing.try_emplace(value, false);
    if (!isNew)
      return known->second;
    Operation *op = isPolynomial(value) ? value.getDefiningOp() : nullptr;
    bool result = false;
    if (isa_and_nonnull<arith::AddFOp, arith::SubFOp>(op))
      result = takesFactor(op->getOperand(0)) && takesFactor(op->getOperand(1));
    else if (isa_and_nonnull<arith::NegFOp>(op))
      result = absorbs(op->getOperand(0));
    return absorbing[value] = result;
  }

  /// The same of a number, and of a product with one or with what absorbs.
  bool takesFactor(Value value) {
    if (numberOf(value) || value == scaled.getResult() || absorbs(value))
      return true;
    auto [known, isNew] = taking.try_emplace(value, false);
    if (!isNew)
      return known->second;
    auto product = value.getDefiningOp<arith::MulFOp>();
    bool result =
        product && isPolynomial(value) && (takesFactor(product.getLhs()) || takesFactor(product.getRhs()));
    return taking[value] = result;
  }

  /// factor * value.
  Value times(Value value, double factor) {
    failed |= created.size() >= polynomials.size();
    if (failed)
      return value;
    auto [known, isNew] = made.try_emplace({value, llvm::bit_cast<uint64_t>(factor)});
    if (isNew) {
      Value result = compute(value, factor);
      made[{value, llvm::bit_cast<uint64_t>(factor)}] = result;
      return result;
    }
    return known->second;
  }

  Value compute(Value value, double factor) {
    if (std::optional<double> number = numberOf(value))
      return constant(value, *number * factor);
    if (!isPolynomial(value) || value == scaled.getResult()) {
      Split whole = split(value);
      return multiply(whole.rest, whole.number * factor);
    }
    if (isFarPower(value))
      return takeRoot(value, factor);
    Operation *op = value.getDefiningOp();
    auto of = [&](unsigned i) { return op->getOperand(i); };
    if (isa<arith::AddFOp>(op)) {
      Value left = times(of(0), factor), right = times(of(1), factor);
      return make<arith::AddFOp>(left, right);
    }
    if (isa<arith::SubFOp>(op)) {
      Value left = times(of(0), factor), right = times(of(1), factor);
      return make<arith::SubFOp>(left, right);
    }
    if (isa<arith::NegFOp>(op))
      return times(of(0), -factor);
    for (unsigned side : {0, 1})
      if (absorbs(of(side))) {
        Split other = split(of(1 - side));
        Value sum = times(of(side), factor * other.number);
        return other.rest ? make<arith::MulFOp>(sum, other.rest) : sum;
      }
    Split whole = split(value);
    return multiply(whole.rest, whole.number * factor);
  }

  arith::MulFOp scaled;
  Value score;
  double scale;
  OpBuilder builder;
  Location loc;
  llvm::SetVector<Value> polynomials;
  DenseMap<std::pair<Value, uint64_t>, Value> made;
  DenseMap<std::pair<Value, Value>, Value> products; ///< of a value, written in a score or another base
  DenseMap<Value, std::optional<Power>> powers;
  DenseMap<Value, bool> absorbing, taking;
  SmallVector<Operation *> created, constants;
  bool failed = false;
};

class FoldScoreScalePass : public taylor::impl::FoldScoreScalePassBase<FoldScoreScalePass> {
public:
  void runOnOperation() override {
    getOperation()->walk([&](PairwiseOp pairs) {
      // This ends: each folding leaves fewer operations in the weights.
      while (foldOne(pairs))
        ++numFolded;
    });
  }

private:
  /// Whether a scaled score of the weights was folded, and is gone.
  static bool foldOne(PairwiseOp pairs) {
    Block &weight = pairs.getWeight().front();
    for (auto scaled : weight.getOps<arith::MulFOp>())
      for (unsigned side : {0, 1}) {
        auto score = dyn_cast<BlockArgument>(scaled->getOperand(side));
        std::optional<double> scale = numberOf(scaled->getOperand(1 - side));
        if (score && score.getOwner() == &weight && score.getArgNumber() < pairs.getNumProducts() && scale &&
            isOrdinary(*scale) && Rewriting(scaled, score, *scale, weight.getTerminator()).run())
          return true;
      }
    return false;
  }
};

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Algebra/Degrees.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Debug.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

#define DEBUG_TYPE "taylor-degrees"

using namespace mlir;
using namespace taylor;

//===----------------------------------------------------------------------===//
// Exponents: the same exponential in several operations
//===----------------------------------------------------------------------===//

/// The arrays an argument of a region stands for: a product's two, or a scalar's one. Empty for the maximum.
static SmallVector<Value, 2> arraysOf(PairwiseOp op, BlockArgument argument) {
  if (Value array = op.getArrayOf(argument))
    return {array};
  int64_t number = argument.getArgNumber();
  if (number < op.getNumProducts(*argument.getOwner()->getParent()))
    return {op.getProduct(number).first, op.getProduct(number).second};
  return {};
}

/// `same` holds the pairs that were compared: scalars share operands.
static bool computesTheSame(PairwiseOp a, Value x, PairwiseOp b, Value y,
                            llvm::SmallDenseSet<std::pair<Value, Value>> &same) {
  if (!same.insert({x, y}).second)
    return true;
  auto xArgument = dyn_cast<BlockArgument>(x), yArgument = dyn_cast<BlockArgument>(y);
  if (xArgument || yArgument) {
    if (!xArgument || !yArgument)
      return false;
    SmallVector<Value, 2> arrays = arraysOf(a, xArgument);
    return !arrays.empty() && arrays == arraysOf(b, yArgument);
  }
  Operation *p = x.getDefiningOp(), *q = y.getDefiningOp();
  return p->getName() == q->getName() && p->getAttrDictionary() == q->getAttrDictionary() &&
         p->getNumOperands() == q->getNumOperands() &&
         llvm::all_of_zip(p->getOperands(), q->getOperands(), [&](Value operand, Value other) {
           return computesTheSame(a, operand, b, other, same);
         });
}

/// Whether rows of both see the same keys: a maximum over other keys may lie far above those of a sum.
static bool seeTheSame(PairwiseOp a, PairwiseOp b) {
  if (a.getChunk() != b.getChunk() || a.getVisible().empty() != b.getVisible().empty())
    return false;
  if (a.getVisible().empty())
    return true;
  llvm::SmallDenseSet<std::pair<Value, Value>> same;
  return computesTheSame(a, a.getVisible().front().getTerminator()->getOperand(0), b,
                         b.getVisible().front().getTerminator()->getOperand(0), same);
}

/// Whether a scalar of a region differs from key to key of a row.
static bool variesWithKey(PairwiseOp op, Value scalar) {
  return llvm::any_of(collectScalars(scalar), [&](Value part) {
    if (auto argument = dyn_cast<BlockArgument>(part))
      return llvm::any_of(arraysOf(op, argument), [](Value array) {
        StringRef token = tokenAxis(arrayTypeOf(array));
        return token == AxisRole::Key || token == AxisRole::Lag;
      });
    auto index = part.getDefiningOp<IndexOp>();
    return index && index.getAxis() == AxisRole::Key;
  });
}

SmallVector<Exponent> taylor::findExponents(Block &block) {
  SmallVector<Exponent> exponents;
  for (PairwiseOp op : block.getOps<PairwiseOp>()) {
    for (auto exp : op.getWeight().getOps<math::ExpOp>()) {
      if (!variesWithKey(op, exp.getOperand()))
        continue;
      auto known = llvm::find_if(exponents, [&](Exponent &exponent) {
        auto [first, site] = exponent.sites.front();
        llvm::SmallDenseSet<std::pair<Value, Value>> same;
        return seeTheSame(first, op) && computesTheSame(first, site.getOperand(), op, exp.getOperand(), same);
      });
      if (known == exponents.end()) {
        unsigned number = exponents.size();
        exponents.push_back({op, {}, number});
        known = exponents.end() - 1;
      }
      known->sites.push_back({op, exp});
    }
  }
  return exponents;
}

//===----------------------------------------------------------------------===//
// Several exponentials in one operation
//===----------------------------------------------------------------------===//

/// Collects the exponentials that a weight adds up, each times a number of a usual size; false where it has
/// others.
static bool collectSummands(Value scalar, llvm::SmallDenseSet<Value> &summands) {
  auto isUsual = [](Value factor) {
    constexpr double largest = 1 << 20;
    FloatAttr number;
    double size = matchPattern(factor, m_Constant(&number)) ? std::abs(number.getValueAsDouble()) : 0.0;
    return size >= 1.0 / largest && size <= largest;
  };
  Operation *op = scalar.getDefiningOp();
  if (isa_and_nonnull<math::ExpOp>(op)) {
    summands.insert(scalar);
    return true;
  }
  if (isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MaximumFOp, arith::NegFOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value part) { return collectSummands(part, summands); });
  if (isa_and_nonnull<arith::MulFOp>(op))
    for (unsigned i : {0, 1})
      if (isUsual(op->getOperand(i)))
        return collectSummands(op->getOperand(1 - i), summands);
  if (isa_and_nonnull<arith::DivFOp>(op) && isUsual(op->getOperand(1)))
    return collectSummands(op->getOperand(0), summands);
  return llvm::none_of(collectScalars(scalar), [](Value part) { return part.getDefiningOp<math::ExpOp>(); });
}

/// Whether the largest of an operation's exponents is subtracted from all without loss: each of its sums
/// adds up all of its exponentials.
static bool addsAll(PairwiseOp op, const llvm::SmallDenseSet<Value> &exponentials) {
  Operation *yield = op.getWeight().front().getTerminator();
  return llvm::all_of(op.getSums().getAsRange<PairSumAttr>(), [&](PairSumAttr sum) {
    llvm::SmallDenseSet<Value> summands;
    return sum.getKind() != PairOutput::Maximum &&
           collectSummands(yield->getOperand(sum.getYielded()), summands) &&
           llvm::all_of(exponentials, [&](Value exp) { return summands.contains(exp); });
  });
}

//===----------------------------------------------------------------------===//
// Degrees
//===----------------------------------------------------------------------===//

namespace {
/// Scalars of a weight that read inner products only through max(x, C) or min(x, C), also written with select
/// (whose conditions may read them freely): each such part is constant on one side of its C.
class HeldScalars {
public:
  explicit HeldScalars(PairwiseOp op) : op(op) {}

  bool contain(Value scalar) {
    if (auto it = known.find(scalar); it != known.end())
      return it->second;
    bool isHeld = compute(scalar);
    return known[scalar] = isHeld;
  }

private:
  bool compute(Value scalar) {
    if (auto argument = dyn_cast<BlockArgument>(scalar))
      return int64_t(argument.getArgNumber()) >= op.getNumProducts();
    Operation *from = scalar.getDefiningOp();
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(from) && llvm::any_of(from->getOperands(), isNumber))
      return true;
    auto choice = dyn_cast<arith::SelectOp>(from);
    if (choice && isExtremum(choice))
      return true;
    ValueRange read = from->getOperands();
    return llvm::all_of(choice ? read.drop_front() : read, [&](Value operand) { return contain(operand); });
  }

  static bool isNumber(Value scalar) { return numberOf(scalar).has_value(); }

  /// select(x < C, C, x), or the like.
  bool isExtremum(arith::SelectOp choice) const {
    auto compare = choice.getCondition().getDefiningOp<arith::CmpFOp>();
    return compare && llvm::any_of(compare->getOperands(), isNumber) &&
           llvm::all_of(compare->getOperands(), [&](Value side) {
             return llvm::any_of(ValueRange{choice.getTrueValue(), choice.getFalseValue()},
                                 [&](Value chosen) {
                                   llvm::SmallDenseSet<std::pair<Value, Value>> same;
                                   return computesTheSame(op, side, op, chosen, same);
                                 });
           });
  }

  PairwiseOp op;
  DenseMap<Value, bool> known;
};
} // namespace

void DegreeAnalysis::giveUpConflicts() {
  llvm::SmallDenseSet<Operation *> providers;
  llvm::MapVector<Operation *, llvm::SmallDenseSet<Value>> exponentials;
  for (auto [k, exponent] : llvm::enumerate(exponents)) {
    providers.insert(exponent.provider);
    for (auto [op, exp] : exponent.sites)
      exponentials[op].insert(exp.getResult());
  }
  auto exponentOfResult = [&](Value exp) -> Exponent & {
    return exponents[exponentOf.lookup(exp.getDefiningOp())];
  };
  auto conflict = [&](PairwiseOp op, const llvm::SmallDenseSet<Value> &some) {
    llvm::SmallDenseSet<unsigned> numbers, ofProviders;
    for (Value exp : some) {
      numbers.insert(exponentOf.lookup(exp.getDefiningOp()));
      ofProviders.insert(exponentOfResult(exp).leader);
    }
    return numbers.size() > 1 && providers.contains(op) && (ofProviders.size() > 1 || !addsAll(op, some));
  };
  for (auto &[pairs, some] : exponentials) {
    auto op = cast<PairwiseOp>(pairs);
    if (!conflict(op, some))
      continue;
    // What is held at a number needs a maximum less than what is not.
    HeldScalars held(op);
    llvm::SmallDenseSet<Value> free;
    for (Value exp : some)
      if (!readsProduct(op, exp) || !held.contain(exp.getDefiningOp()->getOperand(0)))
        free.insert(exp);
    bool areHeldApart = !free.empty() && free.size() < some.size() && !conflict(op, free);
    for (Value exp : some) {
      if (!areHeldApart)
        giveUp(exponentOfResult(exp).leader);
      else if (!free.contains(exp)) {
        LDBG() << exp.getLoc() << ": given up, others of its operation are not held at a number";
        exponentOfResult(exp).enabled = false;
      }
    }
  }
}

DegreeAnalysis::DegreeAnalysis(Block &block) : exponents(findExponents(block)), block(block) {
  DenseMap<Operation *, unsigned> leaders; // an operation has one running maximum
  for (auto [k, exponent] : llvm::enumerate(exponents)) {
    exponent.leader = leaders.try_emplace(exponent.provider, k).first->second;
    exponent.enabled = !exponent.provider.hasMaximum();
    for (auto [op, exp] : exponent.sites)
      exponentOf[exp] = k;
  }
  giveUpConflicts();
  // This ends: a round that fails gives up an exponent or joins two of them, and no round undoes that.
  while (!run())
    ;
}

unsigned DegreeAnalysis::leaderOf(unsigned exponent) const {
  while (exponents[exponent].leader != exponent)
    exponent = exponents[exponent].leader;
  return exponent;
}

Degree DegreeAnalysis::lookup(Value value) const {
  auto it = degrees.find(value);
  return it == degrees.end() ? zero() : it->second;
}

Degree DegreeAnalysis::add(const Degree &a, const Degree &b, double sign) const {
  if (a.any || b.any)
    return {true, {}};
  Degree sum = a;
  for (auto [x, y] : llvm::zip_equal(sum.p, b.p))
    x += sign * y;
  return sum;
}

void DegreeAnalysis::giveUp(unsigned leader) {
  LDBG() << exponents[leader].sites.front().second.getLoc() << ": given up, its maximum does not cancel";
  for (auto [k, exponent] : llvm::enumerate(exponents))
    if (leaderOf(k) == leader)
      exponent.enabled = false;
}

bool DegreeAnalysis::shareMaximum(const Degree &difference) {
  std::optional<unsigned> above, below;
  for (auto [k, p] : llvm::enumerate(difference.p)) {
    if (p > 0.0)
      above = k;
    if (p < 0.0)
      below = k;
  }
  if (!above || !below)
    return false;
  exponents[*above].leader = *below;
  return true;
}

bool DegreeAnalysis::requireZero(const Degree &degree) {
  if (degree.isZero())
    return true;
  if (shareMaximum(degree)) // a quotient of sums over other keys
    return false;
  for (auto [k, p] : llvm::enumerate(degree.p))
    if (p != 0.0)
      giveUp(k);
  return false;
}

bool DegreeAnalysis::bringToZero(OpOperand &operand) {
  Degree degree = lookup(operand.get());
  if (degree.isZero())
    return true;
  if (llvm::any_of(degree.p, [](double p) { return p > 0.0; }))
    return requireZero(degree);
  for (auto [k, p] : llvm::enumerate(degree.p))
    exponents[k].floored |= p != 0.0;
  factors.push_back({&operand, degree, /*ofDeadRows=*/true});
  return true;
}

std::optional<Degree> DegreeAnalysis::join(ArrayRef<OpOperand *> operands) {
  Degree largest{true, {}};
  for (OpOperand *operand : operands) {
    Degree degree = lookup(operand->get());
    if (degree.any)
      continue;
    if (largest.any) {
      largest = degree;
      continue;
    }
    Degree difference = add(degree, largest, -1.0);
    if (shareMaximum(difference)) // neither bounds the other
      return std::nullopt;
    if (llvm::any_of(difference.p, [](double p) { return p > 0.0; }))
      largest = degree;
  }
  for (OpOperand *operand : operands) {
    Degree degree = lookup(operand->get());
    if (degree.any || degree.p == largest.p)
      continue;
    Degree by = add(degree, largest, -1.0);
    for (auto [k, p] : llvm::enumerate(by.p))
      exponents[k].floored |= p != 0.0;
    factors.push_back({operand, by});
  }
  return largest;
}

bool DegreeAnalysis::visitExp(math::ExpOp op) {
  if (!bringToZero(op->getOpOperand(0)))
    return false;
  Degree degree = zero();
  auto it = exponentOf.find(op);
  if (it != exponentOf.end() && exponents[it->second].enabled)
    degree.p[leaderOf(it->second)] = 1.0;
  degrees[op.getResult()] = degree;
  return true;
}

/// sqrt, rsqrt and x^constant multiply the degree.
bool DegreeAnalysis::visitPower(Operation &op) {
  Degree degree = lookup(op.getOperand(0));
  double power = isa<math::SqrtOp>(op) ? 0.5 : -0.5;
  if (isa<math::PowFOp>(op)) {
    FloatAttr exponent;
    if (!matchPattern(op.getOperand(1), m_Constant(&exponent)))
      return requireZero(degree) && requireZero(lookup(op.getOperand(1))) &&
             (degrees[op.getResult(0)] = zero(), true);
    power = exponent.getValueAsDouble();
    if (!std::isfinite(power)) // nor would a degree be
      return requireZero(degree) && (degrees[op.getResult(0)] = zero(), true);
  }
  for (double &p : degree.p)
    p *= power;
  degrees[op.getResult(0)] = degree;
  return true;
}

bool DegreeAnalysis::visitScalar(Operation &op) {
  auto set = [&](const Degree &degree) {
    degrees[op.getResult(0)] = degree;
    return true;
  };
  auto joinAll = [&](unsigned first, bool keep) {
    SmallVector<OpOperand *> operands;
    for (unsigned i = first; i < op.getNumOperands(); ++i)
      operands.push_back(&op.getOpOperand(i));
    std::optional<Degree> degree = join(operands);
    return degree && set(keep ? *degree : zero());
  };
  return llvm::TypeSwitch<Operation *, bool>(&op)
      .Case<arith::ConstantOp>([&](arith::ConstantOp constant) {
        auto number = dyn_cast<FloatAttr>(constant.getValue());
        return set(number && number.getValue().isZero() ? Degree{true, {}} : zero());
      })
      .Case<arith::AddFOp, arith::SubFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp>([&](auto) { return joinAll(0, true); })
      .Case<arith::SelectOp>(
          [&](auto) { return op.getResult(0).getType().isInteger() ? set(zero()) : joinAll(1, true); })
      .Case<arith::CmpFOp>([&](auto) { return joinAll(0, false); })
      .Case<arith::MulFOp>([&](auto) { return set(add(lookup(op.getOperand(0)), lookup(op.getOperand(1)))); })
      .Case<arith::DivFOp>(
          [&](auto) { return set(add(lookup(op.getOperand(0)), lookup(op.getOperand(1)), -1.0)); })
      .Case<arith::NegFOp, math::AbsFOp, StopGradientOp, arith::ExtFOp, arith::TruncFOp>(
          [&](auto) { return set(lookup(op.getOperand(0))); })
      .Case<math::SqrtOp, math::RsqrtOp, math::PowFOp>([&](auto) { return visitPower(op); })
      .Case<math::ExpOp>([&](math::ExpOp exp) { return visitExp(exp); })
      .Case<math::LogOp, math::Log2Op>([&](auto log) {
        Degree degree = lookup(log.getOperand());
        if (!degree.isZero())
          logarithms.push_back({log, degree});
        return set(zero());
      })
      .Default([&](Operation *) {
        return llvm::all_of(op.getOpOperands(), [&](OpOperand &operand) { return bringToZero(operand); }) &&
               set(zero());
      });
}

bool DegreeAnalysis::visitBody(Block &block) {
  return llvm::all_of(block.without_terminator(), [&](Operation &op) { return visitScalar(op); });
}

/// Whether a sum is over keys alone: it keeps all axes of its rows.
static bool keepsRows(PairwiseOp op, unsigned result) {
  ArrayType type = arrayTypeOf(op.getResult(result)), rows = rowType(op);
  return op.getSum(result).getKind() == PairOutput::Rows &&
         llvm::all_of(rows.getAxes(), [&](StringAttr axis) { return type.has(axis); });
}

Degree DegreeAnalysis::degreeOf(PairwiseOp op, unsigned result) {
  PairSumAttr sum = op.getSum(result);
  Degree degree = lookup(op.getWeight().front().getTerminator()->getOperand(sum.getYielded()));
  Value array = op.getArrayOfSum(result);
  return array ? add(degree, lookup(array)) : degree;
}

/// Whether the arrays that an operation reads must be brought to degree 0: they have degrees below 0, none
/// above, and no maximum is subtracted from an exponential of the operation.
bool DegreeAnalysis::lowersArrays(PairwiseOp op) const {
  bool isPlain = llvm::none_of(op.getWeight().getOps<math::ExpOp>(), [&](math::ExpOp exp) {
    auto it = exponentOf.find(exp);
    return it != exponentOf.end() && exponents[it->second].enabled;
  });
  return isPlain && llvm::any_of(op->getOperands(), [&](Value array) { return !lookup(array).isZero(); }) &&
         llvm::all_of(op->getOperands(), [&](Value array) {
           return llvm::none_of(lookup(array).p, [](double p) { return p > 0.0; });
         });
}

bool DegreeAnalysis::visitPairwise(PairwiseOp op) {
  Block &weight = op.getWeight().front();
  if (llvm::any_of(llvm::seq(op.getNumResults()), [&](unsigned i) { return !keepsRows(op, i); }) &&
      lowersArrays(op)) {
    for (OpOperand &array : op->getOpOperands())
      bringToZero(array);
    return true;
  }
  for (BlockArgument argument : weight.getArguments()) {
    Degree degree = zero();
    for (Value array : arraysOf(op, argument))
      degree = add(degree, lookup(array));
    degrees[argument] = degree;
  }
  if (!visitBody(weight))
    return false;
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    if (op.getSum(index).getKind() == PairOutput::Maximum)
      continue;
    Degree degree = degreeOf(op, index);
    if (!keepsRows(op, index) && !requireZero(degree))
      return false;
    // A tile loop rescales what it carries by exp(m_old - m_new): each output of the provider is linear in
    // exp(-m).
    bool isLinear = true;
    for (auto [k, exponent] : llvm::enumerate(exponents))
      if (exponent.enabled && exponent.provider == op && !degree.any && degree.p[leaderOf(k)] != 1.0) {
        isLinear = false;
        LDBG() << exponent.sites.front().second.getLoc() << ": given up, a sum of its operation has degree "
               << degree.p[leaderOf(k)];
        exponent.enabled = false;
      }
    if (!isLinear)
      return false;
    degrees[result] = degree;
  }
  return true;
}

bool DegreeAnalysis::visitArrayOp(Operation &op) {
  if (auto pairwise = dyn_cast<PairwiseOp>(op))
    return visitPairwise(pairwise);
  auto array = dyn_cast<ArrayOpInterface>(op);
  if (auto formula = dyn_cast<FormulaOpInterface>(op)) {
    Block &body = formula.getBody().front();
    for (BlockArgument argument : body.getArguments())
      degrees[argument] = lookup(op.getOperand(argument.getArgNumber()));
    if (!visitBody(body))
      return false;
    Degree degree = lookup(body.getTerminator()->getOperand(0));
    // What joins tokens joins rows of unlike maxima.
    std::optional<MutableOperandRange> within = array.getDocuments();
    if (within && (!requireZero(degree) || (!within->empty() && !requireZero(lookup((*within)[0].get())))))
      return false;
    // A sum over rows of unlike maxima.
    auto reduce = dyn_cast<ReduceOp>(op);
    bool joinsRows = reduce && llvm::any_of(reduce.getAxes().getAsRange<StringAttr>(), [](StringAttr axis) {
                       return isRuntimeAxis(axis) || axis == kGroup;
                     });
    if (joinsRows) {
      if (!bringToZero(body.getTerminator()->getOpOperand(0)))
        return false;
      degree = zero();
    }
    degrees[op.getResult(0)] = degree;
    return true;
  }
  if (array && array.isRotation()) {
    if (op.getNumOperands() > 1 && !requireZero(lookup(op.getOperand(1))))
      return false;
    degrees[op.getResult(0)] = lookup(op.getOperand(0));
    return true;
  }
  return llvm::all_of(op.getOpOperands(), [&](OpOperand &operand) { return bringToZero(operand); });
}

bool DegreeAnalysis::run() {
  degrees.clear();
  factors.clear();
  logarithms.clear();
  for (Exponent &exponent : exponents)
    exponent.floored = false;
  return llvm::all_of(block, [&](Operation &op) { return visitArrayOp(op); });
}

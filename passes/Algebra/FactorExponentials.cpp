// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that fall like exponentials: an exponential, of which a maximum can be taken out, times a number
// that neither falls nor grows there. Passes.td has the rule.
#include "dialect/Taylor/ArrayBuilder.h"
#include "passes/Algebra/Degrees.h"
#include "passes/Algebra/Exponentials.h"
#include "passes/Algebra/PairwiseRewrite.h"
#include "passes/Algebra/ScalarRanges.h"
#include "passes/Algebra/Tails.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

#define DEBUG_TYPE "taylor-factor-exponentials"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_FACTOREXPONENTIALSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

namespace {

constexpr llvm::StringLiteral kNumber = "number"; // of a candidate, in a copy

/// A scalar of a weight region that falls like an exponential of x, or of -x, beyond an edge.
struct Candidate {
  Value scalar, x;
  SmallVector<OpOperand *> uses; // that are not part of a formula which falls as a whole
  double sign = 1.0;
  Tail tail;
  double edge = 0.0;
};

bool falls(const std::optional<Tail> &tail) { return tail && tail->p > 0.0; }

/// The number format's digits and range: how near a formula must be to its exponential, and how small that
/// may be.
struct Precision {
  explicit Precision(SpecOp spec, PairwiseOp pairs) {
    if (pairs.getRealType().isF64()) {
      digits = 53;
      range = 600.0;
    } else if (llvm::any_of(spec.getBody().getArgumentTypes(),
                            [](Type type) { return cast<ArrayType>(type).getElementType().isF16(); })) {
      digits = 12; // weights are multiplied in f16, whose least normal number is e^-9.7
    }
  }
  int digits = 24;
  double range = 60.0;
};

/// A whole |x|, at least 1, from which on a formula equals its exponential to all digits; nothing unless that
/// is below 1 there, and not too small a number.
std::optional<double> findEdge(const Tail &tail, Precision precision) {
  double edge = std::max(1.0, std::ceil((std::log(tail.k) + precision.digits * llvm::numbers::ln2) / tail.q));
  double logarithm = std::log(std::fabs(tail.c)) - tail.p * edge;
  return logarithm < 0.0 && -logarithm <= precision.range ? std::optional(edge) : std::nullopt;
}

/// The scalars of which a weight's functions are functions.
llvm::SetVector<Value> findVariables(PairwiseOp pairs) {
  llvm::SetVector<Value> variables;
  for (Operation &op : pairs.getWeight().front())
    if (isa<math::ExpOp, math::ExpM1Op, SigmoidOp, SoftplusOp>(op))
      if (Value x = findVariable(op.getOperand(0)); readsProduct(pairs, x))
        variables.insert(x);
  return variables;
}

/// The scalar a x + b through which alone a formula reads x.
Value findReadVariable(Value scalar, Value x) {
  llvm::SetVector<Value> parts = collectScalars(scalar);
  for (;;) {
    Operation *reader = nullptr;
    for (Operation *user : x.getUsers())
      if (user->getNumResults() == 1 && parts.contains(user->getResult(0)) && user != reader) {
        if (reader)
          return x;
        reader = user;
      }
    if (!reader || findVariable(reader->getResult(0)) != findVariable(x))
      return x;
    x = reader->getResult(0);
  }
}

/// Which operations are part of a formula that falls as a whole.
class Parts {
public:
  explicit Parts(Tails &tails) : tails(tails) {}

  /// Whether `reader` is such a formula, or is read by such formulas alone.
  bool contain(Operation *reader) {
    if (auto it = known.find(reader); it != known.end())
      return it->second;
    bool isPart = !isa<YieldOp>(reader) && tails.of(reader->getResult(0)) &&
                  (falls(tails.of(reader->getResult(0))) ||
                   llvm::all_of(reader->getUsers(), [&](Operation *next) { return contain(next); }));
    return known[reader] = isPart;
  }

private:
  Tails &tails;
  DenseMap<Operation *, bool> known;
};

/// A candidate that falls for small x (`below`) or large x only, and is no exponential itself.
std::optional<Candidate> findCandidate(Value scalar, Value x, Tails &below, Tails &above, Parts &partsBelow,
                                       Parts &partsAbove) {
  bool fallsBelow = falls(below.of(scalar));
  if (fallsBelow == falls(above.of(scalar)))
    return std::nullopt;
  Tails &tails = fallsBelow ? below : above;
  if (tails.of(scalar)->k == 0.0)
    return std::nullopt;
  Candidate candidate;
  candidate.scalar = scalar;
  for (OpOperand &use : scalar.getUses())
    if (!(fallsBelow ? partsBelow : partsAbove).contain(use.getOwner()))
      candidate.uses.push_back(&use);
  if (candidate.uses.empty())
    return std::nullopt;
  candidate.x = findReadVariable(scalar, x);
  for (double sign : {1.0, -1.0})
    if (auto tail = Tails(candidate.x, sign).of(scalar); falls(tail)) {
      candidate.sign = sign;
      candidate.tail = *tail;
    }
  return candidate;
}

SmallVector<Candidate> findCandidates(SpecOp spec) {
  SmallVector<Candidate> candidates;
  for (PairwiseOp pairs : spec.getBody().getOps<PairwiseOp>()) {
    Precision precision(spec, pairs);
    for (Value x : findVariables(pairs)) {
      Tails below(x, 1.0), above(x, -1.0);
      Parts partsBelow(below), partsAbove(above);
      for (Operation &op : pairs.getWeight().front().without_terminator()) {
        std::optional<Candidate> candidate =
            findCandidate(op.getResult(0), x, below, above, partsBelow, partsAbove);
        std::optional<double> edge = candidate ? findEdge(candidate->tail, precision) : std::nullopt;
        if (!edge)
          continue;
        candidate->edge = *edge;
        Range range = rangeOfScalar(pairs, candidate->x);
        if (candidate->sign > 0 ? range.low < -*edge : range.high > *edge)
          candidates.push_back(*candidate);
      }
    }
  }
  return candidates;
}

/// A copy of a scalar that reads `values[x]` in the place of x. A logarithm of 1 + v keeps the digits of v.
Value cloneFormula(OpBuilder &builder, Value scalar, Tails &tails, IRMapping &values) {
  if (Value known = values.lookupOrNull(scalar))
    return known;
  Operation *op = scalar.getDefiningOp();
  if (!op)
    return scalar;
  Value addend = isa<math::LogOp>(op) ? tails.findVanishingAddend(op->getOperand(0)) : Value();
  if (addend) {
    Value copy = cloneFormula(builder, addend, tails, values);
    values.map(scalar, math::Log1pOp::create(builder, op->getLoc(), copy).getResult());
    return values.lookup(scalar);
  }
  for (Value operand : op->getOperands())
    values.map(operand, cloneFormula(builder, operand, tails, values));
  return builder.clone(*op, values)->getResult(0);
}

/// f(x) becomes exp(select(x < -edge, p x, 0)) * select(x < -edge, c, f(select(x < -edge, -edge, x)));
/// returns the exponential.
math::ExpOp factor(const Candidate &candidate) {
  auto &[scalar, x, uses, sign, tail, edge] = candidate;
  Tails tails(x, sign);
  OpBuilder builder(scalar.getContext());
  builder.setInsertionPointAfterValue(scalar);
  Location loc = scalar.getLoc();
  auto number = [&](double value) { return buildNumber(builder, loc, x.getType(), value); };
  Value limit = number(-sign * edge);
  Value isBeyond = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::OLT, sign > 0 ? x : limit,
                                         sign > 0 ? limit : x);
  auto choose = [&](Value beyond, Value other) {
    return arith::SelectOp::create(builder, loc, isBeyond, beyond, other).getResult();
  };
  double p = sign * tail.p;
  Value exponent = p == 1.0 ? x : arith::MulFOp::create(builder, loc, x, number(p)).getResult();
  auto exp = math::ExpOp::create(builder, loc, choose(exponent, number(0.0)));
  IRMapping values;
  values.map(x, choose(limit, x));
  Value rest = choose(number(tail.c), cloneFormula(builder, scalar, tails, values));
  Value product = arith::MulFOp::create(builder, loc, exp, rest);
  for (OpOperand *use : uses)
    use->set(product);
  return exp;
}

/// Factors the chosen candidates. Removes scalars that nothing reads any more: their exponentials would be
/// counted.
SmallVector<math::ExpOp> factorAll(ArrayRef<Candidate> candidates, const llvm::BitVector &chosen) {
  SmallVector<math::ExpOp> exponentials(candidates.size());
  llvm::SetVector<Block *> blocks;
  for (unsigned i : chosen.set_bits()) {
    exponentials[i] = factor(candidates[i]);
    blocks.insert(exponentials[i]->getBlock());
  }
  for (Block *block : blocks)
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
      if (isOpTriviallyDead(&op))
        op.erase();
  return exponentials;
}

/// Which candidates end up with exponentials from which a maximum is subtracted, tried on a copy of the
/// specification: as they are written (`isFactored` is null), or after those in `isFactored` were factored.
llvm::BitVector findShifted(SpecOp spec, unsigned count, const llvm::BitVector *isFactored) {
  OwningOpRef<SpecOp> copy = cast<SpecOp>(spec->clone());
  Block &block = copy->getBody().front();
  SmallVector<Candidate> candidates = findCandidates(*copy);
  SmallVector<Operation *> marked = llvm::map_to_vector(
      candidates, [](const Candidate &candidate) { return candidate.scalar.getDefiningOp(); });
  if (isFactored)
    llvm::copy(factorAll(candidates, *isFactored), marked.begin());
  for (auto [i, op] : llvm::enumerate(marked))
    if (op)
      op->setDiscardableAttr(kNumber, OpBuilder(op).getI64IntegerAttr(i));
  groupExponents(block);
  DegreeAnalysis analysis(block);
  llvm::SmallDenseSet<Operation *> shifted;
  for (auto [k, exponent] : llvm::enumerate(analysis.exponents))
    // A floor of 0 would leave each factor as it is.
    if (exponent.enabled && !(isFactored && analysis.exponents[analysis.leaderOf(k)].floored))
      for (auto [pairs, exp] : exponent.sites)
        shifted.insert(exp);
  llvm::BitVector isShifted(count), isKept(count); // the same scalar may be in several operations now
  copy->walk([&](Operation *op) {
    auto number = op->getAttrOfType<IntegerAttr>(kNumber);
    if (!number)
      return;
    bool hasShifted = llvm::any_of(collectScalars(op->getResult(0)), [&](Value part) {
      Operation *from = part.getDefiningOp();
      return isFactored ? from == op && shifted.contains(op) : from && shifted.contains(from);
    });
    (hasShifted ? isShifted : isKept).set(number.getInt());
  });
  if (isFactored)
    isShifted.reset(isKept);
  return isShifted;
}

class FactorExponentials : public ::taylor::impl::FactorExponentialsPassBase<FactorExponentials> {
  void runOnOperation() override;
};

} // namespace

void FactorExponentials::runOnOperation() {
  getOperation()->walk([&](SpecOp spec) {
    SmallVector<Candidate> candidates = findCandidates(spec);
    if (candidates.empty())
      return;
    llvm::BitVector unshifted = findShifted(spec, candidates.size(), /*isFactored=*/nullptr).flip();
    llvm::BitVector chosen = unshifted;
    chosen &= findShifted(spec, candidates.size(), &chosen);
    for (auto [i, candidate] : llvm::enumerate(candidates))
      LDBG() << candidate.scalar.getLoc() << ": falls as exp(" << candidate.sign * candidate.tail.p
             << " x) where " << (candidate.sign > 0 ? "x < " : "x > ") << -candidate.sign * candidate.edge
             << (chosen[i]       ? "; factored"
                 : !unshifted[i] ? "; stays, its exponentials have a maximum already"
                                 : "; stays, its maximum would not cancel");
    factorAll(candidates, chosen);
    numFactored += chosen.count();
  });
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/States/SeparableSums.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Formula.h"
#include "passes/Specification/DocumentMask.h"
#include "passes/Specification/MaskConditions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace taylor;

namespace {

/// Terms beyond these are no recurrence that anybody wants to run.
constexpr size_t kMaximumTerms = 64, kMaximumOrder = 64;

/// Adds a term: series of terms that have the same factors are added up. A term that is 0 is none, so that no
/// state is made of it.
void addTerm(SmallVector<SeparableTerm> &sum, const SeparableTerm &term) {
  auto *entry = llvm::find_if(sum, [&](const SeparableTerm &other) {
    return other.rows == term.rows && other.columns == term.columns && other.product == term.product &&
           other.decays == term.decays;
  });
  if (entry == sum.end()) {
    sum.push_back(term);
    entry = std::prev(sum.end());
  } else {
    entry->series.resize(std::max(entry->series.size(), term.series.size()), 0.0);
    for (auto [n, coefficient] : llvm::enumerate(term.series))
      entry->series[n] += coefficient;
  }
  while (!entry->series.empty() && entry->series.back() == 0.0)
    entry->series.pop_back();
  if (entry->series.empty())
    sum.erase(entry);
}

/// Whether a scalar is a product with the constant 0.
bool isZero(Value scalar) {
  llvm::SetVector<Value> factors;
  factors.insert(scalar);
  for (size_t i = 0; i < factors.size(); ++i) {
    Value factor = factors[i];
    if (auto product = factor.getDefiningOp<arith::MulFOp>())
      factors.insert_range(ValueRange{product.getLhs(), product.getRhs()});
    else if (matchPattern(factor, m_AnyZeroFloat()))
      return true;
  }
  return false;
}

SeparableTerm numberTerm(double number) {
  SeparableTerm term;
  term.series = {number};
  return term;
}

/// Whether a condition is that the query stands at the key.
bool isOwnPair(Value condition) {
  constexpr auto equal = arith::CmpFPredicate::OEQ;
  return comparesPlaces(condition, equal, AxisRole::Query, AxisRole::Key) ||
         comparesPlaces(condition, equal, AxisRole::Key, AxisRole::Query);
}

} // namespace

bool taylor::isCount(PairwiseOp op, PairSumAttr sum) {
  Operation *yield = op.getWeight().front().getTerminator();
  return !sum.getWeighted() && matchPattern(yield->getOperand(sum.getYielded()), m_Constant());
}

/// The function's name in formulas, or else the operation's.
static StringRef describe(Operation *operation) {
  StringRef function = FormulaPrinter::functionOf(operation);
  return function.empty() ? operation->getName().getStringRef() : function;
}

std::nullopt_t SeparableSums::refuse(Location loc, const Twine &why) {
  if (reason.empty()) {
    reason = why.str();
    at = loc;
  }
  return std::nullopt;
}

bool SeparableSums::readCondition(Value condition) {
  if (auto both = condition.getDefiningOp<arith::AndIOp>())
    return readCondition(both.getLhs()) && readCondition(both.getRhs());
  if (comparesPlaces(condition, arith::CmpFPredicate::OLE, AxisRole::Key, AxisRole::Query))
    return causal = true;
  std::optional<DocumentCondition> same = readDocuments(op, condition);
  if (!same || (documents && documents != same->keys))
    return false;
  documents = same->keys;
  return true;
}

LogicalResult SeparableSums::readMask() {
  if (op.getVisible().empty())
    return success();
  Value condition = op.getVisible().front().getTerminator()->getOperand(0);
  if (!readCondition(condition))
    refuse(condition.getLoc(), "a condition on what a query sees beside u <= t and one document");
  return success(reason.empty());
}

unsigned SeparableSums::dependenceOf(Value scalar) {
  if (auto it = dependences.find(scalar); it != dependences.end())
    return it->second;
  unsigned result = None;
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    if (Value array = op.getArrayOf(argument)) {
      auto type = cast<ArrayType>(array.getType());
      result = type.has(AxisRole::Query) ? Rows
               : type.has(AxisRole::Key) ? Columns
               : type.has(AxisRole::Lag) ? Rows | Columns
                                         : None;
    } else {
      bool isProduct = argument.getArgNumber() < op.getNumProducts(*argument.getOwner()->getParent());
      result = isProduct ? Products : Products | Rows | Columns; // the running maximum
    }
  } else if (auto index = scalar.getDefiningOp<IndexOp>()) {
    result = index.getAxis() == AxisRole::Query ? Rows : index.getAxis() == AxisRole::Key ? Columns : None;
  } else {
    for (Value operand : scalar.getDefiningOp()->getOperands())
      result |= dependenceOf(operand);
  }
  return dependences[scalar] = result;
}

std::optional<SeparableSums::Terms> SeparableSums::multiply(const Terms &a, const Terms &b, Location loc) {
  Terms product;
  for (const SeparableTerm &x : a)
    for (const SeparableTerm &y : b) {
      if (x.product >= 0 && y.product >= 0)
        return refuse(loc, "a weight has a power of a second inner product");
      if (x.series.size() + y.series.size() > kMaximumOrder + 2)
        return refuse(loc, "its series has orders above " + Twine(kMaximumOrder));
      SeparableTerm term;
      term.series.assign(x.series.size() + y.series.size() - 1, 0.0);
      for (size_t i = 0; i < x.series.size(); ++i)
        for (size_t j = 0; j < y.series.size(); ++j)
          term.series[i + j] += x.series[i] * y.series[j];
      for (const SeparableTerm *one : {&x, &y}) {
        term.rows.append(one->rows);
        term.columns.append(one->columns);
      }
      term.product = std::max(x.product, y.product);
      std::merge(x.decays.begin(), x.decays.end(), y.decays.begin(), y.decays.end(),
                 std::back_inserter(term.decays));
      addTerm(product, term);
    }
  if (product.size() > kMaximumTerms)
    return refuse(loc, "a weight has more than " + Twine(kMaximumTerms) + " terms");
  return product;
}

std::optional<SeparableSums::Terms> SeparableSums::read(Value scalar) {
  if (auto it = known.find(scalar); it != known.end())
    return it->second;
  std::optional<Terms> terms = compute(scalar);
  known[scalar] = terms;
  return terms;
}

std::optional<SeparableSums::Terms> SeparableSums::compute(Value scalar) {
  if (isZero(scalar))
    return Terms();
  if (FloatAttr number; matchPattern(scalar, m_Constant(&number)))
    return Terms{numberTerm(number.getValueAsDouble())};
  // What one side knows alone is a factor, whatever it is.
  if (isOneSided(scalar))
    return Terms{factorTerm(scalar)};
  if (auto argument = dyn_cast<BlockArgument>(scalar))
    return computeArgument(argument);
  Operation *from = scalar.getDefiningOp();
  if (isa<math::ExpOp>(from) && !(dependenceOf(scalar) & Products))
    return computeDecay(scalar);
  if (auto select = dyn_cast<arith::SelectOp>(from)) {
    if (acrossChunks && isMasked() && isOwnPair(select.getCondition()))
      return read(select.getFalseValue());
    if (isOneSided(select.getCondition()))
      return computeSelect(select);
  }
  if (FloatAttr exponent; isa<math::PowFOp>(from) && matchPattern(from->getOperand(1), m_Constant(&exponent)))
    if (double times = exponent.getValueAsDouble(); times >= 0.0 && times == std::floor(times))
      return computePower(from->getOperand(0), times, from->getLoc());
  return computeArithmetic(from);
}

SeparableTerm SeparableSums::factorTerm(Value scalar) {
  SeparableTerm term = numberTerm(1.0);
  term.factorsOf(dependenceOf(scalar) == Columns).push_back(scalar);
  return term;
}

/// An inner product; the other arguments are factors, or have no such form.
std::optional<SeparableSums::Terms> SeparableSums::computeArgument(BlockArgument argument) {
  int64_t product = argument.getArgNumber();
  if (product >= op.getNumProducts())
    return refuse(op.getLoc(),
                  argument == argument.getOwner()->getArguments().back() && op.hasMaximum()
                      ? "its weights are exponentials, of scores or decays, which a running maximum shifts"
                      : "a weight reads an array with lag");
  SeparableTerm term = numberTerm(1.0);
  if (product == score)
    term.series = {0.0, 1.0};
  else
    term.product = product;
  return Terms{term};
}

std::optional<SeparableSums::Terms> SeparableSums::computeArithmetic(Operation *from) {
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::DivFOp>(from))
    return refuse(from->getLoc(), "'" + Twine(describe(from)) +
                                      "' of a pair is no finite sum of powers of one inner product");
  std::optional<Terms> a = read(from->getOperand(0));
  if (!a)
    return std::nullopt;
  if (isa<arith::NegFOp>(from))
    return multiply(*a, {numberTerm(-1.0)}, from->getLoc());
  std::optional<Terms> b =
      isa<arith::DivFOp>(from) ? computeInverse(from->getOperand(1), from) : read(from->getOperand(1));
  if (b && isa<arith::MulFOp, arith::DivFOp>(from))
    return multiply(*a, *b, from->getLoc());
  if (b && isa<arith::SubFOp>(from))
    b = multiply(*b, {numberTerm(-1.0)}, from->getLoc());
  if (!b)
    return std::nullopt;
  Terms sum = *a;
  for (const SeparableTerm &term : *b)
    addTerm(sum, term);
  return sum;
}

std::optional<SeparableSums::Terms> SeparableSums::computeInverse(Value divisor, Operation *from) {
  if (FloatAttr number; matchPattern(divisor, m_Constant(&number)))
    return Terms{numberTerm(1.0 / number.getValueAsDouble())};
  if (!isOneSided(divisor))
    return refuse(from->getLoc(), "a weight is divided by what depends on a pair");
  OpBuilder builder(from);
  Value one = buildNumber(builder, from->getLoc(), divisor.getType(), 1.0);
  SeparableTerm term = numberTerm(1.0);
  term.factorsOf(dependenceOf(divisor) == Columns)
      .push_back(arith::DivFOp::create(builder, from->getLoc(), one, divisor));
  return Terms{term};
}

bool SeparableSums::isOneSided(Value scalar) {
  unsigned dependence = dependenceOf(scalar);
  return dependence == None || dependence == Rows || dependence == Columns;
}

std::optional<SeparableSums::Terms> SeparableSums::computePower(Value base, double times, Location loc) {
  if (times > kMaximumOrder)
    return refuse(loc, "its series has orders above " + Twine(kMaximumOrder));
  std::optional<Terms> factor = read(base);
  std::optional<Terms> product = Terms{numberTerm(1.0)};
  for (int64_t i = 0; factor && product && i < int64_t(times); ++i)
    product = multiply(*product, *factor, loc);
  return factor ? product : std::nullopt;
}

/// A condition that reads one side alone: the terms of both branches, each with a factor of that side that is
/// 0 where the branch is not chosen.
std::optional<SeparableSums::Terms> SeparableSums::computeSelect(arith::SelectOp select) {
  Location loc = select.getLoc();
  Value condition = select.getCondition();
  bool ofColumns = dependenceOf(condition) == Columns;
  OpBuilder builder(select);
  Terms sum;
  for (bool chosen : {true, false}) {
    Value branch = chosen ? select.getTrueValue() : select.getFalseValue();
    if (matchPattern(branch, m_AnyZeroFloat()))
      continue;
    std::optional<Terms> terms = read(branch);
    if (!terms)
      return std::nullopt;
    Value zero = buildNumber(builder, loc, branch.getType(), 0.0);
    for (SeparableTerm term : *terms) {
      // All of that side's factors, since one of them may be no number where it is not chosen.
      auto &factors = term.factorsOf(ofColumns);
      Value factor;
      for (Value x : factors)
        factor = factor ? arith::MulFOp::create(builder, loc, factor, x).getResult() : x;
      if (!factor)
        factor = buildNumber(builder, loc, branch.getType(), 1.0);
      factor =
          arith::SelectOp::create(builder, loc, condition, chosen ? factor : zero, chosen ? zero : factor);
      factors.assign({factor});
      addTerm(sum, term);
    }
  }
  return sum;
}

std::optional<SplitScalar> SeparableSums::split(Value scalar) {
  unsigned dependence = dependenceOf(scalar);
  if (dependence == None || dependence == Rows)
    return SplitScalar{scalar, {}};
  if (dependence == Columns)
    return SplitScalar{{}, scalar};
  Operation *from = scalar.getDefiningOp();
  if (!from || (dependence & Products) ||
      !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, arith::DivFOp>(from))
    return std::nullopt;
  OpBuilder builder(from);
  Location loc = from->getLoc();
  auto negate = [&](Value x) { return x ? arith::NegFOp::create(builder, loc, x).getResult() : x; };
  std::optional<SplitScalar> a = split(from->getOperand(0));
  if (isa<arith::NegFOp>(from))
    return a ? std::optional(SplitScalar{negate(a->row), negate(a->column)}) : std::nullopt;
  if (isa<arith::AddFOp, arith::SubFOp>(from)) {
    std::optional<SplitScalar> b = split(from->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    if (isa<arith::SubFOp>(from))
      b = SplitScalar{negate(b->row), negate(b->column)};
    auto add = [&](Value x, Value y) -> Value {
      return x && y ? arith::AddFOp::create(builder, loc, x, y).getResult() : x ? x : y;
    };
    return SplitScalar{add(a->row, b->row), add(a->column, b->column)};
  }
  // A sum times (or divided by) what depends on neither side.
  Value sum = from->getOperand(0), factor = from->getOperand(1);
  if (isa<arith::MulFOp>(from) && dependenceOf(factor) != None) {
    std::swap(sum, factor);
    a = split(sum);
  }
  if (!a || dependenceOf(factor) != None)
    return std::nullopt;
  auto scale = [&](Value x) -> Value {
    if (!x)
      return x;
    if (isa<arith::DivFOp>(from))
      return arith::DivFOp::create(builder, loc, x, factor);
    return arith::MulFOp::create(builder, loc, x, factor);
  };
  return SplitScalar{scale(a->row), scale(a->column)};
}

std::optional<SeparableSums::Terms> SeparableSums::computeDecay(Value exponential) {
  Value exponent = exponential.getDefiningOp()->getOperand(0);
  SeparableTerm decay = numberTerm(1.0);
  decay.decays = {unsigned(llvm::find(exponents, exponent) - exponents.begin())};
  if (decay.decays.front() < exponents.size())
    return Terms{decay};
  if (!split(exponent))
    return refuse(exponential.getLoc(),
                  "an exponent is no sum of what the query and what the key know alone");
  if (!causal)
    return refuse(exponential.getLoc(), "a decay between all queries and keys");
  exponents.push_back(exponent);
  return Terms{decay};
}

bool SeparableSums::decayAlike() {
  const SeparableTerm *first = nullptr;
  for (const Terms &terms : yielded)
    for (const SeparableTerm &term : terms) {
      if (first && first->decays != term.decays)
        return false;
      first = &term;
    }
  if (!first || first->decays.empty())
    return true;
  OpBuilder builder(op.getWeight().front().getTerminator());
  auto add = [&](Value &sum, Value x) {
    sum = sum ? arith::AddFOp::create(builder, x.getLoc(), sum, x).getResult() : x;
  };
  for (unsigned number : first->decays) {
    std::optional<SplitScalar> parts = split(exponents[number]);
    add(rowExponent, parts->row);
    auto negated = parts->column.getDefiningOp<arith::NegFOp>();
    add(columnExponent,
        negated ? negated.getOperand()
                : arith::NegFOp::create(builder, parts->column.getLoc(), parts->column).getResult());
  }
  return true;
}

SmallVector<int64_t> taylor::weightsOf(PairwiseOp op) {
  SmallVector<int64_t> weights;
  for (PairSumAttr sum : op.getSums().getAsRange<PairSumAttr>())
    if (!isCount(op, sum))
      weights.push_back(sum.getYielded());
  return weights;
}

bool taylor::areSeparable(PairwiseOp op, ArrayRef<int64_t> weights) {
  // Reading the weights may leave scalars.
  auto copy = cast<PairwiseOp>(OpBuilder(op).clone(*op));
  SeparableSums sums(copy, /*acrossChunks=*/true);
  bool are = succeeded(sums.run(weights));
  copy.erase();
  return are;
}

LogicalResult SeparableSums::run(ArrayRef<int64_t> wanted) {
  return success(succeeded(readMask()) && succeeded(readWeights(wanted)));
}

LogicalResult SeparableSums::readWeights(ArrayRef<int64_t> wanted) {
  Operation *yield = op.getWeight().front().getTerminator();
  for (score = 0; score < op.getNumProducts(); ++score) {
    known.clear();
    exponents.clear();
    rowExponent = columnExponent = {};
    yielded.assign(yield->getNumOperands(), {});
    bool all = true;
    for (int64_t number : wanted) {
      std::optional<Terms> terms = read(yield->getOperand(number));
      all &= terms.has_value();
      if (!all)
        break;
      yielded[number] = *terms;
    }
    if (all && !decayAlike())
      refuse(exponents.front().getLoc(), "its terms do not all decay alike");
    else if (all) {
      reason.clear();
      return success();
    }
  }
  if (reason.empty())
    refuse(op.getLoc(), "it has no inner product");
  return failure();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that sum over visible pairs: recurrences and pairwise.
#include "dialect/Reference/Operations.h"
#include "dialect/Reference/PairSums.h"
#include "dialect/Reference/SeriesWeight.h"
#include "dialect/Reference/ThroughStates.h"
#include <memory>

using namespace mlir;
using namespace taylor;
using namespace taylor::reference;

Array taylor::reference::seeingRows(const Array &counts) {
  if (llvm::all_of(counts.values, [](Real count) { return count != 0; }))
    return Array(Shape(), 1);
  Array sees(counts.shape);
  for (auto [value, count] : llvm::zip_equal(sees.values, counts.values))
    value = count != 0;
  return sees;
}

//===----------------------------------------------------------------------===//
// Recurrences
//===----------------------------------------------------------------------===//

int taylor::reference::addCausalCondition(RegionProgram &program) {
  int query = program.addIndex(AxisRole::Query), key = program.addIndex(AxisRole::Key);
  return program.add(ScalarOpcode::LessEqual, {key, query});
}

LogicalResult taylor::reference::addScale(RegionProgram &program, Region &scale, int &score) {
  if (scale.empty())
    return success();
  SmallVector<int> yielded;
  if (failed(program.append(scale, {}, yielded)))
    return failure();
  score = program.add(ScalarOpcode::Multiply, {score, yielded[0]});
  return success();
}

int taylor::reference::addPower(RegionProgram &program, int x, int64_t order) {
  int power = x;
  for (int64_t n = 1; n < order; ++n)
    power = program.add(ScalarOpcode::Multiply, {power, x});
  return power;
}

FailureOr<Array> taylor::reference::alignDecay(Operation *op, const Array &decay,
                                               const Environment &environment) {
  if (failed(verifyQueriesAtKeys(op, " for its decay", environment)))
    return failure();
  Array rows;
  rows.shape = decay.shape;
  int64_t axis = decay.shape.find(AxisRole::Key);
  rows.shape.axes[axis] = nameOf(AxisRole::Query);
  rows.shape.sizes[axis] = environment.sizeOf(AxisRole::Query);
  rows.values.resize(rows.shape.count());
  Lines from(decay.shape, AxisRole::Key), to(rows.shape, AxisRole::Query);
  for (int64_t o = 0; o < to.outer; ++o)
    std::copy_n(decay.values.begin() + (o * from.length + environment.offset) * from.stride,
                to.length * to.stride, rows.values.begin() + o * to.length * to.stride);
  return rows;
}

void taylor::reference::addAlignedGradient(Array &decay, const Array &rows, const Environment &environment) {
  Lines to(decay.shape, AxisRole::Key), from(rows.shape, AxisRole::Query);
  int64_t line = from.length * from.stride;
  for (int64_t o = 0; o < from.outer; ++o)
    for (int64_t i = 0; i < line; ++i)
      accumulate(decay.values[(o * to.length + environment.offset) * to.stride + i],
                 rows.values[o * line + i], environment.arithmetic.value);
}

namespace {

/// c[first..last] of a series, 1/n! where the operation gives none.
FailureOr<std::vector<Real>> coefficientsOf(RecurrencesOp op, const Environment &environment,
                                            int64_t &first) {
  auto bound = [&](Attribute attribute) -> FailureOr<int64_t> {
    if (auto integer = dyn_cast<IntegerAttr>(attribute))
      return integer.getInt();
    StringRef name = cast<StringAttr>(attribute).getValue();
    auto it = environment.parameters.find(name);
    if (it == environment.parameters.end())
      return op.emitOpError("expected a declared parameter as order, but got '") << name << "'";
    if (it->second != static_cast<int64_t>(it->second))
      return op.emitOpError("expected an integer as order '")
             << name << "', but got " << static_cast<double>(it->second);
    return static_cast<int64_t>(it->second);
  };
  FailureOr<int64_t> low = bound(*op.getFirstOrder()), high = bound(*op.getLastOrder());
  if (failed(low) || failed(high))
    return failure();
  if (*low < 0 || *high < *low)
    return op.emitOpError("expected orders(a to b) with 0 <= a <= b, but got ") << *low << " to " << *high;
  first = *low;
  std::vector<Real> coefficients;
  if (auto explicitOnes = op.getCoefficients()) {
    if (static_cast<int64_t>(explicitOnes->size()) != *high - *low + 1)
      return op.emitOpError("expected ")
             << *high - *low + 1 << " coefficients, one per order, but got " << explicitOnes->size();
    for (FloatAttr coefficient : explicitOnes->getAsRange<FloatAttr>())
      coefficients.push_back(coefficient.getValueAsDouble());
    // 0 times NaN is NaN, so coefficients of 0 at the ends are left out.
    auto isTerm = [](Real coefficient) { return coefficient != 0; };
    coefficients.erase(llvm::find_if(llvm::reverse(coefficients), isTerm).base(), coefficients.end());
    auto begin = llvm::find_if(coefficients, isTerm);
    first += begin - coefficients.begin();
    coefficients.erase(coefficients.begin(), begin);
    return coefficients;
  }
  Real factorial = 1;
  for (int64_t n = 0; n <= *high; ++n) {
    factorial *= n ? n : 1;
    if (n >= *low)
      coefficients.push_back(1 / factorial);
  }
  return coefficients;
}

/// sum over n of c[n] x^(first + n), by Horner's rule.
int addSeries(RegionProgram &program, int x, ArrayRef<Real> coefficients, int64_t first) {
  int sum = program.addConstant(coefficients.back());
  for (Real coefficient : llvm::reverse(coefficients.drop_back())) {
    int product = program.add(ScalarOpcode::Multiply, {sum, x});
    sum = program.add(ScalarOpcode::Add, {product, program.addConstant(coefficient)});
  }
  return first == 0 ? sum : program.add(ScalarOpcode::Multiply, {sum, addPower(program, x, first)});
}

/// f(score(scale * s)) of an operation; `extras` are the registers of its other scalars.
FailureOr<int> addWeight(RegionProgram &program, RecurrencesOp op, int score, ArrayRef<int> extras,
                         const Environment &environment) {
  if (failed(addScale(program, op.getScale(), score)))
    return failure();
  SmallVector<int> arguments{score}, yielded;
  llvm::append_range(arguments, extras);
  if (!op.getScore().empty()) {
    if (failed(program.append(op.getScore(), arguments, yielded)))
      return failure();
    arguments[0] = yielded[0];
  }
  if (!op.getWeight().empty()) {
    if (failed(program.append(op.getWeight(), arguments, yielded)))
      return failure();
    return yielded[0];
  }
  if (op.getAllOrders())
    return program.add(ScalarOpcode::Exp, {arguments[0]});
  int64_t first = 0;
  FailureOr<std::vector<Real>> coefficients = coefficientsOf(op, environment, first);
  if (failed(coefficients))
    return failure();
  return addSeries(program, arguments[0], *coefficients, first);
}

/// The pair sums of one taylor.recurrences, and the decay read at query positions.
struct RecurrenceSums {
  explicit RecurrenceSums(const Environment &environment) : sums(environment) {}
  PairSums sums;
  Array decayRows;
  bool hasDecay = false;

  /// Arrays: q, k, v, then decay at u and at t, then the extras.
  LogicalResult build(RecurrencesOp op, ArrayRef<EvaluatedOperand> operands) {
    const Environment &environment = sums.environment;
    for (const EvaluatedOperand &operand : operands.take_front(3))
      sums.addArray(*operand.array, operand.differentiable);
    sums.products.push_back({0, 1});
    RegionProgram &program = sums.weight.program;
    sums.weight.products.push_back(
        program.addArgument(operands[0].differentiable || operands[1].differentiable));

    auto addScalar = [&](const Array &array, bool differentiable) {
      sums.scalars.push_back(sums.addArray(array, differentiable));
      sums.weight.scalars.push_back(program.addArgument(differentiable));
      sums.visible.scalars.push_back(sums.visible.program.addArgument(false));
    };
    hasDecay = static_cast<bool>(op.getDecay());
    if (hasDecay) {
      FailureOr<Array> aligned = alignDecay(op, *operands[3].array, environment);
      if (failed(aligned))
        return failure();
      decayRows = std::move(*aligned);
      addScalar(*operands[3].array, operands[3].differentiable);
      addScalar(decayRows, operands[3].differentiable);
    }
    size_t firstExtra = sums.scalars.size();
    for (const EvaluatedOperand &operand : operands.drop_front(hasDecay ? 4 : 3))
      addScalar(*operand.array, operand.differentiable);

    ArrayRef<int> registers = sums.weight.scalars;
    FailureOr<int> weight =
        addWeight(program, op, sums.weight.products[0], registers.drop_front(firstExtra), environment);
    if (failed(weight))
      return failure();
    if (hasDecay) {
      int exponent = program.add(ScalarOpcode::Subtract, {registers[1], registers[0]});
      *weight = program.add(ScalarOpcode::Multiply, {program.add(ScalarOpcode::Exp, {exponent}), *weight});
    }
    program.addResult(*weight);
    program.addResult(program.addConstant(1));
    return buildVisible(op, ArrayRef<int>(sums.visible.scalars).drop_front(firstExtra));
  }

private:
  LogicalResult buildVisible(RecurrencesOp op, ArrayRef<int> extras) {
    RegionProgram &program = sums.visible.program;
    int condition = -1;
    if (op.getMask() == Mask::Causal)
      condition = addCausalCondition(program);
    if (!op.getVisible().empty()) {
      SmallVector<int> yielded;
      if (failed(program.append(op.getVisible(), extras, yielded)))
        return failure();
      condition = condition < 0 ? yielded[0] : program.add(ScalarOpcode::And, {condition, yielded[0]});
    }
    if (condition >= 0)
      program.addResult(condition);
    return success();
  }
};

} // namespace

void taylor::reference::addRecurrenceOutputs(PairSums &sums, ArrayAttr names, ValueRange results,
                                             const Environment &environment) {
  for (auto [name, result] : llvm::zip_equal(names.getAsRange<SumAttr>(), results)) {
    if (name.getValue() == Sum::State)
      continue;
    PairSums::Output output = {PairSums::Kind::Rows, 0, -1, Shape()};
    output.yielded = name.getValue() == Sum::Count ? 1 : 0;
    output.array = name.getValue() == Sum::Numerator ? 2 : -1;
    output.shape = shapeOf(cast<ArrayType>(result.getType()), environment);
    sums.outputs.push_back(std::move(output));
  }
}

/// Over the pairs that the environment visits.
static FailureOr<PairsEvaluated> evaluatePairsOf(RecurrencesOp op, ArrayRef<EvaluatedOperand> operands,
                                                 const Environment &environment) {
  auto recurrence = std::make_shared<RecurrenceSums>(environment);
  if (failed(recurrence->build(op, operands)))
    return failure();
  addRecurrenceOutputs(recurrence->sums, op.getSums(), op.getResults(), environment);
  PairSums::Forward forward = recurrence->sums.evaluate();
  PairsEvaluated evaluated;
  evaluated.results = std::move(forward.outputs);
  evaluated.counts = std::move(forward.counts);
  evaluated.pullback = [recurrence](ArrayRef<Array> cotangents) {
    const PairSums &sums = recurrence->sums;
    std::vector<Array> gradients = sums.pullback(cotangents);
    if (!recurrence->hasDecay)
      return gradients;
    if (!gradients[3].values.empty())
      addAlignedGradient(gradients[3], gradients[4], sums.environment);
    gradients.erase(gradients.begin() + 4);
    return gradients;
  };
  return evaluated;
}

static FailureOr<Evaluated> evaluateRecurrences(RecurrencesOp op, ArrayRef<EvaluatedOperand> operands,
                                                const Environment &environment) {
  auto evaluate = [&](const Environment &part) { return evaluatePairsOf(op, operands, part); };
  FailureOr<PairsEvaluated> sums =
      canHaveStates(op) ? evaluateThroughStates(op.getSums(), environment, evaluate) : evaluate(environment);
  if (failed(sums))
    return failure();
  return asEvaluated(std::move(*sums));
}

//===----------------------------------------------------------------------===//
// Pairwise
//===----------------------------------------------------------------------===//

/// Arguments of one region of a taylor.pairwise, in its order: products, scalars, maximum.
static LogicalResult buildRegion(PairwiseOp op, Region &region, ArrayRef<EvaluatedOperand> operands,
                                 bool withProducts, bool withMaximum, PairProgram &part) {
  RegionProgram &program = part.program;
  SmallVector<int> arguments;
  if (withProducts)
    for (int64_t i = 0; i < op.getNumProducts(); ++i)
      part.products.push_back(
          program.addArgument(operands[2 * i].differentiable || operands[2 * i + 1].differentiable));
  for (const EvaluatedOperand &scalar : operands.slice(op.getProducts().size(), op.getScalars().size()))
    part.scalars.push_back(program.addArgument(scalar.differentiable));
  llvm::append_range(arguments, part.products);
  llvm::append_range(arguments, part.scalars);
  if (withMaximum)
    arguments.push_back(part.maximum = program.addArgument(false));
  if (region.empty())
    return success();
  SmallVector<int> yielded;
  if (failed(program.append(region, arguments, yielded)))
    return failure();
  for (int reg : yielded)
    program.addResult(reg);
  return success();
}

static FailureOr<Evaluated> evaluatePairwise(PairwiseOp op, ArrayRef<EvaluatedOperand> operands,
                                             const Environment &environment) {
  auto sums = std::make_shared<PairSums>(environment);
  for (const EvaluatedOperand &operand : operands)
    sums->addArray(*operand.array, operand.differentiable);
  int next = 0;
  for (; next < int(op.getProducts().size()); next += 2)
    sums->products.push_back({next, next + 1});
  for (size_t i = 0; i < op.getScalars().size(); ++i)
    sums->scalars.push_back(next++);
  sums->chunk = op.getChunk();
  if (failed(buildRegion(op, op.getVisible(), operands, false, false, sums->visible)) ||
      failed(buildRegion(op, op.getMaximum(), operands, true, false, sums->maximum)) ||
      failed(buildRegion(op, op.getWeight(), operands, true, op.hasMaximum(), sums->weight)))
    return failure();
  for (auto [i, result] : llvm::enumerate(op.getResults())) {
    PairSumAttr sum = op.getSum(i);
    PairSums::Output output = {PairSums::Kind::Rows, 0, -1, Shape()};
    switch (sum.getKind()) {
    case PairOutput::Rows:
      output.kind = PairSums::Kind::Rows;
      break;
    case PairOutput::Columns:
      output.kind = PairSums::Kind::Columns;
      break;
    case PairOutput::Diagonals:
      output.kind = PairSums::Kind::Diagonals;
      break;
    case PairOutput::Total:
      output.kind = PairSums::Kind::Total;
      break;
    case PairOutput::Maximum:
      output.kind = PairSums::Kind::Maximum;
      break;
    }
    output.yielded = sum.getYielded();
    output.array = sum.getWeighted() ? next++ : -1;
    output.shape = shapeOf(cast<ArrayType>(result.getType()), environment);
    sums->outputs.push_back(std::move(output));
  }
  PairSums::Forward forward = sums->evaluate();
  Evaluated evaluated;
  evaluated.results = std::move(forward.outputs);
  Array sees = seeingRows(forward.counts);
  for (const PairSums::Output &output : sums->outputs)
    evaluated.sees.push_back(
        output.kind == PairSums::Kind::Rows && output.shape.has(AxisRole::Query) ? sees : Array());
  evaluated.pullback = [sums](ArrayRef<Array> cotangents) { return sums->pullback(cotangents); };
  return evaluated;
}

ArrayRef<EvaluationRule> taylor::reference::getPairRules() {
  static const EvaluationRule rules[] = {ruleOf<RecurrencesOp, evaluateRecurrences>(),
                                         ruleOf<PairwiseOp, evaluatePairwise>()};
  return rules;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One recurrence of one order, with its state: H[t] = H[t-1] + (k[t]^(x)n)^T v[t], O[t] = c scale^n q[t]^(x)n
// . H[t].
#include "dialect/Reference/SeriesWeight.h"
#include "dialect/Reference/ThroughStates.h"
#include "dialect/Reference/Vectors.h"
#include <memory>

using namespace mlir;
using namespace taylor;
using namespace taylor::reference;

namespace {

/// x^(x)n, the n-fold outer product of a vector with itself: [d^n], the last factor fastest.
std::vector<Real> outerPower(ArrayRef<Real> x, int64_t order) {
  std::vector<Real> power = {1};
  for (int64_t n = 0; n < order; ++n) {
    std::vector<Real> next;
    for (Real p : power)
      for (Real value : x)
        next.push_back(p * value);
    power = std::move(next);
  }
  return power;
}

/// The cotangent of x given that of x^(x)order.
std::vector<Real> pullbackOuterPower(ArrayRef<Real> x, int64_t order, std::vector<Real> cotangent) {
  std::vector<Real> dx(x.size(), 0);
  for (int64_t n = order; n > 0; --n) {
    std::vector<Real> before = outerPower(x, n - 1), dBefore(before.size(), 0);
    for (size_t a = 0; a < before.size(); ++a)
      for (size_t i = 0; i < x.size(); ++i) {
        dx[i] += cotangent[a * x.size() + i] * before[a];
        dBefore[a] += cotangent[a * x.size() + i] * x[i];
      }
    cotangent = std::move(dBefore);
  }
  return dx;
}

/// The bilinear form sum_f x^(x)n[f] y[f, e] z[e] that both parts of a state are: the row that a query reads
/// from the initial state (x = q, y = state, z = cotangent), and the final state's sum over keys (x = k, y =
/// cotangent, z = v).
struct StateForm {
  int64_t order;
  Real factor;

  /// z[point] += factor * x^(x)n . y
  void contract(const Array &x, const Array &y, Array &z, const Shape &loop) const {
    Vectors xs(x, channelOf(x.shape), loop), zs(z, channelOf(z.shape), loop);
    Walk atState(y.shape, loop);
    int64_t fStride = Lines(y.shape, AxisRole::Feature).stride,
            eStride = Lines(y.shape, channelOf(y.shape)).stride;
    forEachPoint(loop, [&](ArrayRef<int64_t> point) {
      std::vector<Real> phi = outerPower(xs.read(x, point), order), row(zs.length, 0);
      int64_t at = atState(point);
      for (size_t f = 0; f < phi.size(); ++f)
        for (int64_t e = 0; e < zs.length; ++e)
          row[e] += factor * phi[f] * y.values[at + f * fStride + e * eStride];
      zs.add(z, point, row);
    });
  }

  /// y += factor * (x^(x)n)^T z, summed over the points that share an element of y.
  void expand(const Array &x, Array &y, const Array &z, const Shape &loop) const {
    Vectors xs(x, channelOf(x.shape), loop), zs(z, channelOf(z.shape), loop);
    Walk atState(y.shape, loop);
    int64_t fStride = Lines(y.shape, AxisRole::Feature).stride,
            eStride = Lines(y.shape, channelOf(y.shape)).stride;
    forEachPoint(loop, [&](ArrayRef<int64_t> point) {
      std::vector<Real> phi = outerPower(xs.read(x, point), order), row = zs.read(z, point);
      int64_t at = atState(point);
      for (size_t f = 0; f < phi.size(); ++f)
        for (size_t e = 0; e < row.size(); ++e)
          y.values[at + f * fStride + e * eStride] += factor * phi[f] * row[e];
    });
  }

  /// dx += the derivative of the form with respect to x.
  void pullback(const Array &x, const Array &y, const Array &z, Array &dx, const Shape &loop) const {
    Vectors xs(x, channelOf(x.shape), loop), zs(z, channelOf(z.shape), loop);
    Walk atState(y.shape, loop);
    int64_t fStride = Lines(y.shape, AxisRole::Feature).stride,
            eStride = Lines(y.shape, channelOf(y.shape)).stride;
    forEachPoint(loop, [&](ArrayRef<int64_t> point) {
      std::vector<Real> vector = xs.read(x, point), row = zs.read(z, point), dPhi;
      int64_t at = atState(point), features = outerPower(vector, order).size();
      for (int64_t f = 0; f < features; ++f) {
        Real sum = 0;
        for (size_t e = 0; e < row.size(); ++e)
          sum += factor * y.values[at + f * fStride + e * eStride] * row[e];
        dPhi.push_back(sum);
      }
      xs.add(dx, point, pullbackOuterPower(vector, order, std::move(dPhi)));
    });
  }
};

/// Everything of one taylor.recurrence.
struct StateRecurrence {
  explicit StateRecurrence(const Environment &environment) : sums(environment) {}

  PairSums sums;
  Array decayRows;
  bool hasDecay = false;
  const Array *query = nullptr, *key = nullptr, *value = nullptr, *initial = nullptr;
  /// Place of each sum among the results, or -1; the pair sums are the others, in order.
  int numerator = -1, state = -1;
  StateForm read, write;
  Shape rowLoop, columnLoop;

  LogicalResult build(RecurrenceOp op, ArrayRef<EvaluatedOperand> operands);
  std::vector<Array> evaluate(Array finalState, Array &counts);
  std::vector<Array> pullback(ArrayRef<Array> cotangents) const;
};

LogicalResult StateRecurrence::build(RecurrenceOp op, ArrayRef<EvaluatedOperand> operands) {
  const Environment &environment = sums.environment;
  for (const EvaluatedOperand &operand : operands.take_front(3))
    sums.addArray(*operand.array, operand.differentiable);
  query = operands[0].array;
  key = operands[1].array;
  value = operands[2].array;
  hasDecay = static_cast<bool>(op.getDecay());
  if (op.getState())
    initial = operands[hasDecay ? 4 : 3].array;

  RegionProgram &program = sums.weight.program;
  sums.products.push_back({0, 1});
  int score = program.addArgument(operands[0].differentiable || operands[1].differentiable);
  sums.weight.products.push_back(score);
  int scale = program.addConstant(1);
  int64_t order = op.getOrder();
  if (failed(addScale(program, op.getScale(), score)) || failed(addScale(program, op.getScale(), scale)))
    return failure();
  Real coefficient = op.getCoefficient().convertToDouble();
  int weight = program.addConstant(coefficient);
  if (order > 0)
    weight = program.add(ScalarOpcode::Multiply, {weight, addPower(program, score, order)});
  if (hasDecay) {
    FailureOr<Array> aligned = alignDecay(op, *operands[3].array, environment);
    if (failed(aligned))
      return failure();
    decayRows = std::move(*aligned);
    for (const Array *array : {operands[3].array, const_cast<const Array *>(&decayRows)}) {
      sums.scalars.push_back(sums.addArray(*array, operands[3].differentiable));
      sums.weight.scalars.push_back(program.addArgument(operands[3].differentiable));
      sums.visible.scalars.push_back(sums.visible.program.addArgument(false));
    }
    int exponent = program.add(ScalarOpcode::Subtract, {sums.weight.scalars[1], sums.weight.scalars[0]});
    weight = program.add(ScalarOpcode::Multiply, {weight, program.add(ScalarOpcode::Exp, {exponent})});
  }
  program.addResult(weight);
  program.addResult(program.addConstant(1));
  if (op.getMask() == Mask::Causal)
    sums.visible.program.addResult(addCausalCondition(sums.visible.program));

  for (auto [i, sum] : llvm::enumerate(op.getSums().getAsRange<SumAttr>())) {
    numerator = sum.getValue() == Sum::Numerator ? i : numerator;
    state = sum.getValue() == Sum::State ? i : state;
  }
  if (hasDecay && (initial || state >= 0))
    return op.emitOpError("unsupported decay of a recurrence with a state");
  Real scaleValue = program.makeRegisters()[scale];
  read = {order, coefficient};
  for (int64_t n = 0; n < order; ++n)
    read.factor *= scaleValue;
  write = {order, 1};
  addRecurrenceOutputs(sums, op.getSums(), op.getResults(), environment);
  rowLoop = query->shape.without({channelOf(query->shape)});
  columnLoop = key->shape.without({channelOf(key->shape)});
  // A value per query head makes a state per query head.
  if (int64_t g = columnLoop.find(AxisRole::KeyHead); g >= 0 && value->shape.has(AxisRole::Head)) {
    columnLoop.axes[g] = nameOf(AxisRole::Head);
    columnLoop.sizes[g] = value->shape.sizeOf(AxisRole::Head);
  }
  return success();
}

std::vector<Array> StateRecurrence::evaluate(Array finalState, Array &counts) {
  PairSums::Forward forward = sums.evaluate();
  counts = std::move(forward.counts);
  std::vector<Array> results = std::move(forward.outputs);
  if (state >= 0) {
    if (initial)
      finalState.values = initial->values;
    write.expand(*key, finalState, *value, columnLoop);
    results.insert(results.begin() + state, std::move(finalState));
  }
  if (initial && numerator >= 0)
    read.contract(*query, *initial, results[numerator], rowLoop);
  for (Array &result : results)
    roundAll(result, sums.environment.arithmetic.value);
  return results;
}

std::vector<Array> StateRecurrence::pullback(ArrayRef<Array> cotangents) const {
  std::vector<Array> ofSums(cotangents.begin(), cotangents.end());
  if (state >= 0)
    ofSums.erase(ofSums.begin() + state);
  std::vector<Array> gradients = sums.pullback(ofSums);
  if (hasDecay) {
    addAlignedGradient(gradients[3], gradients[4], sums.environment);
    gradients.erase(gradients.begin() + 4);
  }
  Array dInitial = initial ? Array(initial->shape) : Array();
  if (state >= 0 && !cotangents[state].values.empty()) {
    const Array &dState = cotangents[state];
    write.pullback(*key, dState, *value, gradients[1], columnLoop);
    write.contract(*key, dState, gradients[2], columnLoop);
    if (initial)
      dInitial.values = dState.values;
  }
  if (initial && numerator >= 0 && !cotangents[numerator].values.empty()) {
    read.pullback(*query, *initial, cotangents[numerator], gradients[0], rowLoop);
    read.expand(*query, dInitial, cotangents[numerator], rowLoop);
  }
  if (initial)
    gradients.push_back(std::move(dInitial));
  for (Array &gradient : gradients)
    roundAll(gradient, sums.environment.arithmetic.value);
  return gradients;
}

} // namespace

/// Of a recurrence that neither takes a state nor gives one.
static FailureOr<Evaluated> evaluateStateless(RecurrenceOp op, ArrayRef<EvaluatedOperand> operands,
                                              const Environment &environment) {
  auto evaluate = [&](const Environment &part) -> FailureOr<PairsEvaluated> {
    auto recurrence = std::make_shared<StateRecurrence>(part);
    if (failed(recurrence->build(op, operands)))
      return failure();
    PairsEvaluated evaluated;
    evaluated.results = recurrence->evaluate(Array(), evaluated.counts);
    evaluated.pullback = [recurrence](ArrayRef<Array> cotangents) {
      return recurrence->pullback(cotangents);
    };
    return evaluated;
  };
  FailureOr<PairsEvaluated> sums = evaluateThroughStates(op.getSums(), environment, evaluate);
  if (failed(sums))
    return failure();
  return asEvaluated(std::move(*sums));
}

static FailureOr<Evaluated> evaluateRecurrence(RecurrenceOp op, ArrayRef<EvaluatedOperand> operands,
                                               const Environment &environment) {
  auto isState = [](SumAttr sum) { return sum.getValue() == Sum::State; };
  if (!op.getState() && llvm::none_of(op.getSums().getAsRange<SumAttr>(), isState))
    return evaluateStateless(op, operands, environment);
  auto recurrence = std::make_shared<StateRecurrence>(environment);
  if (failed(recurrence->build(op, operands)))
    return failure();
  Array finalState;
  if (recurrence->state >= 0) {
    // The features of order n are d^n, which no type says before specialisation.
    finalState.shape = shapeOf(cast<ArrayType>(op.getResults()[recurrence->state].getType()), environment);
    int64_t &features = finalState.shape.sizes[finalState.shape.find(AxisRole::Feature)];
    features = 1;
    int64_t channels = operands[0].array->shape.sizeOf(channelOf(operands[0].array->shape));
    for (int64_t n = 0; n < static_cast<int64_t>(op.getOrder()) && features > 0; ++n)
      if (llvm::MulOverflow(features, channels, features) || features > std::numeric_limits<int32_t>::max())
        return op.emitOpError("unsupported state of order ")
               << op.getOrder() << " of " << channels
               << " channels: it has more than 2^31 - 1 features; use a lower order";
    finalState.values.assign(finalState.shape.count(), 0);
    if (recurrence->initial && recurrence->initial->shape.count() != finalState.shape.count())
      return op.emitOpError("expected an initial state ")
             << finalState.shape.str() << ", but got " << recurrence->initial->shape.str();
  }
  Evaluated evaluated;
  Array counts;
  evaluated.results = recurrence->evaluate(std::move(finalState), counts);
  // A row without keys still reads the initial state.
  const Array everywhere(Shape(), 1);
  evaluated.sees.assign(evaluated.results.size(), recurrence->initial ? everywhere : seeingRows(counts));
  if (recurrence->state >= 0)
    evaluated.sees[recurrence->state] = everywhere;
  evaluated.pullback = [recurrence](ArrayRef<Array> cotangents) { return recurrence->pullback(cotangents); };
  return evaluated;
}

ArrayRef<EvaluationRule> taylor::reference::getStateRules() {
  static const EvaluationRule rules[] = {ruleOf<RecurrenceOp, evaluateRecurrence>()};
  return rules;
}

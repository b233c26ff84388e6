// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations with a formula: map, reduce and scan.
#include "dialect/Reference/Operations.h"
#include "dialect/Reference/RegionProgram.h"
#include "dialect/Taylor/BodySyntax.h"
#include <memory>

using namespace mlir;
using namespace taylor;
using namespace taylor::reference;

Shape taylor::reference::shapeOf(ArrayType type, const Environment &environment) {
  Shape shape;
  for (auto [axis, size] : llvm::zip_equal(type.getAxes(), type.getSizes()))
    shape.append(axis, size == ArrayType::kUnknown ? environment.sizeOf(axis) : size);
  return shape;
}

static SmallVector<const Array *> shadowsOf(ArrayRef<EvaluatedOperand> operands) {
  SmallVector<const Array *> shadows;
  for (const EvaluatedOperand &operand : operands)
    if (operand.sees && !operand.sees->values.empty())
      shadows.push_back(operand.sees);
  return shadows;
}

Array taylor::reference::mixSees(ArrayRef<EvaluatedOperand> operands) {
  return shadowsOf(operands).empty() ? Array() : Array(Shape(), 1);
}

Array taylor::reference::joinSees(ArrayRef<EvaluatedOperand> operands, const Shape &shape) {
  SmallVector<const Array *> shadows = shadowsOf(operands);
  if (shadows.empty())
    return {};
  Shape joined;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    StringRef axis = shape.axes[i];
    if (llvm::any_of(shadows, [&](const Array *sees) {
          return sees->shape.has(axis) || (axis == AxisRole::Head && sees->shape.has(AxisRole::KeyHead));
        }))
      joined.append(axis, shape.sizes[i]);
  }
  Array result(joined);
  for (const Array *sees : shadows) {
    Walk walk(sees->shape, joined);
    int64_t element = 0;
    forEachPoint(joined, [&](ArrayRef<int64_t> point) {
      Real &value = result.values[element++];
      value = std::max(value, sees->values[walk(point)]);
    });
  }
  return result;
}

Lines::Lines(const Shape &shape, AxisRef axis) {
  int64_t place = shape.find(axis);
  for (int64_t i = 0; i < shape.rank(); ++i)
    (i < place ? outer : i > place ? stride : length) *= shape.sizes[i];
}

void Lines::forEach(llvm::function_ref<void(int64_t)> visit) const {
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t s = 0; s < stride; ++s)
      visit(o * length * stride + s);
}

namespace {

/// A formula over arrays at the points of a loop, and where it does not run: at rows where all its sums are
/// empty, and where a `live` count is 0. Where it joins empty sums with others, parts of it may not run.
class Body {
public:
  Body(const Environment &environment, Shape loop)
      : environment(environment), program(environment), loop(std::move(loop)) {}

  LogicalResult build(Region &region, ArrayRef<EvaluatedOperand> arrays, ArrayRef<EvaluatedOperand> live) {
    SmallVector<int> arguments, yielded;
    for (const EvaluatedOperand &operand : arrays) {
      operands.push_back(operand);
      arguments.push_back(program.addArgument(operand.differentiable));
      walks.emplace_back(operand.array->shape, loop);
      if (operand.sees && !operand.sees->values.empty())
        shadows.push_back({operand.sees, Walk(operand.sees->shape, loop), arguments.back()});
    }
    for (const EvaluatedOperand &operand : live)
      guards.push_back({operand.array, Walk(operand.array->shape, loop)});
    if (failed(program.append(region, arguments, yielded)))
      return failure();
    program.addResult(yielded[0]);
    argumentRegisters = arguments;
    for (const RegionProgram::Index &index : program.getIndices())
      indices.push_back({loop.find(index.axis), index.axis, index.reg});
    registers = program.makeRegisters();
    cotangents.resize(registers.size());
    sums.assign(registers.size(), Sums::None);
    return success();
  }

  bool runsAt(ArrayRef<int64_t> point) const {
    return llvm::all_of(guards,
                        [&](const Guard &guard) { return guard.array->values[guard.walk(point)] != 0; }) &&
           (shadows.empty() || llvm::any_of(shadows, [&](const Shadow &shadow) {
              return shadow.sees->values[shadow.walk(point)] != 0;
            }));
  }

  Real evaluate(ArrayRef<int64_t> point) {
    for (size_t i = 0; i < operands.size(); ++i)
      registers[argumentRegisters[i]] = operands[i].array->values[walks[i](point)];
    for (const Index &index : indices)
      registers[index.reg] = environment.position(index.axis, point[index.place]);
    bool anyEmpty = false;
    for (const Shadow &shadow : shadows) {
      bool sees = shadow.sees->values[shadow.walk(point)] != 0;
      anyEmpty |= !sees;
      sums[shadow.reg] = sees ? Sums::Seeing : Sums::Empty;
    }
    joins = anyEmpty;
    program.run(registers, joins ? &sums : nullptr);
    return registers[program.getResults()[0]];
  }

  std::vector<Array> makeGradients() const {
    std::vector<Array> gradients;
    for (const EvaluatedOperand &operand : operands)
      gradients.push_back(operand.differentiable ? Array(operand.array->shape) : Array());
    return gradients;
  }

  /// Adds to `gradients` at one point, given the cotangent of the formula there.
  void pullback(ArrayRef<int64_t> point, Real cotangent, std::vector<Array> &gradients) {
    if (cotangent == 0)
      return;
    evaluate(point);
    std::fill(cotangents.begin(), cotangents.end(), Real(0));
    cotangents[program.getResults()[0]] = cotangent;
    program.pullback(registers, cotangents, joins ? &sums : nullptr);
    for (size_t i = 0; i < operands.size(); ++i)
      if (operands[i].differentiable)
        accumulate(gradients[i].values[walks[i](point)], cotangents[argumentRegisters[i]],
                   environment.arithmetic.accumulator);
  }

  /// The whole pullback, where cotangentAt gives the cotangent of the formula.
  std::vector<Array> pullbackAll(llvm::function_ref<Real(ArrayRef<int64_t>)> cotangentAt) {
    std::vector<Array> gradients = makeGradients();
    forEachPoint(loop, [&](ArrayRef<int64_t> point) {
      if (runsAt(point))
        pullback(point, cotangentAt(point), gradients);
    });
    for (Array &gradient : gradients)
      roundAll(gradient, environment.arithmetic.value);
    return gradients;
  }

  const Environment &environment;
  RegionProgram program;
  Shape loop;

private:
  using Sums = RegionProgram::Sums;
  struct Guard {
    const Array *array;
    Walk walk;
  };
  struct Shadow {
    const Array *sees;
    Walk walk;
    int reg;
  };
  struct Index {
    int64_t place;
    std::string axis;
    int reg;
  };
  SmallVector<EvaluatedOperand> operands;
  SmallVector<Walk> walks;
  SmallVector<Guard> guards;
  SmallVector<Shadow> shadows;
  /// What each register depends on, and whether it matters, at the point that was evaluated last.
  std::vector<Sums> sums;
  bool joins = false;
  SmallVector<Index> indices;
  SmallVector<int> argumentRegisters;
  std::vector<Real> registers, cotangents;
};

/// The pullback of operands after the arrays: guards have no derivative.
std::vector<Array> withGuards(std::vector<Array> gradients, size_t operands) {
  gradients.resize(operands);
  return gradients;
}

FailureOr<Shape> joinedShape(Operation *op, Region &region, ValueRange arrays,
                             const Environment &environment) {
  FailureOr<ArrayType> joined = joinBody([op] { return op->emitOpError(); }, region, arrays);
  if (failed(joined))
    return failure();
  return shapeOf(*joined, environment);
}

} // namespace

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

static FailureOr<Evaluated> evaluateMap(MapOp op, ArrayRef<EvaluatedOperand> operands,
                                        const Environment &environment) {
  Shape shape = shapeOf(op.getResult().getType(), environment);
  auto body = std::make_shared<Body>(environment, shape);
  size_t arrays = op.getArrays().size(), count = operands.size();
  if (failed(body->build(op.getBody(), operands.take_front(arrays), operands.drop_front(arrays))))
    return failure();
  Array result(shape);
  int64_t element = 0;
  forEachPoint(shape, [&](ArrayRef<int64_t> point) {
    result.values[element++] = body->runsAt(point) ? body->evaluate(point) : 0;
  });
  Evaluated evaluated;
  evaluated.results.push_back(std::move(result));
  evaluated.sees.push_back(joinSees(operands.take_front(arrays), shape));
  evaluated.pullback = [body, count](ArrayRef<Array> cotangents) {
    Walk walk(cotangents[0].shape, body->loop);
    return withGuards(
        body->pullbackAll([&](ArrayRef<int64_t> point) { return cotangents[0].values[walk(point)]; }), count);
  };
  return evaluated;
}

//===----------------------------------------------------------------------===//
// Reduce
//===----------------------------------------------------------------------===//

namespace {

/// max: what the largest terms get; ties share equally. Where it is a NaN, it has no derivative at any term.
std::vector<Array> pullbackMax(Body &body, const Array &result, const Array &cotangent) {
  Walk walk(result.shape, body.loop);
  Array ties(result.shape);
  forEachPoint(body.loop, [&](ArrayRef<int64_t> point) {
    if (body.runsAt(point) && body.evaluate(point) == result.values[walk(point)])
      ties.values[walk(point)] += 1;
  });
  const Rounding &rounding = body.environment.arithmetic.value;
  return body.pullbackAll([&](ArrayRef<int64_t> point) -> Real {
    int64_t at = walk(point);
    if (std::isnan(result.values[at]) && cotangent.values[at] != 0)
      return result.values[at];
    return body.evaluate(point) == result.values[at] ? rounding(cotangent.values[at] / ties.values[at]) : 0;
  });
}

} // namespace

static FailureOr<Evaluated> evaluateReduce(ReduceOp op, ArrayRef<EvaluatedOperand> operands,
                                           const Environment &environment) {
  FailureOr<Shape> loop = joinedShape(op, op.getBody(), op.getArrays(), environment);
  if (failed(loop))
    return failure();
  auto body = std::make_shared<Body>(environment, *loop);
  size_t arrays = op.getArrays().size(), count = operands.size();
  if (failed(body->build(op.getBody(), operands.take_front(arrays), operands.drop_front(arrays))))
    return failure();

  Shape shape = shapeOf(op.getResult().getType(), environment);
  Reduction kind = op.getKind();
  Array result(shape), terms(shape);
  Walk walk(shape, *loop);
  forEachPoint(*loop, [&](ArrayRef<int64_t> point) {
    if (!body->runsAt(point))
      return;
    int64_t at = walk(point);
    Real value = body->evaluate(point);
    Real &sum = result.values[at];
    if (kind == Reduction::Max)
      sum = terms.values[at] == 0 || std::isnan(value) || value > sum ? value : sum;
    else
      accumulate(sum, value, environment.arithmetic.accumulator);
    terms.values[at] += 1;
  });
  Real divisor = kind == Reduction::Mean && shape.count() ? Real(loop->count()) / shape.count() : 1;
  for (Real &value : result.values)
    value = environment.arithmetic.value(value / divisor);

  Evaluated evaluated;
  Array &sees = evaluated.sees.emplace_back();
  if (!shadowsOf(operands.take_front(arrays)).empty()) {
    sees = Array(shape);
    for (auto [value, number] : llvm::zip_equal(sees.values, terms.values))
      value = number != 0;
  }
  evaluated.results.push_back(result);
  evaluated.pullback = [body, count, kind, divisor, result](ArrayRef<Array> cotangents) {
    if (kind == Reduction::Max)
      return withGuards(pullbackMax(*body, result, cotangents[0]), count);
    Walk walk(cotangents[0].shape, body->loop);
    const Rounding &rounding = body->environment.arithmetic.value;
    auto at = [&](ArrayRef<int64_t> point) { return rounding(cotangents[0].values[walk(point)] / divisor); };
    return withGuards(body->pullbackAll(at), count);
  };
  return evaluated;
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

namespace {

struct ScanRule {
  ScanKind kind;
  bool exclusive, reverse;
  int64_t amount;
  /// The document of each element; empty: all are of one.
  std::vector<Real> documents;

  /// Calls `visit(length, element)` for each line, where element(i) is the place of the i-th in the order of
  /// the scan. The elements of a document are a line of their own.
  template <typename Visit> void forEachLine(const Shape &shape, AxisRef axis, Visit visit) const {
    Lines lines(shape, axis);
    lines.forEach([&](int64_t begin) {
      auto place = [&](int64_t i) { return begin + (reverse ? lines.length - 1 - i : i) * lines.stride; };
      for (int64_t first = 0, past; first < lines.length; first = past) {
        for (past = first + 1; past < lines.length; ++past)
          if (!documents.empty() && documents[place(past)] != documents[place(first)])
            break;
        visit(past - first, [&](int64_t i) { return place(first + i); });
      }
    });
  }

  /// Sums up or shifts each line in place.
  void apply(Array &array, AxisRef axis, const RoundingRules &arithmetic) const {
    forEachLine(array.shape, axis, [&](int64_t length, auto place) {
      auto element = [&](int64_t i) -> Real & { return array.values[place(i)]; };
      std::vector<Real> line(length);
      for (int64_t i = 0; i < length; ++i)
        line[i] = element(i);
      Real sum = 0;
      for (int64_t i = 0; i < length; ++i) {
        if (kind == ScanKind::Shift) {
          element(i) = i >= amount ? line[i - amount] : 0;
          continue;
        }
        if (kind == ScanKind::Low) { // what rounding leaves of the sum: nothing, of real numbers
          element(i) = 0;
          continue;
        }
        Real before = sum;
        accumulate(sum, line[i], arithmetic.accumulator);
        element(i) = arithmetic.value(exclusive ? before : sum);
      }
    });
  }

  /// Of each element, where its maximum stands: the last of equals, as in torch, a NaN before all; -1 where
  /// there are no terms.
  std::vector<int64_t> findMaxima(const Array &terms, AxisRef axis) const {
    std::vector<int64_t> maxima(terms.values.size());
    forEachLine(terms.shape, axis, [&](int64_t length, auto place) {
      int64_t best = -1;
      for (int64_t i = 0; i < length; ++i) {
        int64_t at = place(i), before = best;
        bool isLarger = best < 0 || !(terms.values[at] < terms.values[best]);
        if (isLarger && (best < 0 || !std::isnan(terms.values[best])))
          best = at;
        maxima[at] = exclusive ? before : best;
      }
    });
    return maxima;
  }
};

/// The operand's cotangent of what `findMaxima` found.
Array pullbackMaxima(ArrayRef<int64_t> maxima, const Array &cotangent, const RoundingRules &arithmetic) {
  Array sums(cotangent.shape);
  for (auto [place, value] : llvm::zip_equal(maxima, cotangent.values))
    if (place >= 0)
      accumulate(sums.values[place], value, arithmetic.accumulator);
  for (Real &value : sums.values)
    value = arithmetic.value(value);
  return sums;
}

} // namespace

static FailureOr<Evaluated> evaluateScan(ScanOp op, ArrayRef<EvaluatedOperand> operands,
                                         const Environment &environment) {
  Shape shape = shapeOf(op.getResult().getType(), environment);
  auto body = std::make_shared<Body>(environment, shape);
  size_t operandCount = operands.size();
  if (failed(body->build(op.getBody(), operands.take_front(op.getArrays().size()), {})))
    return failure();
  ScanRule rule = {
      op.getKind(), op.getExclusive(), op.getReverse(), static_cast<int64_t>(op.getAmount()), {}};
  if (op.getWithin()) {
    const Array &within = *operands.back().array;
    Walk walk(within.shape, shape);
    forEachPoint(shape,
                 [&](ArrayRef<int64_t> point) { rule.documents.push_back(within.values[walk(point)]); });
  }
  std::string axis = op.getAxis().str();

  Array result(shape);
  int64_t element = 0;
  forEachPoint(shape, [&](ArrayRef<int64_t> point) {
    result.values[element++] = body->runsAt(point) ? body->evaluate(point) : Real(op.getIdentity());
  });
  std::vector<int64_t> maxima;
  if (rule.kind == ScanKind::Max) {
    maxima = rule.findMaxima(result, axis);
    Array terms = std::move(result);
    result = Array(shape);
    for (auto [value, place] : llvm::zip_equal(result.values, maxima))
      value = environment.arithmetic.value(place < 0 ? Real(op.getIdentity()) : terms.values[place]);
  } else {
    rule.apply(result, axis, environment.arithmetic);
  }

  Evaluated evaluated;
  evaluated.results.push_back(std::move(result));
  // A row mixes tokens: dead ones add nothing to it, and do not make it dead.
  evaluated.sees.push_back(mixSees(operands));
  evaluated.pullback = [body, rule, axis, maxima, operandCount](ArrayRef<Array> cotangents) {
    const RoundingRules &arithmetic = body->environment.arithmetic;
    Array cotangent = cotangents[0];
    if (rule.kind == ScanKind::Max) {
      cotangent = pullbackMaxima(maxima, cotangent, arithmetic);
    } else {
      // The transpose of a sum or a shift runs from the other end.
      ScanRule transposed = rule;
      transposed.reverse = !rule.reverse;
      transposed.apply(cotangent, axis, arithmetic);
    }
    Walk walk(cotangent.shape, body->loop);
    std::vector<Array> gradients =
        body->pullbackAll([&](ArrayRef<int64_t> point) { return cotangent.values[walk(point)]; });
    gradients.resize(operandCount);
    return gradients;
  };
  return evaluated;
}

ArrayRef<EvaluationRule> taylor::reference::getLocalRules() {
  static const EvaluationRule rules[] = {ruleOf<MapOp, evaluateMap>(), ruleOf<ReduceOp, evaluateReduce>(),
                                         ruleOf<ScanOp, evaluateScan>()};
  return rules;
}

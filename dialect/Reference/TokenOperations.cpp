// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on tokens and channels without a formula: align, normalize, rope, convolve and
// gated_sum.
#include "dialect/Reference/Operations.h"
#include <cmath>

using namespace mlir;
using namespace taylor;
using namespace taylor::reference;

//===----------------------------------------------------------------------===//
// Align
//===----------------------------------------------------------------------===//

/// y[.., j, ..] = x[.., j + shift, ..] along a line of the given lengths; 0 outside.
static Array shiftTokens(const Array &x, StringRef from, const Shape &shape, StringRef to, int64_t shift) {
  Array y(shape);
  Lines source(x.shape, from), target(shape, to);
  for (int64_t o = 0; o < target.outer; ++o)
    for (int64_t j = 0; j < target.length; ++j)
      for (int64_t s = 0; s < target.stride; ++s)
        if (int64_t i = j + shift; i >= 0 && i < source.length)
          y.values[(o * target.length + j) * target.stride + s] =
              x.values[(o * source.length + i) * source.stride + s];
  return y;
}

LogicalResult taylor::reference::verifyQueriesAtKeys(Operation *op, StringRef purpose,
                                                     const Environment &environment) {
  int64_t end = environment.offset + environment.sizeOf(AxisRole::Query);
  int64_t keys = environment.sizeOf(AxisRole::Key);
  if (environment.offset >= 0 && end <= keys)
    return success();
  return op->emitOpError("requires every query at a key's position")
         << purpose << ", but got queries " << environment.offset << " to " << end - 1 << " of " << keys
         << " keys; give more keys, or another offset";
}

static FailureOr<Evaluated> evaluateAlign(AlignOp op, ArrayRef<EvaluatedOperand> operands,
                                          const Environment &environment) {
  std::string to = op.getAxis().str();
  std::string from(nameOf(to == AxisRole::Query ? AxisRole::Key : AxisRole::Query));
  int64_t shift = to == AxisRole::Query ? environment.offset : -environment.offset;
  if (failed(verifyQueriesAtKeys(op, "", environment)))
    return failure();
  const Array &x = *operands[0].array;
  Evaluated evaluated;
  evaluated.results.push_back(
      shiftTokens(x, from, shapeOf(op.getResult().getType(), environment), to, shift));
  evaluated.sees.push_back(mixSees(operands));
  evaluated.pullback = [=, shape = x.shape](ArrayRef<Array> cotangents) {
    return std::vector<Array>{shiftTokens(cotangents[0], to, shape, from, -shift)};
  };
  return evaluated;
}

//===----------------------------------------------------------------------===//
// Normalize
//===----------------------------------------------------------------------===//

namespace {

/// One line x[0..n) of a norm, and its normalised values.
struct NormLine {
  Norm kind;
  Real epsilon;

  /// Writes the normalised line, and gives the factor that it was multiplied with.
  Real evaluate(ArrayRef<Real> x, MutableArrayRef<Real> y) const {
    Real mean = 0, square = 0;
    if (kind == Norm::Layer) {
      for (Real value : x)
        mean += value;
      mean /= x.size();
    }
    for (Real value : x)
      square += (value - mean) * (value - mean);
    Real factor =
        isL2() ? 1 / std::max(std::sqrt(square), epsilon) : 1 / std::sqrt(square / x.size() + epsilon);
    for (size_t i = 0; i < x.size(); ++i)
      y[i] = (x[i] - mean) * factor;
    return factor;
  }

  /// dx for a cotangent dy of the normalised line y.
  void pullback(ArrayRef<Real> x, ArrayRef<Real> y, Real factor, ArrayRef<Real> dy,
                MutableArrayRef<Real> dx) const {
    Real along = 0, mean = 0, square = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      along += dy[i] * y[i];
      mean += dy[i];
      square += x[i] * x[i];
    }
    if (isL2()) {
      // Below its bound the denominator is a constant.
      if (std::sqrt(square) < epsilon)
        along = 0;
      mean = 0;
    } else {
      along /= x.size();
      mean = kind == Norm::Layer ? mean / x.size() : 0;
    }
    for (size_t i = 0; i < x.size(); ++i)
      dx[i] = factor * (dy[i] - mean - y[i] * along);
  }

private:
  bool isL2() const { return kind == Norm::L2; }
};

/// Normalises an array along an axis; `factors` gets one number per line.
void normalizeLines(const NormLine &norm, const Array &x, AxisRef axis, Array &y,
                    std::vector<Real> &factors) {
  Lines lines(x.shape, axis);
  std::vector<Real> in(lines.length), out(lines.length);
  lines.forEach([&](int64_t begin) {
    for (int64_t i = 0; i < lines.length; ++i)
      in[i] = x.values[begin + i * lines.stride];
    factors.push_back(norm.evaluate(in, out));
    for (int64_t i = 0; i < lines.length; ++i)
      y.values[begin + i * lines.stride] = out[i];
  });
}

/// y * weight + bias at the points of the result, and the gradients of all three.
struct Affine {
  const Array *weight, *bias;
  Shape loop;
  Array sees;

  Affine(const Array *weight, const Array *bias, Shape loop, Array sees)
      : weight(weight), bias(bias), loop(std::move(loop)), sees(std::move(sees)) {}

  Array evaluate(const Array &y, const Rounding &rounding) const {
    Array result(loop);
    Walk at(y.shape, loop), atSees(sees.shape, loop);
    Walk atWeight(weight ? weight->shape : Shape(), loop), atBias(bias ? bias->shape : Shape(), loop);
    int64_t element = 0;
    forEachPoint(loop, [&](ArrayRef<int64_t> point) {
      Real &value = result.values[element++];
      if (!sees.values.empty() && sees.values[atSees(point)] == 0)
        return;
      value = y.values[at(point)] * (weight ? weight->values[atWeight(point)] : 1);
      value = rounding(value + (bias ? bias->values[atBias(point)] : 0));
    });
    return result;
  }

  void pullback(const Array &y, const Array &cotangent, Array &dy, Array &dWeight, Array &dBias,
                const Rounding &rounding) const {
    Walk at(y.shape, loop), atSees(sees.shape, loop), atCotangent(cotangent.shape, loop);
    Walk atWeight(dWeight.shape, loop), atBias(dBias.shape, loop);
    forEachPoint(loop, [&](ArrayRef<int64_t> point) {
      Real dz = cotangent.values[atCotangent(point)];
      if (dz == 0 || (!sees.values.empty() && sees.values[atSees(point)] == 0))
        return;
      dy.values[at(point)] += weight ? dz * weight->values[atWeight(point)] : dz;
      if (weight)
        accumulate(dWeight.values[atWeight(point)], dz * y.values[at(point)], rounding);
      if (bias)
        accumulate(dBias.values[atBias(point)], dz, rounding);
    });
  }
};

} // namespace

static FailureOr<Evaluated> evaluateNormalize(NormalizeOp op, ArrayRef<EvaluatedOperand> operands,
                                              const Environment &environment) {
  NormLine norm = {op.getKind(), op.getEpsilon().convertToDouble()};
  std::string axis = op.getAxis().str();
  const Array *x = operands[0].array;
  size_t place = 1;
  const Array *weight = op.getWeight() ? operands[place++].array : nullptr;
  const Array *bias = op.getBias() ? operands[place++].array : nullptr;

  // Eager code has this in one kernel that rounds once, so `y` stays exact.
  Array y(x->shape);
  std::vector<Real> factors;
  normalizeLines(norm, *x, axis, y, factors);
  Shape loop = shapeOf(op.getResult().getType(), environment);
  Affine affine(weight, bias, loop, joinSees(operands, loop));

  Evaluated evaluated;
  evaluated.results.push_back(affine.evaluate(y, environment.arithmetic.value));
  evaluated.sees.push_back(affine.sees);
  evaluated.pullback = [=, arithmetic = environment.arithmetic](ArrayRef<Array> cotangents) {
    Array dy(x->shape), dWeight = weight ? Array(weight->shape) : Array(),
                        dBias = bias ? Array(bias->shape) : Array();
    affine.pullback(y, cotangents[0], dy, dWeight, dBias, arithmetic.accumulator);
    Array dx(x->shape);
    Lines lines(x->shape, axis);
    std::vector<Real> xLine(lines.length), yLine(lines.length), dyLine(lines.length), dxLine(lines.length);
    auto factor = factors.begin();
    lines.forEach([&](int64_t begin) {
      bool any = false;
      for (int64_t i = 0; i < lines.length; ++i) {
        int64_t element = begin + i * lines.stride;
        xLine[i] = x->values[element];
        yLine[i] = y.values[element];
        dyLine[i] = dy.values[element];
        any |= dyLine[i] != 0;
      }
      Real lineFactor = *factor++;
      if (!any)
        return;
      norm.pullback(xLine, yLine, lineFactor, dyLine, dxLine);
      for (int64_t i = 0; i < lines.length; ++i)
        dx.values[begin + i * lines.stride] = dxLine[i];
    });
    std::vector<Array> gradients = {std::move(dx)};
    if (weight)
      gradients.push_back(std::move(dWeight));
    if (bias)
      gradients.push_back(std::move(dBias));
    for (Array &gradient : gradients)
      roundAll(gradient, arithmetic.value);
    return gradients;
  };
  return evaluated;
}

//===----------------------------------------------------------------------===//
// Rope
//===----------------------------------------------------------------------===//

namespace {

struct TokenRotation {
  std::string channel;
  RopeLayout layout;
  /// Of the positions: of one row of tokens, or of one per batch.
  Shape positions;
  /// cosine and sine of [positions, pairs]
  std::vector<Real> cosine, sine;

  Array apply(const Array &x, bool inverse, const Rounding &rounding) const {
    Array y(x.shape);
    Shape lines = x.shape.without({channel});
    Walk walk(x.shape, lines);
    int64_t pairs = x.shape.sizeOf(channel) / 2, stride = Lines(x.shape, channel).stride;
    Walk atPosition(positions, lines);
    forEachPoint(lines, [&](ArrayRef<int64_t> point) {
      int64_t begin = walk(point), angles = atPosition(point) * pairs;
      for (int64_t i = 0; i < pairs; ++i) {
        int64_t first = layout == RopeLayout::Half ? i : 2 * i;
        int64_t second = layout == RopeLayout::Half ? i + pairs : 2 * i + 1;
        Real c = cosine[angles + i], s = sine[angles + i] * (inverse ? -1 : 1);
        Real a = x.values[begin + first * stride], b = x.values[begin + second * stride];
        y.values[begin + first * stride] = rounding(rounding(a * c) - rounding(b * s));
        y.values[begin + second * stride] = rounding(rounding(a * s) + rounding(b * c));
      }
    });
    return y;
  }
};

} // namespace

static FailureOr<Evaluated> evaluateRope(RopeOp op, ArrayRef<EvaluatedOperand> operands,
                                         const Environment &environment) {
  const Array &x = *operands[0].array;
  TokenRotation rotation;
  rotation.channel = op.getChannel().str();
  rotation.layout = op.getLayout();
  const Rounding &rounding = environment.arithmetic.value;
  int64_t channels = x.shape.sizeOf(rotation.channel);
  if (channels % 2)
    return op.emitOpError("requires an even number of channels to rotate in pairs, but got ")
           << rotation.channel << " = " << channels;
  Real theta = op.getTheta().convertToDouble();
  const Array *given = op.getPositions() ? operands[1].array : nullptr;
  StringRef token = op.getToken();
  if (given)
    rotation.positions = given->shape;
  else
    rotation.positions.append(token, x.shape.sizeOf(token));
  for (int64_t number = 0, count = rotation.positions.count(); number < count; ++number) {
    Real position = (given ? given->values[number] : Real(environment.position(token, number))) +
                    static_cast<int64_t>(op.getOffset());
    for (int64_t i = 0; i < channels / 2; ++i) {
      // Angles depend on positions alone: exact, then cosine and sine are rounded as tables in the type are.
      Real angle = position * std::pow(theta, -2 * Real(i) / channels);
      rotation.cosine.push_back(rounding(std::cos(angle)));
      rotation.sine.push_back(rounding(std::sin(angle)));
    }
  }
  bool inverse = op.getInverse();
  size_t operandCount = operands.size();
  Evaluated evaluated;
  evaluated.results.push_back(rotation.apply(x, inverse, rounding));
  evaluated.sees.push_back(operands[0].sees ? *operands[0].sees : Array());
  evaluated.pullback = [=](ArrayRef<Array> cotangents) {
    std::vector<Array> gradients = {rotation.apply(cotangents[0], !inverse, rounding)};
    gradients.resize(operandCount);
    return gradients;
  };
  return evaluated;
}

//===----------------------------------------------------------------------===//
// Convolve
//===----------------------------------------------------------------------===//

/// Calls visit(y, x, w) for every product y += w x, all by element.
static void forEachTap(const Shape &array, const Shape &taps, StringRef tapAxis, const Array *within,
                       bool reverse, llvm::function_ref<void(int64_t y, int64_t x, int64_t w)> visit) {
  AxisRef token = array.has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key;
  int64_t count = taps.sizeOf(tapAxis), stride = Lines(array, token).stride, tokens = array.sizeOf(token);
  Shape loop = array;
  loop.append(tapAxis, count);
  Walk atArray(array, loop), atTaps(taps, loop);
  std::optional<Walk> atDocument;
  if (within)
    atDocument.emplace(within->shape, loop);
  int64_t tokenPlace = array.find(token), nextDocument = within ? Lines(within->shape, token).stride : 0;
  forEachPoint(loop, [&](ArrayRef<int64_t> point) {
    int64_t back = count - 1 - point.back(), shift = reverse ? back : -back;
    int64_t source = point[tokenPlace] + shift;
    if (source < 0 || source >= tokens)
      return;
    int64_t document = within ? (*atDocument)(point) : 0;
    if (!within || within->values[document] == within->values[document + shift * nextDocument])
      visit(atArray(point), atArray(point) + shift * stride, atTaps(point));
  });
}

static FailureOr<Evaluated> evaluateConvolve(ConvolveOp op, ArrayRef<EvaluatedOperand> operands,
                                             const Environment &environment) {
  const Array &x = *operands[0].array, &taps = *operands[1].array;
  const Array *within = op.getWithin() ? operands[2].array : nullptr;
  std::string tapAxis = op.getTapAxis().str();
  bool reverse = op.getReverse();
  RoundingRules arithmetic = environment.arithmetic;
  Array y(x.shape);
  forEachTap(x.shape, taps.shape, tapAxis, within, reverse, [&](int64_t to, int64_t from, int64_t tap) {
    accumulate(y.values[to], taps.values[tap] * x.values[from], arithmetic.accumulator);
  });
  roundAll(y, arithmetic.value);
  Evaluated evaluated;
  evaluated.results.push_back(std::move(y));
  evaluated.sees.push_back(mixSees(operands));
  evaluated.pullback = [&x, &taps, tapAxis, within, reverse, arithmetic](ArrayRef<Array> cotangents) {
    Array dx(x.shape), dTaps(taps.shape);
    forEachTap(x.shape, taps.shape, tapAxis, within, reverse, [&](int64_t to, int64_t from, int64_t tap) {
      Real dy = cotangents[0].values[to];
      if (dy == 0)
        return;
      accumulate(dx.values[from], taps.values[tap] * dy, arithmetic.accumulator);
      accumulate(dTaps.values[tap], x.values[from] * dy, arithmetic.accumulator);
    });
    roundAll(dx, arithmetic.value);
    roundAll(dTaps, arithmetic.value);
    std::vector<Array> gradients = {std::move(dx), std::move(dTaps)};
    gradients.resize(within ? 3 : 2);
    return gradients;
  };
  return evaluated;
}

//===----------------------------------------------------------------------===//
// Gated sum
//===----------------------------------------------------------------------===//

namespace {

/// y[element] = gates[gate] y[before] + x[element]; without `before` where a sum begins.
struct GatedStep {
  int64_t element, gate;
  std::optional<int64_t> before;
};

} // namespace

/// All steps, each after the one that it reads.
static std::vector<GatedStep> listSteps(const Shape &array, const Shape &gates, const Array *within,
                                        AxisRef token, bool reverse) {
  Walk atArray(array, array), atGates(gates, array);
  std::optional<Walk> atDocument;
  if (within)
    atDocument.emplace(within->shape, array);
  int64_t place = array.find(token), tokens = array.sizeOf(token);
  std::vector<GatedStep> steps;
  forEachPoint(array, [&](ArrayRef<int64_t> point) {
    SmallVector<int64_t> here(point), before;
    if (reverse)
      here[place] = tokens - 1 - here[place];
    before = here;
    before[place] += reverse ? 1 : -1;
    bool begins = before[place] < 0 || before[place] >= tokens;
    if (!begins && within)
      begins = within->values[(*atDocument)(here)] != within->values[(*atDocument)(before)];
    // Between two tokens the gate of the later one counts.
    steps.push_back({atArray(here), begins ? 0 : atGates(reverse ? before : here),
                     begins ? std::nullopt : std::optional(atArray(before))});
  });
  return steps;
}

static FailureOr<Evaluated> evaluateGatedSum(GatedSumOp op, ArrayRef<EvaluatedOperand> operands,
                                             const Environment &environment) {
  const Array &x = *operands[0].array, &gates = *operands[1].array;
  std::vector<GatedStep> steps = listSteps(x.shape, gates.shape, op.getWithin() ? operands[2].array : nullptr,
                                           op.getToken(), op.getReverse());
  RoundingRules arithmetic = environment.arithmetic;
  Array y = x;
  for (const GatedStep &step : steps)
    if (step.before)
      accumulate(y.values[step.element], gates.values[step.gate] * y.values[*step.before],
                 arithmetic.accumulator);
  roundAll(y, arithmetic.value);
  Evaluated evaluated;
  evaluated.results.push_back(y);
  evaluated.sees.push_back(mixSees(operands));
  evaluated.pullback = [&gates, y, steps, arithmetic, count = operands.size()](ArrayRef<Array> cotangents) {
    Array dx = cotangents[0], dGates(gates.shape);
    for (const GatedStep &step : llvm::reverse(steps)) {
      Real dy = dx.values[step.element];
      if (!step.before || dy == 0)
        continue;
      accumulate(dx.values[*step.before], gates.values[step.gate] * dy, arithmetic.accumulator);
      accumulate(dGates.values[step.gate], y.values[*step.before] * dy, arithmetic.accumulator);
    }
    roundAll(dx, arithmetic.value);
    roundAll(dGates, arithmetic.value);
    std::vector<Array> gradients = {std::move(dx), std::move(dGates)};
    gradients.resize(count);
    return gradients;
  };
  return evaluated;
}

ArrayRef<EvaluationRule> taylor::reference::getTokenRules() {
  static const EvaluationRule rules[] = {
      ruleOf<AlignOp, evaluateAlign>(), ruleOf<NormalizeOp, evaluateNormalize>(),
      ruleOf<RopeOp, evaluateRope>(), ruleOf<ConvolveOp, evaluateConvolve>(),
      ruleOf<GatedSumOp, evaluateGatedSum>()};
  return rules;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States at the edges of chunks or token after token, and what is read from them: the operations of the
// chunked form and of the recurrent one.
#include "dialect/Reference/Vectors.h"

#include "dialect/Features/Features.h"

using namespace mlir;
using namespace taylor;
using namespace taylor::reference;

namespace {

/// Features of an operation, listed, with a weight each.
class FeatureList {
public:
  /// Without weights: 1, or 0 where a feature fills up a block.
  explicit FeatureList(const Features &features, ArrayRef<double> weights = {}) {
    features.forEach([&](const Features::Feature &feature) {
      components.emplace_back(feature.components.begin(), feature.components.end());
      factors.push_back(weights.empty()
                            ? Real(feature.multiplicity != 0)
                            : weights[feature.order - features.first] * Real(feature.multiplicity));
    });
  }
  size_t size() const { return factors.size(); }

  Real evaluate(size_t f, ArrayRef<Real> x) const {
    Real product = factors[f];
    if (product != 0)
      for (int64_t component : components[f])
        product *= x[component];
    return product;
  }

  /// dx += cotangent * the derivative of feature f.
  void pullback(size_t f, ArrayRef<Real> x, Real cotangent, std::vector<Real> &dx) const {
    if (factors[f] == 0)
      return;
    for (size_t i = 0; i < components[f].size(); ++i) {
      Real others = factors[f] * cotangent;
      for (size_t j = 0; j < components[f].size(); ++j)
        if (j != i)
          others *= x[components[f][j]];
      dx[components[f][i]] += others;
    }
  }

private:
  std::vector<SmallVector<int64_t, 4>> components;
  std::vector<Real> factors;
};

int64_t floorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// Which states a token is added to, and which one it reads. There are ceil(T / C) of them, or one.
struct ChunkNumbers {
  ChunkNumbers(const Environment &environment, int64_t chunk, bool opposite)
      : chunk(chunk), offset(environment.offset), queries(environment.sizeOf(AxisRole::Query)),
        count(chunk ? (queries + chunk - 1) / chunk : 1), keys(environment.sizeOf(AxisRole::Key)),
        opposite(opposite) {}

  /// The state that a token reads, which is also where it is added: the first or the last of those that it
  /// belongs to. Below 0 or from `count` on there is none.
  int64_t slotOf(AxisRef token, int64_t index) const {
    if (!chunk)
      return 0;
    if (token == AxisRole::Query)
      return index / chunk;
    int64_t number = floorDiv(index - offset, chunk);
    return opposite ? std::min(number, count) - 1 : std::max<int64_t>(number + 1, 0);
  }
  bool hasSlot(int64_t slot) const { return slot >= 0 && slot < count; }
  /// Whether a reader at a token reads that state: a query before whose chunk no key lies (opposite: after
  /// it) does not.
  bool isRead(AxisRef token, int64_t slot) const {
    if (!hasSlot(slot) || !chunk || token == AxisRole::Key)
      return hasSlot(slot);
    return opposite ? offset + (slot + 1) * chunk < keys : offset + slot * chunk > 0;
  }

  /// The key before the queries of a chunk (opposite: the last of it), or the nearest there is.
  int64_t edgeKey(int64_t slot) const { return nearestKey(offset + (slot + opposite) * chunk - 1); }
  /// The key at the first query of a chunk (opposite: at its last).
  int64_t queryKey(int64_t slot) const {
    int64_t query = opposite ? std::min((slot + 1) * chunk, queries) - 1 : slot * chunk;
    return nearestKey(offset + query);
  }

  int64_t chunk, offset, queries, count, keys;
  bool opposite;

private:
  int64_t nearestKey(int64_t place) const { return std::max<int64_t>(std::min(place, keys - 1), 0); }
};

/// A loop over the batch, the heads or groups, and the tokens of some arrays.
struct TokenLoop {
  TokenLoop(ArrayRef<const Array *> arrays, AxisRef token, const Environment &environment) {
    auto has = [&](AxisRef axis) {
      return llvm::any_of(arrays, [&](const Array *array) { return array->shape.has(axis); });
    };
    if (has(AxisRole::Batch))
      shape.append(AxisRole::Batch, environment.sizeOf(AxisRole::Batch));
    if (has(AxisRole::Head))
      shape.append(AxisRole::Head, environment.sizeOf(AxisRole::Head));
    else if (has(AxisRole::KeyHead))
      shape.append(AxisRole::KeyHead, environment.sizeOf(AxisRole::KeyHead));
    tokenAxis = shape.rank();
    shape.append(token, environment.sizeOf(token));
  }
  int64_t token(ArrayRef<int64_t> point) const { return point[tokenAxis]; }
  Shape shape;
  int64_t tokenAxis;
};

/// One state per chunk: where the state of a chunk begins, for a point of a loop over tokens.
struct StateWalk {
  StateWalk(const Array &state, AxisRef reader, const TokenLoop &loop)
      : walk(state.shape.without({reader}), withoutToken(loop)),
        channels(state.shape.sizeOf(channelOf(state.shape))),
        features(state.shape.sizeOf(AxisRole::Feature)) {
    // [batch.., chunk, f, e]: the chunk's axis is the only one between them.
    perChunk = features * channels;
    chunks = state.shape.has(reader) ? state.shape.sizeOf(reader) : 1;
  }
  int64_t operator()(ArrayRef<int64_t> point, int64_t tokenAxis, int64_t chunk) const {
    SmallVector<int64_t> batch(point);
    batch.erase(batch.begin() + tokenAxis);
    return walk(batch) * chunks + chunk * perChunk;
  }
  static Shape withoutToken(const TokenLoop &loop) {
    Shape shape = loop.shape;
    shape.axes.erase(shape.axes.begin() + loop.tokenAxis);
    shape.sizes.erase(shape.sizes.begin() + loop.tokenAxis);
    return shape;
  }
  Walk walk;
  int64_t channels, features, perChunk, chunks;
};

/// The shape of a state: its reader's token axis counts chunks.
Shape stateShape(Value state, AxisRef reader, int64_t count, const Environment &environment) {
  Shape shape = shapeOf(cast<ArrayType>(state.getType()), environment);
  if (int64_t axis = shape.find(reader); axis >= 0)
    shape.sizes[axis] = count;
  return shape;
}

/// Whether what a token reads counts: `own` is null, or not 0 there.
bool isOwn(const Array *own, const Shape &loop, ArrayRef<int64_t> point) {
  return !own || own->values[Walk(own->shape, loop)(point)] != 0;
}

/// y[point] of an array with one vector (or number) per point.
std::vector<Real> readVector(const Array &array, const Shape &loop, ArrayRef<int64_t> point) {
  if (StringRef channel = channelOf(array.shape); !channel.empty())
    return Vectors(array, channel, loop).read(array, point);
  return {array.values[Walk(array.shape, loop)(point)]};
}
void addVector(Array &array, const Shape &loop, ArrayRef<int64_t> point, ArrayRef<Real> x) {
  if (StringRef channel = channelOf(array.shape); !channel.empty())
    return Vectors(array, channel, loop).add(array, point, x);
  array.values[Walk(array.shape, loop)(point)] += x[0];
}

Evaluated finish(std::vector<Array> results, const Environment &environment) {
  Evaluated evaluated;
  for (Array &result : results)
    roundAll(result, environment.arithmetic.value);
  evaluated.results = std::move(results);
  evaluated.sees.resize(evaluated.results.size());
  // Functions at the pairwise level are not differentiated again.
  evaluated.pullback = [](ArrayRef<Array>) { return std::vector<Array>(); };
  return evaluated;
}

/// Adds to each state what those before it hold (over queries, or opposite: those after it), made smaller by
/// the decay between their edges; nothing where a document ends between them.
void passStates(Array &state, AxisRef reader, const ChunkNumbers &chunks, const Array *decay,
                const Array *within) {
  bool forward = (reader == AxisRole::Query) != chunks.opposite;
  Shape batch = state.shape.without({reader, AxisRole::Feature, channelOf(state.shape)});
  int64_t perChunk = state.shape.sizeOf(AxisRole::Feature) * state.shape.sizeOf(channelOf(state.shape)),
          count = chunks.count;
  int64_t first = 0;
  forEachPoint(batch, [&](ArrayRef<int64_t> point) {
    auto atEdge = [&](const Array &array, int64_t c) {
      int64_t keys = array.shape.sizeOf(AxisRole::Key);
      return keys == 0 ? Real(0)
                       : array.values[Walk(array.shape.without({AxisRole::Key}), batch)(point) * keys +
                                      chunks.edgeKey(c)];
    };
    auto edge = [&](int64_t c) { return atEdge(*decay, c); };
    for (int64_t step = 1; step < count; ++step) {
      int64_t to = forward ? step : count - 1 - step, from = forward ? to - 1 : to + 1;
      if (within && atEdge(*within, from) != atEdge(*within, to))
        continue;
      Real kept = !decay ? Real(1) : std::exp(forward ? edge(to) - edge(from) : edge(from) - edge(to));
      for (int64_t i = 0; i < perChunk; ++i)
        state.values[first + to * perChunk + i] += kept * state.values[first + from * perChunk + i];
    }
    first += count * perChunk;
  });
}

/// What a token leaves of a state; of another document's, nothing, whatever it holds.
void keepState(Array &state, const Array &keep, int64_t token, bool ofDocuments) {
  Shape batch = state.shape.without({AxisRole::Feature, channelOf(state.shape)});
  Walk atKeep(keep.shape.without({AxisRole::Key}), batch);
  int64_t count = state.shape.sizeOf(AxisRole::Feature) * state.shape.sizeOf(channelOf(state.shape)),
          first = 0;
  forEachPoint(batch, [&](ArrayRef<int64_t> point) {
    Real kept = keep.values[atKeep(point) * keep.shape.sizeOf(AxisRole::Key) + token];
    for (int64_t i = 0; i < count; ++i)
      state.values[first + i] = ofDocuments && kept < 0 ? 0 : state.values[first + i] * kept;
    first += count;
  });
}

} // namespace

static FailureOr<Evaluated> evaluateEdge(EdgeOp op, ArrayRef<EvaluatedOperand> operands,
                                         const Environment &environment) {
  ChunkNumbers chunks(environment, op.getChunk(), op.getOpposite());
  const Array &keys = *operands[0].array;
  std::vector<Array> results;
  Array &result = results.emplace_back(shapeOf(cast<ArrayType>(op.getResult().getType()), environment));
  AxisRef token = result.shape.has(AxisRole::Query) ? AxisRole::Query : AxisRole::Key;
  // The token axis has the same place in both.
  Lines to(result.shape, token), from(keys.shape, AxisRole::Key);
  if (from.length == 0)
    return finish(std::move(results), environment);
  for (int64_t o = 0; o < to.outer; ++o)
    for (int64_t j = 0; j < to.length; ++j) {
      int64_t slot = chunks.slotOf(token, j);
      if (slot < 0)
        continue;
      int64_t key = op.getQuery() ? chunks.queryKey(slot) : chunks.edgeKey(slot);
      for (int64_t s = 0; s < to.stride; ++s)
        result.values[(o * to.length + j) * to.stride + s] =
            keys.values[(o * from.length + key) * to.stride + s];
    }
  return finish(std::move(results), environment);
}

static FailureOr<Evaluated> evaluateStates(StatesOp op, ArrayRef<EvaluatedOperand> operands,
                                           const Environment &environment) {
  StringRef token = op.getToken(), reader = op.getReader();
  ChunkNumbers chunks(environment, op.getChunk(), op.getOpposite());
  FeatureList features(op.getFeatures(), op.getWeightValues());
  SmallVector<const Array *> arrays;
  for (const EvaluatedOperand &operand : operands)
    arrays.push_back(operand.array);
  TokenLoop loop(arrays, token, environment);
  std::vector<Array> states;
  size_t firstInitial = 1 + op.getValues().size();
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    states.emplace_back(stateShape(result, reader, chunks.count, environment));
    if (!op.getInitial().empty())
      states.back() = *arrays[firstInitial + number];
  }
  const Array *own = op.getOwn() ? arrays.back() : nullptr;
  forEachPoint(loop.shape, [&](ArrayRef<int64_t> point) {
    int64_t slot = chunks.slotOf(token, loop.token(point));
    if (!chunks.hasSlot(slot) || !isOwn(own, loop.shape, point))
      return;
    std::vector<Real> x = readVector(*arrays[0], loop.shape, point);
    for (auto [number, state] : llvm::enumerate(states)) {
      std::vector<Real> value = {1};
      if (number < op.getValues().size())
        value = readVector(*arrays[1 + number], loop.shape, point);
      int64_t at = StateWalk(state, reader, loop)(point, loop.tokenAxis, slot);
      for (size_t f = 0; f < features.size(); ++f) {
        Real phi = features.evaluate(f, x);
        for (size_t e = 0; e < value.size(); ++e)
          state.values[at + f * value.size() + e] += phi * value[e];
      }
    }
  });
  // So far each token is in one state only.
  const Array *decay = op.getDecay() ? arrays[1 + op.getValues().size()] : nullptr;
  const Array *within = op.getWithin() ? arrays[1 + op.getValues().size() + (decay != nullptr)] : nullptr;
  for (Array &state : states)
    if (state.shape.has(reader))
      passStates(state, reader, chunks, decay, within);
  return finish(std::move(states), environment);
}

static FailureOr<Evaluated> evaluateReadStates(ReadStatesOp op, ArrayRef<EvaluatedOperand> operands,
                                               const Environment &environment) {
  StringRef token = op.getToken();
  ChunkNumbers chunks(environment, op.getChunk(), op.getOpposite());
  FeatureList features(op.getFeatures(), op.getWeightValues());
  size_t count = op.getStates().size();
  SmallVector<const Array *> arrays;
  std::vector<Array> results;
  for (auto [number, result] : llvm::enumerate(op.getResults())) {
    Array &array = results.emplace_back(shapeOf(cast<ArrayType>(result.getType()), environment));
    if (!op.getInto().empty())
      array = *operands[1 + count + number].array;
  }
  for (const Array &result : results)
    arrays.push_back(&result);
  const Array *own = op.getOwn() ? operands.back().array : nullptr;
  if (own)
    arrays.push_back(own);
  TokenLoop loop(arrays, token, environment);
  forEachPoint(loop.shape, [&](ArrayRef<int64_t> point) {
    int64_t chunk = chunks.slotOf(token, loop.token(point));
    if (!chunks.isRead(token, chunk) || !isOwn(own, loop.shape, point))
      return;
    std::vector<Real> x = readVector(*operands[0].array, loop.shape, point);
    for (auto [number, result] : llvm::enumerate(results)) {
      const Array &state = *operands[1 + number].array;
      StateWalk walk(state, token, loop);
      int64_t at = walk(point, loop.tokenAxis, chunk);
      std::vector<Real> row(walk.channels, 0);
      for (size_t f = 0; f < features.size(); ++f) {
        Real phi = features.evaluate(f, x);
        for (size_t e = 0; e < row.size(); ++e)
          row[e] += phi * state.values[at + f * row.size() + e];
      }
      addVector(result, loop.shape, point, row);
    }
  });
  return finish(std::move(results), environment);
}

static FailureOr<Evaluated> evaluateContractStates(ContractStatesOp op, ArrayRef<EvaluatedOperand> operands,
                                                   const Environment &environment) {
  StringRef token = op.getToken();
  ChunkNumbers chunks(environment, op.getChunk(), op.getOpposite());
  FeatureList features(op.getFeatures(), op.getWeightValues());
  size_t count = op.getStates().size();
  std::vector<Array> results;
  results.emplace_back(shapeOf(cast<ArrayType>(op.getResult().getType()), environment));
  if (op.getInto())
    results[0] = *operands[1 + 2 * count].array;
  SmallVector<const Array *> arrays = {operands[0].array, &results[0]};
  for (size_t j = 0; j < count; ++j)
    arrays.push_back(operands[1 + count + j].array);
  const Array *own = op.getOwn() ? operands.back().array : nullptr;
  if (own)
    arrays.push_back(own);
  TokenLoop loop(arrays, token, environment);
  forEachPoint(loop.shape, [&](ArrayRef<int64_t> point) {
    int64_t chunk = chunks.slotOf(token, loop.token(point));
    if (!chunks.isRead(token, chunk) || !isOwn(own, loop.shape, point))
      return;
    std::vector<Real> x = readVector(*operands[0].array, loop.shape, point), dx(x.size(), 0);
    std::vector<Real> cotangents(features.size(), 0);
    for (size_t j = 0; j < count; ++j) {
      const Array &state = *operands[1 + j].array;
      std::vector<Real> value = readVector(*operands[1 + count + j].array, loop.shape, point);
      int64_t at = StateWalk(state, token, loop)(point, loop.tokenAxis, chunk);
      for (size_t f = 0; f < features.size(); ++f)
        for (size_t e = 0; e < value.size(); ++e)
          cotangents[f] += state.values[at + f * value.size() + e] * value[e];
    }
    for (size_t f = 0; f < features.size(); ++f)
      features.pullback(f, x, cotangents[f], dx);
    addVector(results[0], loop.shape, point, dx);
  });
  return finish(std::move(results), environment);
}

static FailureOr<Evaluated> evaluateStepStates(StepStatesOp op, ArrayRef<EvaluatedOperand> operands,
                                               const Environment &environment) {
  int64_t tokens = environment.sizeOf(AxisRole::Query);
  if (environment.sizeOf(AxisRole::Key) != tokens || environment.offset != 0)
    return op.emitOpError("requires tokens that are queries and keys at once (t = u, offset 0), but got ")
           << tokens << " queries and " << environment.sizeOf(AxisRole::Key) << " keys from "
           << -environment.offset << " on";
  size_t values = op.getValues().size(), reads = op.getReads().size();
  FeatureList features(op.getFeatures());
  std::vector<FeatureList> weighted;
  for (size_t r = 0; r < reads; ++r)
    weighted.emplace_back(op.getFeatures(), op.getWeightValues(r));
  std::vector<Array> rows, states;
  for (Value row : op.getRows())
    rows.emplace_back(shapeOf(cast<ArrayType>(row.getType()), environment));
  for (size_t j = 0; j < op.getInitial().size(); ++j)
    states.push_back(*operands[2 + values + j].array);
  SmallVector<const Array *> summed{operands[1].array}, read{operands[0].array};
  for (size_t j = 0; j < values; ++j)
    summed.push_back(operands[2 + j].array);
  for (const Array &row : rows)
    read.push_back(&row);
  TokenLoop keys(summed, AxisRole::Key, environment), queries(read, AxisRole::Query, environment);
  Shape keysOfOne = StateWalk::withoutToken(keys), queriesOfOne = StateWalk::withoutToken(queries);
  for (int64_t token = 0; token < tokens; ++token) {
    auto at = [&](ArrayRef<int64_t> batch, const TokenLoop &loop) {
      SmallVector<int64_t> point(batch);
      point.insert(point.begin() + loop.tokenAxis, token);
      return point;
    };
    if (op.getKeep())
      for (Array &state : states)
        keepState(state, *operands.back().array, token, op.getDocuments());
    forEachPoint(keysOfOne, [&](ArrayRef<int64_t> batch) {
      SmallVector<int64_t> point = at(batch, keys);
      std::vector<Real> x = readVector(*operands[1].array, keys.shape, point);
      for (auto [number, state] : llvm::enumerate(states)) {
        std::vector<Real> value = {1};
        if (number < values)
          value = readVector(*operands[2 + number].array, keys.shape, point);
        int64_t begin = StateWalk(state, AxisRole::Query, keys)(point, keys.tokenAxis, 0);
        for (size_t f = 0; f < features.size(); ++f) {
          Real phi = features.evaluate(f, x);
          for (size_t e = 0; e < value.size(); ++e)
            state.values[begin + f * value.size() + e] += phi * value[e];
        }
      }
    });
    forEachPoint(queriesOfOne, [&](ArrayRef<int64_t> batch) {
      SmallVector<int64_t> point = at(batch, queries);
      std::vector<Real> x = readVector(*operands[0].array, queries.shape, point);
      for (auto [r, row] : llvm::enumerate(rows)) {
        const Array &state = states[op.getReads()[r]];
        StateWalk walk(state, AxisRole::Query, queries);
        int64_t begin = walk(point, queries.tokenAxis, 0);
        std::vector<Real> y(walk.channels, 0);
        for (size_t f = 0; f < features.size(); ++f) {
          Real phi = weighted[r].evaluate(f, x);
          for (size_t e = 0; e < y.size(); ++e)
            y[e] += phi * state.values[begin + f * y.size() + e];
        }
        addVector(row, queries.shape, point, y);
      }
    });
  }
  for (Array &state : states)
    rows.push_back(std::move(state));
  return finish(std::move(rows), environment);
}

ArrayRef<EvaluationRule> taylor::reference::getChunkRules() {
  static const EvaluationRule rules[] = {ruleOf<EdgeOp, evaluateEdge>(), ruleOf<StatesOp, evaluateStates>(),
                                         ruleOf<ReadStatesOp, evaluateReadStates>(),
                                         ruleOf<ContractStatesOp, evaluateContractStates>(),
                                         ruleOf<StepStatesOp, evaluateStepStates>()};
  return rules;
}

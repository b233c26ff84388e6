// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Checks.h"
#include "passes/Specification/MaskConditions.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace taylor;
using namespace taylor::run;

namespace {

/// The token of each element of an array along one of its axes; -1 for all where it has no such axis.
std::vector<int64_t> tokensOf(const Array &array, AxisRef axis) {
  std::vector<int64_t> tokens(array.values.size(), -1);
  int64_t inner = 1;
  for (int64_t i = array.shape.rank(); i-- > 0;) {
    int64_t size = array.shape.sizes[i];
    if (array.shape.axes[i] == axis)
      for (size_t element = 0; element < tokens.size(); ++element)
        tokens[element] = int64_t(element) / inner % size;
    inner *= size;
  }
  return tokens;
}

void spoil(Array &array, AxisRef axis, const std::set<int64_t> &spoiled, Real value) {
  std::vector<int64_t> tokens = tokensOf(array, axis);
  for (auto [element, token] : llvm::zip_equal(array.values, tokens))
    if (spoiled.contains(token))
      element = value;
}

void spoil(Problem &problem, const std::set<int64_t> &keys, const std::set<int64_t> &queries, Real value) {
  for (auto [input, dtype] : llvm::zip_equal(problem.inputs, problem.inputDtypes)) {
    if (dtype == Dtype::I32)
      continue;
    spoil(input.array, AxisRole::Key, keys, value);
    spoil(input.array, AxisRole::Query, queries, value);
  }
  for (NamedArray &cotangent : problem.cotangents)
    spoil(cotangent.array, AxisRole::Query, queries, value);
}

/// The tiles of a sequence: each piece's begin with it.
struct TokenTiles {
  int64_t tokens;
  ArrayRef<int64_t> pieces; ///< where pieces after the first begin, ascending

  explicit TokenTiles(const RunOptions &options) : tokens(options.spoiledTile), pieces(options.pieces) {}
  /// The first token of a token's tile.
  int64_t beginOf(int64_t token) const {
    auto next = llvm::upper_bound(pieces, token);
    int64_t piece = next == pieces.begin() ? 0 : *std::prev(next);
    return piece + (token - piece) / tokens * tokens;
  }
  /// All tokens of the tiles of some.
  std::set<int64_t> whole(const std::set<int64_t> &some) const {
    std::set<int64_t> all;
    for (int64_t token : some)
      for (int64_t begin = beginOf(token), i = begin; i < begin + tokens && beginOf(i) == begin; ++i)
        all.insert(i);
    return all;
  }
};

/// Queries of which an output is no number.
std::set<int64_t> spoiledRows(const Outcome &evaluated) {
  std::set<int64_t> rows;
  for (const Array &output : evaluated.outputs)
    for (auto [element, token] : llvm::zip_equal(output.values, tokensOf(output, AxisRole::Query)))
      if (!std::isfinite(element))
        rows.insert(token);
  return rows;
}

/// Which elements a spoiled token reaches, by the reference.
std::vector<bool> changed(const Array &before, const Array &after) {
  std::vector<bool> is(before.values.size());
  for (size_t i = 0; i < is.size(); ++i)
    is[i] =
        before.values[i] != after.values[i] && !(std::isnan(before.values[i]) && std::isnan(after.values[i]));
  return is;
}

/// Tokens of the gradients that spoiled ones reach. NaN times a derivative of 0 is NaN here and 0 in the
/// reference (of relu, min(NaN, 2), a weight of order 0); so what reaches one gradient of a token may be seen
/// in all of them.
struct ReachedTokens {
  std::set<int64_t> queries, keys;

  void add(const Array &before, const Array &after) {
    std::vector<bool> is = changed(before, after);
    for (auto [axis, tokens] : {std::pair(AxisRole::Query, &queries), {AxisRole::Key, &keys}})
      for (auto [token, isChanged] : llvm::zip_equal(tokensOf(before, axis), is))
        if (isChanged && token >= 0)
          tokens->insert(token);
  }
};

/// So too, with whole tiles; `tokens`: null for an output.
std::vector<bool> reached(const Array &before, const Array &after, const TokenTiles &tiles,
                          const ReachedTokens *tokens) {
  std::vector<bool> is = changed(before, after);
  std::vector<int64_t> queries = tokensOf(before, AxisRole::Query), keys = tokensOf(before, AxisRole::Key);
  for (size_t i = 0; tokens && i < is.size(); ++i)
    is[i] = is[i] || tokens->queries.contains(queries[i]) || tokens->keys.contains(keys[i]) ||
            (queries[i] < 0 && keys[i] < 0 && !(tokens->queries.empty() && tokens->keys.empty()));
  for (const std::vector<int64_t> &places : {queries, keys}) {
    std::set<int64_t> begins;
    for (size_t i = 0; i < is.size(); ++i)
      if (is[i] && places[i] >= 0)
        begins.insert(tiles.beginOf(places[i]));
    for (size_t i = 0; tiles.tokens > 1 && i < is.size(); ++i)
      is[i] = is[i] || (places[i] >= 0 && begins.contains(tiles.beginOf(places[i])));
  }
  return is;
}

/// Whether an input reaches a result past all sums over keys, as a gate of the query does.
bool passesSums(BlockArgument input) {
  llvm::SetVector<Operation *> reached;
  ForwardSliceOptions options;
  options.filter = [](Operation *op) { return !isa<RecurrencesOp, RecurrenceOp>(op); };
  getForwardSlice(input, &reached, options);
  return llvm::any_of(reached, [&](Operation *op) {
    return isa<YieldOp>(op) && op->getParentOp() == input.getOwner()->getParentOp();
  });
}

/// Spoiled tokens whose gradient may be NaN though nothing sees them: 0 times the token itself is computed,
/// in the states that pieces and steps hand on, or in a formula past all sums. The gradients of other tokens
/// are as ever.
ReachedTokens ownGradients(const Problem &problem, size_t input, const RunOptions &options) {
  ReachedTokens own;
  FormChoice form = options.compile.form;
  if ((form != FormChoice::Parallel && form != FormChoice::Chunked) || !options.pieces.empty())
    own.keys = options.spoiledKeys;
  SpecOp spec = problem.spec;
  if (passesSums(spec.getBody().getArgument(input)))
    own.queries = options.spoiledQueries;
  return own;
}

/// Results of the reference without spoiled tokens, and with all that they may reach.
struct SpoiledResults {
  Outcome before, most;
};

/// What spoiled tokens may reach within tiles: all queries of a tile where one sees a spoiled key, or could
/// but for a condition by which no tile is left out.
FailureOr<SpoiledResults> reachOfTiles(const Problem &problem, const Problem &spoiled,
                                       const SpoiledResults &exact, const RunOptions &options,
                                       bool withGradients) {
  SpoiledResults reach = exact;
  Problem clean = problem, wider = spoiled;
  SpecOp spec = problem.spec;
  OwningOpRef<SpecOp> ranges = cast<SpecOp>(spec->clone());
  replaceNumbers(
      *ranges, spec.getParameters(),
      {problem.environment.sizeOf(AxisRole::Channel), problem.environment.sizeOf(AxisRole::ValueChannel)});
  if (keepRanges(*ranges)) {
    clean.spec = wider.spec = *ranges;
    FailureOr<Outcome> before = evaluate(clean, reference::RoundingRules::exact(), withGradients);
    FailureOr<Outcome> after = evaluate(wider, reference::RoundingRules::exact(), withGradients);
    if (failed(before) || failed(after))
      return failure();
    reach = {std::move(*before), std::move(*after)};
  }
  std::set<int64_t> wide = spoiledRows(reach.most);
  wide.insert(options.spoiledQueries.begin(), options.spoiledQueries.end());
  spoil(wider, options.spoiledKeys, TokenTiles(options).whole(wide), std::numeric_limits<Real>::quiet_NaN());
  FailureOr<Outcome> widened = evaluate(wider, reference::RoundingRules::exact(), withGradients);
  if (failed(widened))
    return failure();
  reach.most = std::move(*widened);
  return reach;
}

} // namespace

LogicalResult taylor::run::checkSpoiled(const Problem &problem, const Outcome &clean,
                                        const RunOptions &options, bool withGradients,
                                        llvm::function_ref<FailureOr<Outcome>(Problem &)> runKernels) {
  bool isNaN = options.spoiledWith == "nan";
  Real value = isNaN ? std::numeric_limits<Real>::quiet_NaN() : std::numeric_limits<Real>::infinity();
  Problem same = problem, spoiled = problem;
  spoil(spoiled, options.spoiledKeys, options.spoiledQueries, value);
  FailureOr<Outcome> before = evaluate(same, reference::RoundingRules::exact(), withGradients);
  FailureOr<Outcome> after = evaluate(spoiled, reference::RoundingRules::exact(), withGradients);
  FailureOr<Outcome> again = runKernels(spoiled);
  if (failed(before) || failed(after) || failed(again))
    return failure();
  SpoiledResults reach{*before, *after};
  if (options.spoiledTile > 1) {
    FailureOr<SpoiledResults> ofTiles = reachOfTiles(problem, spoiled, reach, options, withGradients);
    if (failed(ofTiles))
      return failure();
    reach = std::move(*ofTiles);
  }
  bool passes = true;
  ReachedTokens reachedTokens;
  reachedTokens.queries = spoiledRows(reach.most);
  // A spoiled query that sees keys; of one without keys outputs are 0, and its gradient must stay so.
  for (const Array &output : before->outputs)
    for (auto [element, token] : llvm::zip_equal(output.values, tokensOf(output, AxisRole::Query)))
      if (element != 0 && options.spoiledQueries.contains(token))
        reachedTokens.queries.insert(token);
  for (auto [gradient, after] : llvm::zip_equal(reach.before.gradients, reach.most.gradients))
    if (!gradient.values.empty())
      reachedTokens.add(gradient, after);
  auto judge = [&](const ReachedTokens *tokens, const std::string &name, const Array &reference,
                   const Array &exact, const Array &widest, const Array &ours, const Array &oursAgain) {
    if (ours.values.empty() || reference.values.empty())
      return;
    std::vector<bool> is = reached(reference, widest, TokenTiles(options), tokens);
    size_t kept = 0, changed = 0, swallowed = 0;
    for (size_t i = 0; i < is.size(); ++i) {
      kept += !is[i];
      changed += !is[i] && ours.values[i] != oursAgain.values[i];
      swallowed += isNaN && !std::isfinite(exact.values[i]) && std::isfinite(oursAgain.values[i]);
    }
    passes &= !changed && !swallowed;
    llvm::outs() << "spoiled tokens: " << name << ": " << kept << " of " << is.size()
                 << " elements do not depend on them";
    if (changed)
      llvm::outs() << ", " << changed << " of those changed";
    if (swallowed)
      llvm::outs() << ", " << swallowed << " finite where the reference is not";
    llvm::outs() << (changed || swallowed ? "  FAILED\n" : "  ok\n");
  };
  for (auto [i, cotangent] : llvm::enumerate(problem.cotangents))
    judge(nullptr, cotangent.name, reach.before.outputs[i], after->outputs[i], reach.most.outputs[i],
          clean.outputs[i], again->outputs[i]);
  for (size_t i = 0; i < before->gradients.size(); ++i) {
    if (options.absentGradients.contains(problem.inputs[i].name))
      continue;
    ReachedTokens tokens = ownGradients(problem, i, options);
    tokens.queries.insert(reachedTokens.queries.begin(), reachedTokens.queries.end());
    tokens.keys.insert(reachedTokens.keys.begin(), reachedTokens.keys.end());
    judge(&tokens, "gradient " + problem.inputs[i].name, reach.before.gradients[i], after->gradients[i],
          reach.most.gradients[i], clean.gradients[i], again->gradients[i]);
  }
  return success(passes);
}

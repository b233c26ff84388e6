// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Checks.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace taylor;
using namespace taylor::run;

namespace {

/// Elements of an array by place: `tokens` runs of `inner` one after the other, `outer` times.
struct TokenLayout {
  explicit TokenLayout(const reference::Shape &shape) {
    for (auto [axis, size] : llvm::zip_equal(shape.axes, shape.sizes)) {
      if (isTokenAxis(axis)) {
        has = true;
        tokens = size;
      } else {
        (has ? inner : outer) *= size;
      }
    }
  }
  bool has = false;
  int64_t outer = 1, tokens = 1, inner = 1;
};

/// Tokens `begin` to `end` of an array; all of it where it has none.
Array takeTokens(const Array &array, int64_t begin, int64_t end) {
  TokenLayout whole(array.shape);
  if (!whole.has)
    return array;
  reference::Shape shape = array.shape;
  for (auto [axis, size] : llvm::zip_equal(shape.axes, shape.sizes))
    if (isTokenAxis(axis))
      size = end - begin;
  Array part(shape);
  for (int64_t i = 0; i < whole.outer; ++i)
    std::copy_n(array.values.begin() + (i * whole.tokens + begin) * whole.inner, (end - begin) * whole.inner,
                part.values.begin() + i * (end - begin) * whole.inner);
  return part;
}

/// Puts tokens from `begin` on into an array, or adds what has none.
void addTokens(Array &array, const Array &part, int64_t begin) {
  TokenLayout whole(array.shape), piece(part.shape);
  if (!whole.has)
    return reference::addTo(array, part, reference::Rounding());
  for (int64_t i = 0; i < whole.outer; ++i)
    std::copy_n(part.values.begin() + i * piece.tokens * whole.inner, piece.tokens * whole.inner,
                array.values.begin() + (i * whole.tokens + begin) * whole.inner);
}

} // namespace

FailureOr<std::vector<Problem>> taylor::run::cutProblem(const Problem &problem, ArrayRef<int64_t> cuts) {
  if (cuts.empty())
    return std::vector<Problem>{problem};
  const Environment &environment = problem.environment;
  int64_t tokens = environment.sizeOf(AxisRole::Query);
  if (tokens != environment.sizeOf(AxisRole::Key) || environment.offset != 0)
    return fail("requires queries and keys of the same tokens (t = u, offset 0) for --states, but got t = " +
                Twine(tokens) + ", u = " + Twine(environment.sizeOf(AxisRole::Key)) + " and offset " +
                Twine(environment.offset));
  std::vector<Problem> pieces;
  int64_t begin = 0;
  for (int64_t i = 0; i <= int64_t(cuts.size()); ++i) {
    int64_t end = i < int64_t(cuts.size()) ? cuts[i] : tokens;
    if (end <= begin || (i < int64_t(cuts.size()) && end >= tokens))
      return fail("expected --states=TOKEN,.. with ascending tokens from 1 to " + Twine(tokens - 1) +
                  ", where pieces begin, but got " + Twine(end));
    Problem piece = problem;
    for (std::vector<NamedArray> *arrays : {&piece.inputs, &piece.cotangents})
      for (NamedArray &named : *arrays)
        named.array = takeTokens(named.array, begin, end);
    piece.environment.sizes[AxisRole::Query] = piece.environment.sizes[AxisRole::Key] = end - begin;
    pieces.push_back(std::move(piece));
    begin = end;
  }
  return pieces;
}

Outcome taylor::run::joinPieces(const Problem &problem, ArrayRef<int64_t> cuts, ArrayRef<Outcome> pieces) {
  Outcome whole;
  for (const NamedArray &cotangent : problem.cotangents)
    whole.outputs.emplace_back(cotangent.array.shape);
  for (auto [input, gradient] : llvm::zip(problem.inputs, pieces.front().gradients))
    whole.gradients.push_back(gradient.values.empty() ? Array() : Array(input.array.shape));
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    int64_t begin = i == 0 ? 0 : cuts[i - 1];
    for (auto [output, part] : llvm::zip_equal(whole.outputs, piece.outputs))
      addTokens(output, part, begin);
    for (auto [gradient, part] : llvm::zip_equal(whole.gradients, piece.gradients))
      if (!part.values.empty())
        addTokens(gradient, part, begin);
    for (const auto &form : piece.forms)
      if (!llvm::is_contained(whole.forms, form))
        whole.forms.push_back(form);
  }
  whole.inPieces = pieces.size() > 1;
  return whole;
}

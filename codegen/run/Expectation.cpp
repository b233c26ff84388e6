// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Expectation.h"
#include "codegen/run/Npy.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace taylor;
using namespace taylor::run;
namespace json = llvm::json;

/// Draws of eager code's rounding that one draw's luck is measured by. Each costs as much as the first.
static constexpr int kDraws = 8;

/// What is no finite number is a NaN: which kind it is depends on the order of sums, and on what was shifted.
static void mergeUnreal(MutableArrayRef<Real> values) {
  for (Real &value : values)
    if (!std::isfinite(value))
      value = std::numeric_limits<Real>::quiet_NaN();
}

/// Calls `visit` with the kind, the name and the array of each result, in order.
static void forEachResult(const Problem &problem, Outcome &evaluated,
                          llvm::function_ref<void(const char *, const std::string &, Array &)> visit) {
  for (auto [cotangent, output] : llvm::zip_equal(problem.cotangents, evaluated.outputs))
    visit("output", cotangent.name, output);
  for (auto [input, gradient] : llvm::zip(problem.inputs, evaluated.gradients))
    if (!gradient.values.empty())
      visit("gradient", input.name, gradient);
}

FailureOr<Expectation> Expectation::evaluate(Problem &problem, bool withGradients) {
  FailureOr<Outcome> exact = run::evaluate(problem, reference::RoundingRules::exact(), withGradients);
  if (failed(exact))
    return failure();
  Expectation expectation;
  expectation.hasUnreal = problem.hasUnreal;
  expectation.contract.dtype = problem.dtype;
  expectation.contract.tf32Products = problem.tf32Products;
  forEachResult(problem, *exact, [&](const char *kind, const std::string &name, Array &reference) {
    if (problem.hasUnreal)
      mergeUnreal(reference.values);
    expectation.results.push_back({kind, name, std::move(reference), Array()});
  });
  if (problem.hasUnreal && failed(expectation.findOfRange(problem, withGradients)))
    return failure();
  if (failed(expectation.evaluateEager(problem, withGradients)))
    return failure();
  return expectation;
}

LogicalResult Expectation::findOfRange(Problem &problem, bool withGradients) {
  FailureOr<Outcome> inRange =
      run::evaluate(problem, reference::RoundingRules::toRange(problem.dtype), withGradients);
  if (failed(inRange))
    return failure();
  size_t i = 0;
  forEachResult(problem, *inRange, [&](const char *, const std::string &, Array &array) {
    ExpectedResult &result = results[i++];
    for (auto [element, x] : llvm::enumerate(array.values))
      if (!std::isfinite(x) && std::isfinite(result.reference.values[element]))
        result.ofRange.push_back(element);
  });
  return success();
}

LogicalResult Expectation::visitEager(Problem &problem, bool withGradients, int draw,
                                      llvm::function_ref<void(size_t, Array &)> visit) {
  FailureOr<Outcome> eager = run::evaluate(problem, problem.eager(draw), withGradients, forms);
  if (failed(eager))
    return failure();
  size_t i = 0;
  forEachResult(problem, *eager, [&](const char *, const std::string &, Array &array) {
    if (hasUnreal)
      mergeUnreal(array.values);
    visit(i++, array);
  });
  return success();
}

LogicalResult Expectation::evaluateEager(Problem &problem, bool withGradients) {
  auto keep = [&](size_t i, Array &array) {
    results[i].eager = std::move(array);
    results[i].eagerOverDraws = 0;
  };
  if (failed(visitEager(problem, withGradients, /*draw=*/0, keep)))
    return failure();
  findPeers();
  return success();
}

void Expectation::findPeers() {
  contract.peers = 0;
  Real peers = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    reference::Comparison comparison = judge(i, results[i].reference.values);
    // What cancels says nothing of others.
    bool isNoise = contract.isNoise(comparison.norm, comparison.eager);
    bool isFew = results[i].reference.values.size() < contract.fewElements;
    if (!isFew && comparison.norm > 0 && !isNoise)
      peers = std::max(peers, comparison.eager / comparison.norm);
  }
  contract.peers = peers;
}

LogicalResult Expectation::setForms(Problem &problem, bool withGradients, const Forms &ofKernels) {
  contract.statesBetweenChunks = ofKernels.forward.hasStates() || ofKernels.backward.hasStates();
  Forms wanted = isNarrow(problem.dtype) ? ofKernels : Forms();
  if (wanted == forms)
    return success();
  forms = wanted;
  return evaluateEager(problem, withGradients);
}

LogicalResult Expectation::addDraws(Problem &problem, bool withGradients) {
  std::vector<SmallVector<Real>> errors(results.size());
  auto add = [&](size_t i, Array &array) {
    errors[i].push_back(reference::distance(array.values, results[i].reference.values));
  };
  for (int draw = 1; draw <= kDraws; ++draw)
    if (failed(visitEager(problem, withGradients, draw, add)))
      return failure();
  for (auto [result, ofDraws] : llvm::zip_equal(results, errors))
    result.eagerOverDraws = reference::likelyError(ofDraws);
  return success();
}

reference::Comparison Expectation::judge(size_t i, ArrayRef<Real> ours) const {
  const ExpectedResult &result = results[i];
  reference::Contract contract = this->contract;
  contract.eagerOverDraws = result.eagerOverDraws;
  // What the kernels do not give they hold to be zero.
  std::vector<Real> given = ours.empty() ? std::vector<Real>(result.reference.values.size(), 0) : ours.vec();
  if (hasUnreal)
    mergeUnreal(given);
  for (size_t element : result.ofRange)
    if (!std::isfinite(given[element]))
      given[element] = result.reference.values[element];
  return reference::compare(given, result.reference.values, result.eager.values, contract);
}

LogicalResult Expectation::write(const std::string &folder, const Problem &problem) const {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return fail("cannot make the folder '" + folder + "': " + code.message());
  auto save = [&](const std::string &kind, const std::string &name, const Array &array,
                  Dtype dtype) -> LogicalResult {
    std::string path = folder + "/" + kind + "." + name + ".npy";
    if (llvm::Error error = writeNpy(path, array.shape.sizes, array.values, dtype))
      return fail(std::move(error));
    return success();
  };
  for (auto [input, dtype] : llvm::zip_equal(problem.inputs, problem.inputDtypes))
    if (failed(save("input", input.name, input.array, dtype)))
      return failure();
  for (const NamedArray &cotangent : problem.cotangents)
    if (failed(save("cotangent", cotangent.name, cotangent.array, problem.dtype)))
      return failure();
  json::Array rows;
  for (size_t i = 0; i < results.size(); ++i) {
    const ExpectedResult &result = results[i];
    if (failed(save(result.kind, result.name, result.reference, Dtype::F64)))
      return failure();
    reference::Comparison bound = judge(i, result.reference.values);
    rows.push_back(json::Object{{"kind", result.kind},
                                {"name", result.name},
                                {"norm", static_cast<double>(bound.norm)},
                                {"eager", static_cast<double>(bound.eager)},
                                {"allowed", static_cast<double>(bound.allowed)}});
  }
  std::string path = folder + "/contract.json";
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    stream << llvm::formatv("{0:2}\n", json::Value(std::move(rows)));
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  return code ? fail("cannot write '" + path + "': " + code.message()) : success();
}

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

FailureOr<Expectation> Expectation::evaluate(Problem &problem, bool withGradients) {
  FailureOr<Evaluated> exact = run::evaluate(problem, reference::Arithmetic::exact(), withGradients);
  FailureOr<Evaluated> eager = run::evaluate(problem, problem.eager(), withGradients);
  if (failed(exact) || failed(eager))
    return failure();
  Expectation expectation;
  expectation.hasUnreal = problem.hasUnreal;
  auto add = [&](const char *kind, const std::string &name, Array &reference, Array &ofEager) {
    if (problem.hasUnreal) {
      mergeUnreal(reference.values);
      mergeUnreal(ofEager.values);
    }
    expectation.results.push_back({kind, name, std::move(reference), std::move(ofEager), 0});
  };
  for (size_t i = 0; i < exact->outputs.size(); ++i)
    add("output", problem.cotangents[i].name, exact->outputs[i], eager->outputs[i]);
  for (size_t i = 0; i < exact->gradients.size(); ++i)
    if (!exact->gradients[i].values.empty())
      add("gradient", problem.inputs[i].name, exact->gradients[i], eager->gradients[i]);

  reference::Contract &contract = expectation.contract;
  contract.dtype = problem.dtype;
  contract.tf32Products = problem.tf32Products;
  Real peers = 0;
  for (size_t i = 0; i < expectation.results.size(); ++i) {
    reference::Comparison comparison = expectation.judge(i, expectation.results[i].reference.values);
    // What cancels says nothing of others.
    bool isNoise = contract.isNoise(comparison.norm, comparison.eager);
    bool isFew = expectation.results[i].reference.values.size() < contract.fewElements;
    if (!isFew && comparison.norm > 0 && !isNoise)
      peers = std::max(peers, comparison.eager / comparison.norm);
  }
  contract.peers = peers;
  return expectation;
}

LogicalResult Expectation::addDraws(Problem &problem, bool withGradients) {
  std::vector<SmallVector<Real>> errors(results.size());
  for (int draw = 1; draw <= kDraws; ++draw) {
    FailureOr<Evaluated> eager = run::evaluate(problem, problem.eager(draw), withGradients);
    if (failed(eager))
      return failure();
    size_t i = 0;
    auto add = [&](Array array) {
      if (hasUnreal)
        mergeUnreal(array.values);
      errors[i].push_back(reference::distance(array.values, results[i].reference.values));
      ++i;
    };
    llvm::for_each(eager->outputs, add);
    for (const Array &gradient : eager->gradients)
      if (!gradient.values.empty())
        add(gradient);
  }
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

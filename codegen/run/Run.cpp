// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Run.h"
#include "codegen/run/FunctionsCheck.h"
#include "codegen/run/Kernel.h"
#include "codegen/run/Npy.h"
#include "codegen/run/Report.h"
#include "codegen/run/TileProgram.h"
#include "llvm/Support/raw_ostream.h"
#include <deque>

using namespace mlir;
using namespace taylor;
using namespace taylor::run;

namespace {

LogicalResult write(const std::string &path, const Array &array, Dtype dtype) {
  if (llvm::Error error = writeNpy(path, array.shape.sizes, array.values, dtype))
    return fail(std::move(error));
  return success();
}

/// Writes what the options name, and prints one line for each array.
LogicalResult report(const Problem &problem, const Evaluated &evaluated, const Options &options) {
  // The reference has more digits than f32 shows.
  Dtype dtype = options.dtype ? problem.dtype : options.device == Device::Reference ? Dtype::F64 : Dtype::F32;
  auto show = [&](const std::string &name, const Array &array) {
    if (!options.check || options.print)
      printSummary(name, array);
    if (options.print)
      printElements(array);
  };
  for (auto [cotangent, output] : llvm::zip_equal(problem.cotangents, evaluated.outputs)) {
    show(cotangent.name, output);
    auto it = options.outputs.find(cotangent.name);
    if (it == options.outputs.end())
      it = options.outputs.find("*");
    if (it != options.outputs.end() && failed(write(it->second, output, dtype)))
      return failure();
  }
  for (auto [input, gradient] : llvm::zip(problem.inputs, evaluated.gradients)) {
    auto it = options.gradients.find(input.name);
    if (gradient.values.empty() && input.array.shape.count() != 0) {
      if (it != options.gradients.end())
        return fail("unsupported gradient of the integer argument '" + input.name + "'");
      continue;
    }
    show("gradient " + input.name, gradient);
    if (it != options.gradients.end() && failed(write(it->second, gradient, dtype)))
      return failure();
  }
  return success();
}

LogicalResult runReference(SpecOp spec, const Options &options) {
  FailureOr<Problem> problem = makeProblem(spec, options);
  if (failed(problem))
    return failure();
  auto arithmetic = options.device == Device::Eager ? reference::Arithmetic::eager(problem->dtype)
                                                    : reference::Arithmetic::exact();
  FailureOr<Evaluated> evaluated = evaluate(*problem, arithmetic, options.gradient);
  if (failed(evaluated))
    return failure();
  return report(*problem, *evaluated, options);
}

/// Every output and gradient of the kernels against the reference, by the contract.
LogicalResult checkKernel(Problem &problem, const Evaluated &evaluated, bool withGradients) {
  FailureOr<Evaluated> expected = evaluate(problem, reference::Arithmetic::exact(), withGradients);
  FailureOr<Evaluated> eager = evaluate(problem, reference::Arithmetic::eager(problem.dtype), withGradients);
  if (failed(expected) || failed(eager))
    return failure();
  reference::Contract contract;
  contract.dtype = problem.dtype;
  struct Result {
    std::string name;
    ArrayRef<Real> ours, reference, eager;
  };
  std::vector<Result> results;
  for (size_t i = 0; i < expected->outputs.size(); ++i)
    results.push_back({problem.cotangents[i].name, evaluated.outputs[i].values, expected->outputs[i].values,
                       eager->outputs[i].values});
  std::deque<std::vector<Real>> zeros; // what the kernels do not give they hold to be zero
  for (size_t i = 0; i < expected->gradients.size(); ++i) {
    const std::vector<Real> &gradient = expected->gradients[i].values;
    if (gradient.empty())
      continue;
    ArrayRef<Real> ours = evaluated.gradients[i].values;
    if (ours.empty())
      ours = zeros.emplace_back(gradient.size(), 0);
    results.push_back({"gradient " + problem.inputs[i].name, ours, gradient, eager->gradients[i].values});
  }
  auto compare = [&](const Result &result) {
    return reference::compare(result.ours, result.reference, result.eager, contract);
  };
  Real peers = 0;
  for (const Result &result : results) {
    reference::Comparison comparison = compare(result);
    // What cancels says nothing of others.
    bool cancels = comparison.eager >= contract.getNoise() * contract.getEpsilon() * comparison.norm;
    if (result.reference.size() >= contract.fewElements && comparison.norm > 0 && !cancels)
      peers = std::max(peers, comparison.eager / comparison.norm);
  }
  contract.peers = peers;
  ComparisonTable table(/*withEager=*/true);
  for (const Result &result : results)
    table.add(result.name, compare(result));
  return success(table.print());
}

LogicalResult runKernels(SpecOp spec, const Options &options) {
  FailureOr<Problem> problem = makeProblem(spec, options);
  if (failed(problem))
    return failure();
  bool withGradients = (options.gradient || options.check) && !options.forwardOnly;
  FailureOr<Evaluated> evaluated = options.device == Device::Tile
                                       ? runTilePrograms(*problem, options, withGradients)
                                       : runKernel(*problem, options, withGradients);
  if (failed(evaluated) || failed(report(*problem, *evaluated, options)))
    return failure();
  return options.check ? checkKernel(*problem, *evaluated, withGradients) : success();
}

} // namespace

LogicalResult taylor::run::run(const Options &options, MLIRContext *context) {
  const std::string &path = options.spec.empty() ? options.functions : options.spec;
  FailureOr<std::unique_ptr<ModuleFile>> file = parseModule(path, context);
  if (failed(file))
    return failure();
  ModuleOp module = *(*file)->module;
  FailureOr<SpecOp> spec = onlySpec(module, path);
  if (failed(spec))
    return failure();
  if (!options.functions.empty()) {
    std::unique_ptr<ModuleFile> separate;
    if (!options.spec.empty()) {
      FailureOr<std::unique_ptr<ModuleFile>> parsed = parseModule(options.functions, context);
      if (failed(parsed))
        return failure();
      separate = std::move(*parsed);
    }
    FailureOr<Problem> problem = makeProblem(*spec, options);
    if (failed(problem))
      return failure();
    return checkFunctions(separate ? *separate->module : module, *problem, options);
  }
  if (options.device == Device::CPU || options.device == Device::Tile)
    return runKernels(*spec, options);
  return runReference(*spec, options);
}

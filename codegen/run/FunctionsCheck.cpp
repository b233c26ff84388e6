// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/run/Checks.h"
#include "codegen/run/Report.h"
#include <cmath>

using namespace mlir;
using namespace taylor;
using namespace taylor::run;

namespace {

using ArrayMap = std::map<std::string, Array>;

FunctionOp findFunction(ModuleOp module, SpecOp spec, FunctionRole role) {
  for (auto function : module.getOps<FunctionOp>())
    if (function.getSpecName() == spec.getSymName() &&
        function.getSymName() == FunctionOp::nameOf(spec.getSymName(), role))
      return function;
  return {};
}

/// Evaluates a function on arrays by role ("input:q"), and adds its results to them.
LogicalResult evaluateFunction(FunctionOp function, const Problem &problem, ArrayMap &arrays) {
  Environment environment = problem.environment;
  for (NamedAttribute parameter : function.getParameters())
    if (!environment.parameters.contains(parameter.getName().getValue())) {
      auto integer = dyn_cast<IntegerAttr>(parameter.getValue());
      environment.parameters[parameter.getName()] =
          integer ? Real(integer.getInt()) : Real(cast<FloatAttr>(parameter.getValue()).getValueAsDouble());
    }
  std::vector<Array> inputs;
  for (const std::string &name : reference::argumentNames(function)) {
    auto it = arrays.find(name);
    if (it == arrays.end())
      return fail("expected arguments of @" + function.getSymName() +
                  " that the specification or its forward function gives, but got '" + name + "'");
    inputs.push_back(it->second);
  }
  if (failed(reference::bindSizes(function, inputs, environment)))
    return failure();
  reference::Evaluation evaluation(environment);
  if (failed(evaluation.run(function, inputs)))
    return failure();
  for (auto [name, array] : llvm::zip_equal(reference::resultNames(function), evaluation.getResults()))
    arrays[name] = array;
  return success();
}

/// f32 functions hold constants in f32.
double defaultTolerance(FunctionOp function) {
  bool isNarrow = llvm::any_of(function.getBody().getArguments(), [](Value argument) {
    Type element = cast<ArrayType>(argument.getType()).getElementType();
    return isa<FloatType>(element) && !element.isF64();
  });
  return isNarrow ? 1e-5 : 1e-12;
}

reference::Comparison compareTo(const Array &array, const Array &expected, double tolerance) {
  reference::Comparison result;
  std::vector<Real> zero(expected.values.size(), 0);
  result.norm = reference::distance(expected.values, zero);
  // Where the reference cancels to nearly 0 the terms that cancel are of order 1.
  result.allowed =
      tolerance * std::max(result.norm, std::sqrt(static_cast<Real>(expected.values.size())) / 1000);
  result.error = array.values.size() == expected.values.size()
                     ? reference::distance(array.values, expected.values)
                     : std::numeric_limits<Real>::infinity();
  result.passes = result.error <= result.allowed;
  return result;
}

} // namespace

LogicalResult taylor::run::checkFunctions(ModuleOp functions, Problem &problem, const RunOptions &options) {
  FunctionOp forward = findFunction(functions, problem.spec, FunctionRole::Forward);
  FunctionOp backward = findFunction(functions, problem.spec, FunctionRole::Backward);
  StringRef name = problem.spec.getSymName();
  if (!forward)
    return fail("expected taylor.function @" + name + ".forward of @" + name + " in '" + options.functions +
                "', but got none");
  bool withGradients = !options.forwardOnly;
  if (!backward && withGradients)
    return fail("expected taylor.function @" + name + ".backward of @" + name + " in '" + options.functions +
                "', but got none; --forward-only does without");
  FailureOr<Outcome> expected = evaluate(problem, reference::RoundingRules::exact(), withGradients);
  if (failed(expected))
    return failure();

  ArrayMap arrays;
  for (const NamedArray &input : problem.inputs)
    arrays["input:" + input.name] = input.array;
  for (const NamedArray &cotangent : problem.cotangents)
    arrays["cotangent:" + cotangent.name] = cotangent.array;
  if (failed(evaluateFunction(forward, problem, arrays)) ||
      (withGradients && failed(evaluateFunction(backward, problem, arrays))))
    return failure();

  double tolerance = options.tolerance.value_or(defaultTolerance(forward));
  ComparisonTable table(/*withEager=*/false);
  auto judge = [&](const std::string &role, const Array &reference, bool required) -> LogicalResult {
    auto it = arrays.find(role);
    if (it != arrays.end())
      return table.add(role, compareTo(it->second, reference, tolerance)), success();
    if (required)
      return fail("expected a result '" + role + "' of @" + name + ", but got none");
    return success();
  };
  for (auto [cotangent, output] : llvm::zip_equal(problem.cotangents, expected->outputs))
    if (failed(judge("output:" + cotangent.name, output, /*required=*/true)))
      return failure();
  for (auto [input, gradient] : llvm::zip(problem.inputs, expected->gradients)) {
    // A gradient that is zero everywhere need not be computed.
    bool isZero = llvm::all_of(gradient.values, [](Real value) { return value == 0; });
    if (!gradient.values.empty() && failed(judge("gradient:" + input.name, gradient, !isZero)))
      return failure();
  }
  return success(table.print());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small specifications in text, evaluated in a test.
#ifndef TAYLOR_TEST_REFERENCE_FIXTURE_H
#define TAYLOR_TEST_REFERENCE_FIXTURE_H

#include "dialect/Reference/Evaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>

namespace taylor::test {

using namespace taylor::reference;

/// The first container of a module, with arrays that are functions of (argument, index).
class Program {
public:
  explicit Program(const std::string &text) {
    context.loadDialect<TaylorDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(kTypes + text, &context);
    if (module)
      container = &module->getBody()->front();
    environment.sizes = {{"b", 2}, {"h", 4}, {"g", 2}, {"t", 3}, {"u", 5}, {"d", 4}, {"e", 2}};
    environment.offset = 2;
  }

  bool isValid() const { return container != nullptr; }
  mlir::Block &body() { return container->getRegion(0).front(); }

  /// Irregular numbers of order 1, never at a tie.
  void fillInputs() {
    inputs.clear();
    for (auto [number, argument] : llvm::enumerate(body().getArguments())) {
      Array array(shapeOf(mlir::cast<ArrayType>(argument.getType()), environment));
      for (size_t i = 0; i < array.values.size(); ++i)
        array.values[i] = std::sin(Real(1.7) * i + Real(0.9) * number + Real(0.3)) * Real(1.3);
      inputs.push_back(std::move(array));
    }
  }

  std::vector<Array> evaluate() {
    Evaluation evaluation(environment);
    EXPECT_TRUE(succeeded(evaluation.run(container, inputs)));
    return {evaluation.getResults().begin(), evaluation.getResults().end()};
  }

  /// Cotangents of results, again irregular.
  std::vector<Array> cotangents() {
    std::vector<Array> result;
    for (mlir::Value value : body().getTerminator()->getOperands()) {
      Array &array = result.emplace_back(shapeOf(mlir::cast<ArrayType>(value.getType()), environment));
      for (size_t i = 0; i < array.values.size(); ++i)
        array.values[i] = std::cos(Real(2.3) * i + result.size());
    }
    return result;
  }

  std::vector<Array> gradients(llvm::ArrayRef<Array> cotangents) {
    Evaluation evaluation(environment);
    EXPECT_TRUE(succeeded(evaluation.run(container, inputs)));
    return evaluation.pullback(cotangents);
  }

  static constexpr const char *kTypes = R"(
!q = !taylor.array<[b, h, t, d]>   !k = !taylor.array<[b, g, u, d]>   !v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>   !row = !taylor.array<[b, h, t]>    !col = !taylor.array<[b, g, u]>
!head = !taylor.array<[h]>         !channel = !taylor.array<[e]>      !x = !taylor.array<[t]>
)";
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *container = nullptr;
  Environment environment;
  std::vector<Array> inputs;
};

} // namespace taylor::test

#endif

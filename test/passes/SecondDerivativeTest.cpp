// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pairwise operations are closed under differentiation: the rule applied to what it made gives the second
// derivative. Judge: the reference's own reverse mode, which knows nothing of the rules.
#include "passes/Passes.h"
#include "test/reference/Fixture.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace taylor;
using namespace taylor::test;

namespace {

/// All kinds of outputs; scalars of rows, columns, heads and tokens alone; a visible set; heads in groups.
constexpr const char *kPairs = R"(
taylor.spec @pairs(%q: !q, %k: !k, %v: !v, %r: !row, %c: !col, %th: !head from parameter(ones), %x: !x) {
  %y:5 = taylor.pairwise { s = dot(%q, %k) w = exp(0.3 * tanh(s) + %r - %c) * %x  z = s * s * %th + %r * %c } visible(u <= t)
         -> rows(w, %v), rows(z), columns(w, %q), total(z), columns(w) : !q, !k, !row, !col, !x, !head, !v -> !o, !row, !k, !head, !col
  taylor.yield "a" %y#0, "b" %y#1, "c" %y#2, "d" %y#3, "e" %y#4 : !o, !row, !k, !head, !col
})";

FunctionOp derive(ModuleOp module) {
  PassManager manager(module.getContext());
  manager.addPass(createDeriveBackwardPass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  EXPECT_TRUE(succeeded(manager.run(module)));
  return *module.getOps<FunctionOp>().begin();
}

/// The same graph as a specification whose arguments are all inputs, so that it can be derived again.
void makeSpecification(FunctionOp function) {
  OpBuilder builder(function);
  FloatAttr zero = builder.getF64FloatAttr(0.0);
  Attribute input =
      SourceAttr::get(builder.getContext(), SourceKind::Input, false, Initial::Zeros, zero, zero);
  SmallVector<Attribute> sources(function.getBody().getNumArguments(), input);
  auto spec = SpecOp::create(builder, function.getLoc(), "derived", function.getArgNames(),
                             builder.getArrayAttr(sources), builder.getDictionaryAttr({}),
                             /*series=*/DictionaryAttr(),
                             /*form=*/Attribute(), /*step_of=*/StringAttr(), /*carries=*/CarryAttr());
  spec.getBody().takeBody(function.getBody());
  function.erase();
}

/// Evaluates a joint function and compares its gradients, its last results, with those of reverse mode
/// through `first`.
void compareGradients(const Environment &environment, FunctionOp function,
                      const std::vector<Array> &arguments, const std::vector<Array> &gradients) {
  Evaluation evaluation(environment);
  ASSERT_TRUE(succeeded(evaluation.run(function, arguments)));
  ArrayRef<Array> results = evaluation.getResults().take_back(gradients.size());
  for (auto [number, pair] : llvm::enumerate(llvm::zip_equal(results, gradients))) {
    auto &[ours, expected] = pair;
    ASSERT_EQ(ours.values.size(), expected.values.size()) << "gradient " << number;
    for (size_t i = 0; i < ours.values.size(); ++i)
      ASSERT_NEAR(static_cast<double>(ours.values[i]), static_cast<double>(expected.values[i]), 1e-12)
          << "gradient " << number << " at " << i;
  }
}

TEST(SecondDerivative, OfAPairwiseOperationIsTheRuleAppliedTwice) {
  Program program(kPairs);
  ASSERT_TRUE(program.isValid());
  program.fillInputs();
  std::vector<Array> cotangents = program.cotangents();
  std::vector<Array> gradients = program.gradients(cotangents);

  FunctionOp first = derive(*program.module);
  std::vector<Array> arguments = program.inputs;
  arguments.insert(arguments.end(), cotangents.begin(), cotangents.end());
  compareGradients(program.environment, first, arguments, gradients);

  // Again, with a cotangent for every result of the first derivative.
  makeSpecification(first);
  program.container = &program.module->getBody()->front();
  program.inputs = arguments;
  std::vector<Array> secondCotangents = program.cotangents();
  std::vector<Array> secondGradients = program.gradients(secondCotangents);
  FunctionOp second = derive(*program.module);
  arguments.insert(arguments.end(), secondCotangents.begin(), secondCotangents.end());
  compareGradients(program.environment, second, arguments, secondGradients);
}

} // namespace

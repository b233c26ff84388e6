// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a form that no one asked for is left out: it is refused, or the compiler has a fault, which no one
// would see if it were taken for a refusal.
#include "codegen/Driver/Driver.h"
#include "codegen/Driver/RegisterAll.h"
#include "dialect/Refusal.h"

#include "gtest/gtest.h"

using namespace taylor;

namespace {

constexpr const char *kHeader = R"(
!q = !taylor.array<[b, h, t, d]>
!k = !taylor.array<[b, g, u, d]>
!v = !taylor.array<[b, g, u, e]>
!o = !taylor.array<[b, h, t, e]>
)";

struct Outcome {
  /// Of the manifest; empty where the compilation failed.
  std::string manifest;
  std::vector<std::string> errors;
};

/// A sum with these weights, in the form that pays; `chunk` is handed to the passes as it is.
Outcome compileSum(const std::string &weights, int64_t chunk) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  Outcome outcome;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) { outcome.errors.push_back(diagnostic.str()); });
  CompileOptions options;
  options.targets = {"x86-64-v3"};
  options.chunk = chunk;
  Driver driver(context, options);
  EXPECT_FALSE(driver.chooseTargets(Emission::Manifest));
  std::string text = kHeader + std::string("taylor.spec @sum(%q: !q, %k: !k, %v: !v) {\n") +
                     "  %n = taylor.recurrences %q, %k, %v " + weights +
                     " causal : !q, !k, !v\n  taylor.yield %n : !o\n}\n";
  EXPECT_TRUE(succeeded(driver.load(text, "sum.mlir")));
  mlir::FailureOr<Compilation> compiled = driver.compile(Emission::Manifest);
  if (succeeded(compiled))
    outcome.manifest = compiled->manifest.empty() ? compiled->output : compiled->manifest;
  return outcome;
}

TEST(Forms, ARefusalIsTheReasonForTheOtherForm) {
  Outcome outcome = compileSum("exponential", 0);
  EXPECT_TRUE(outcome.errors.empty());
  EXPECT_NE(outcome.manifest.find("parallel: unsupported chunked form: 'exp'"), std::string::npos)
      << outcome.manifest;
}

TEST(Forms, AnotherErrorOfAFormThatNobodyAskedForIsAFault) {
  ASSERT_FALSE(compileSum("orders(1 to 1)", 0).manifest.empty());
  // No command line takes this chunk.
  Outcome outcome = compileSum("orders(1 to 1)", -64);
  EXPECT_TRUE(outcome.manifest.empty());
  ASSERT_EQ(outcome.errors.size(), 2u);
  EXPECT_EQ(
      outcome.errors[1],
      "expected the chunked form, or why there is none, but got an error: a fault of the compiler, please "
      "report it; use --form=parallel until it is mended");
}

TEST(Forms, ARefusalIsMarkedAndNotReadOutOfItsText) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<bool> refusals;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) { refusals.push_back(isRefusal(diagnostic)); });
  mlir::Location at = mlir::UnknownLoc::get(&context);
  (void)(refuse(mlir::emitError(at)) << "tiles of 300000 bytes do not fit");
  // What a verifier says of what a pass made is a fault, in whatever words.
  mlir::emitError(at) << "unsupported chunked form: refusal";
  mlir::emitError(at) << "'tile.kernel' op unsupported on this target: 300000 bytes";
  EXPECT_EQ(refusals, (std::vector<bool>{true, false, false}));
}

} // namespace

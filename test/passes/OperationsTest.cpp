// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operation on arrays has what passes ask for: an operation that lacks a part is found here, not by its
// first user.
#include "dialect/Reference/Operations.h"
#include "codegen/Driver/Torch/TorchLocal.h"
#include "passes/LowerToTile/LoweringInterface.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace taylor;

namespace {

class Operations : public testing::Test {
protected:
  Operations() {
    DialectRegistry registry;
    registry.insert<TaylorDialect>();
    registerLowering(registry);
    context.appendDialectRegistry(registry);
    context.loadDialect<TaylorDialect>();
    for (RegisteredOperationName name : context.getRegisteredOperations())
      if (name.hasInterface<ArrayOpInterface>())
        ofArrays.push_back(name);
  }

  MLIRContext context;
  SmallVector<RegisteredOperationName> ofArrays;
};

std::string textOf(RegisteredOperationName name) { return name.getStringRef().str(); }

TEST_F(Operations, AreFound) { EXPECT_GE(ofArrays.size(), 7u); }

TEST_F(Operations, HaveTiles) {
  for (RegisteredOperationName name : ofArrays)
    EXPECT_EQ(name.hasInterface<LoweringOpInterface>(), textOf(name) != "taylor.normalize") << textOf(name);
}

TEST_F(Operations, HaveDerivatives) {
  for (RegisteredOperationName name : ofArrays)
    EXPECT_EQ(name.hasInterface<DifferentiableOpInterface>(), textOf(name) != "taylor.normalize")
        << textOf(name);
}

TEST_F(Operations, HaveRulesOfTheReference) {
  for (RegisteredOperationName name : ofArrays) {
    int count = 0;
    for (ArrayRef<reference::EvaluationRule> rules : {reference::getLocalRules(), reference::getTokenRules()})
      for (const reference::EvaluationRule &rule : rules)
        count += rule.operation == name.getTypeID();
    EXPECT_EQ(count, 1) << textOf(name);
  }
}

TEST_F(Operations, HaveRulesOfPyTorch) {
  for (RegisteredOperationName name : ofArrays) {
    auto isOf = [&](const TorchRule &rule) { return rule.operation == name.getTypeID(); };
    EXPECT_EQ(llvm::count_if(getLocalTorchRules(), isOf), 1) << textOf(name);
  }
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Derive/FunctionGraph.h"

using namespace mlir;
using namespace taylor;

FunctionGraph::FunctionGraph(FunctionOp function) {
  Block &block = function.getBody().front();
  for (auto [name, argument] : llvm::zip_equal(function.getArgNames(), block.getArguments()))
    if (cast<StringAttr>(name).getValue().starts_with("cotangent:"))
      cotangents.insert(argument);
  auto contains = [](const llvm::SmallDenseSet<Value> &set) {
    return [&](Value value) { return set.contains(value); };
  };
  for (Operation &op : block) {
    if (llvm::any_of(op.getOperands(), contains(cotangents)))
      cotangents.insert(op.getResults().begin(), op.getResults().end());
    if (isa<PairwiseOp>(op) || llvm::any_of(op.getOperands(), contains(sums)))
      sums.insert(op.getResults().begin(), op.getResults().end());
  }
}

bool FunctionGraph::dependsOnCotangents(Operation *op) const {
  return llvm::any_of(op->getOperands(), [&](Value operand) { return cotangents.contains(operand); });
}

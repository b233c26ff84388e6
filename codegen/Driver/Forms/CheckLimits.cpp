// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that the runtime would refuse to load. Passes.td has the rule.
#include "codegen/Driver/Forms/Passes.h"
#include "dialect/Refusal.h"
#include "passes/Debug.h"
#include "runtime/artifact.h"

#include "llvm/Support/FormatVariadic.h"

#define DEBUG_TYPE "taylor-check-limits"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_CHECKLIMITSPASS
#include "codegen/Driver/Forms/Passes.h.inc"
} // namespace taylor

/// What is too much of a function, as a message; empty if nothing is.
static std::string findExcess(FunctionOp function) {
  auto yield = cast<YieldOp>(function.getBody().front().getTerminator());
  auto arrays = llvm::concat<Value>(function.getBody().getArguments(), yield.getValues());
  auto names = llvm::concat<const Attribute>(function.getArgNames(), *yield.getNames());
  for (auto [array, name] : llvm::zip(arrays, names))
    if (size_t rank = cast<ArrayType>(array.getType()).getAxes().size(); rank > TAYLOR_MAX_RANK)
      return llvm::formatv(
          "unsupported array '{0}' of {1} axes: kernels take at most {2}; join some of its axes",
          cast<StringAttr>(name).getValue().split(':').second, rank, TAYLOR_MAX_RANK);
  if (size_t count = function.getBody().getNumArguments() + yield.getNumOperands();
      count > TAYLOR_MAX_TENSORS)
    return llvm::formatv(
        "unsupported {0} of {1} arrays (inputs, results, and what the backward needs of each sum): "
        "kernels take at most {2}; join inputs of one shape along a further axis, or write fewer sums",
        function.getShortName(), count, TAYLOR_MAX_TENSORS);
  return "";
}

namespace {

struct CheckLimits : taylor::impl::CheckLimitsPassBase<CheckLimits> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOp>()) {
      ++numFunctions;
      std::string message = findExcess(function);
      if (message.empty())
        continue;
      LDBG() << "@" << function.getSymName() << ": " << message;
      refuse(getOperation().emitError()) << message;
      return signalPassFailure();
    }
  }
};

} // namespace

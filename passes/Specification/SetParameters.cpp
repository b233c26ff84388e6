// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of free parameters. Passes.td has the rule.
#include "dialect/Taylor/Parameters.h"
#include "passes/Debug.h"
#include "passes/Passes.h"

#define DEBUG_TYPE "taylor-set-parameters"

namespace taylor {
#define GEN_PASS_DEF_SETPARAMETERSPASS
#include "passes/Passes.h.inc"
} // namespace taylor

using namespace mlir;
using namespace taylor;

namespace {

struct SetParameters : taylor::impl::SetParametersPassBase<SetParameters> {
  using SetParametersPassBase::SetParametersPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    std::string error;
    FailureOr<SmallVector<ParameterSetting>> settings = parseParameterSettings(parameters, error);
    if (failed(settings)) {
      module.emitError() << error;
      return signalPassFailure();
    }
    for (SpecOp spec : module.getOps<SpecOp>()) {
      if (failed(setParameters(spec, *settings)))
        return signalPassFailure();
      LDBG() << "@" << spec.getSymName() << ": " << parameters.getValue();
      ++numSet;
    }
  }
};

} // namespace

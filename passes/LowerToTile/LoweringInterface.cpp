// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/LoweringInterface.h"

using namespace mlir;
using namespace taylor;

#include "passes/LowerToTile/LoweringInterface.cpp.inc"

void taylor::registerLowering(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, TaylorDialect *) {
    attachArrayOps(context);
    attachTokenOps(context);
    attachPairs(context);
    attachStates(context);
  });
}

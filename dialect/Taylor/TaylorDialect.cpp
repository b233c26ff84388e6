// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Taylor/TaylorDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace taylor;

#include "dialect/Taylor/TaylorDialect.cpp.inc"
#include "dialect/Taylor/TaylorEnums.cpp.inc"
#include "dialect/Taylor/TaylorInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/Taylor/TaylorOps.cpp.inc"

void TaylorDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialect/Taylor/TaylorOps.cpp.inc"
      >();
  registerDerivativeRules();
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialects and passes of the whole compiler, for every program that parses or runs them: taylor-opt and
// taylorc cannot drift apart.
#ifndef TAYLOR_CODEGEN_DRIVER_REGISTERALL_H
#define TAYLOR_CODEGEN_DRIVER_REGISTERALL_H

namespace mlir {
class DialectRegistry;
}

namespace taylor {

void registerAllDialects(mlir::DialectRegistry &registry);
void registerAllPasses();

} // namespace taylor

#endif

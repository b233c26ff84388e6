// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs any pass of the compiler, one at a time or in a pipeline, on a module in text.
#include "codegen/Driver/Version.h"
#include "codegen/RegisterAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  llvm::cl::SetVersionPrinter(
      [](llvm::raw_ostream &stream) { stream << taylor::getVersion("taylor-opt") << "\n"; });
  mlir::DialectRegistry registry;
  taylor::registerAllDialects(registry);
  taylor::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "taylor-opt: the compiler's passes, one by one\n", registry));
}

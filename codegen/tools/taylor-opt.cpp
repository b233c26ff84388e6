// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs any pass of the compiler, one at a time or in a pipeline, on a module in text.
#include "codegen/Driver/Version.h"
#include "codegen/RegisterAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"

static constexpr const char *kOverview =
    "taylor-opt: the compiler's passes, one by one\n\n"
    "  taylor-opt softmax.mlir --taylor-specialize=\"head-dim=64 dtype=bf16\"\n"
    "  taylor-opt softmax.mlir --taylor-to-pairwise=head-dim=64 --mlir-print-ir-after-all\n"
    "  taylor-opt softmax.mlir --taylor-to-pairwise=head-dim=64 --taylor-tile-pipeline\n\n"
    "Passes run in the order in which they are given.\n";

/// What is registered before the passes are options of LLVM's code generators, hundreds of them:
/// --help-hidden lists those.
static void hideOptionsOfLLVM() {
  for (auto &option : llvm::cl::getRegisteredOptions())
    if (!option.first.starts_with("help") && option.first != "version")
      option.second->setHiddenFlag(llvm::cl::Hidden);
}

int main(int argc, char **argv) {
  hideOptionsOfLLVM();
  llvm::cl::SetVersionPrinter(
      [](llvm::raw_ostream &stream) { stream << taylor::getVersion("taylor-opt") << "\n"; });
  mlir::DialectRegistry registry;
  taylor::registerAllDialects(registry);
  taylor::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, kOverview, registry));
}

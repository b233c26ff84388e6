// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's language server with the compiler's dialects: an editor starts it and speaks to it over standard
// input and output.
#include "codegen/Driver/CommandLine.h"
#include "codegen/RegisterAll.h"
#include "dialect/Taylor/TaylorDialect.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "runtime/StandardStreams.h"

int main(int argc, char **argv) {
  taylor::runtime::openStandardStreams();
  taylor::reportFatalErrors("taylor-lsp-server");
  taylor::prepareCommandLine("taylor-lsp-server");
  mlir::DialectRegistry registry;
  taylor::registerAllDialects(registry);
  // The server makes its own contexts. The place in the text says more than the operation in its generic
  // form.
  registry.addExtension(
      +[](mlir::MLIRContext *context, taylor::TaylorDialect *) { context->printOpOnDiagnostic(false); });
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}

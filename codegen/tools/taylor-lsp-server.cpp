// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's language server with the compiler's dialects: an editor starts it and speaks to it over standard
// input and output.
#include "codegen/Driver/CommandLine.h"
#include "codegen/Driver/RegisterAll.h"
#include "dialect/Taylor/TaylorDialect.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "runtime/StandardStreams.h"
#include "llvm/Support/thread.h"
#include <optional>

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
  // Editors hand over any text, and MLIR's parser calls itself for each level of nesting: what they nest by
  // accident, some 100,000 levels, must not end the server.
  constexpr unsigned stackBytes = 512u << 20;
  bool hasFailed = false;
  llvm::thread server(std::optional<unsigned>(stackBytes),
                      [&] { hasFailed = mlir::failed(mlir::MlirLspServerMain(argc, argv, registry)); });
  server.join();
  return hasFailed;
}

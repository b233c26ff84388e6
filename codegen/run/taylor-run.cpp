// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates a specification: by the reference, or by kernels that are compared with it.
#include "codegen/Driver/CommandLine.h"
#include "codegen/run/Run.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "runtime/StandardStreams.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  taylor::runtime::openStandardStreams();
  taylor::reportFatalErrors("taylor-run");
  llvm::Expected<taylor::run::RunOptions> options =
      taylor::run::parseOptions(llvm::ArrayRef<const char *>(argv + 1, argv + argc));
  if (!options)
    return (void)taylor::run::fail(options.takeError()), 1;
  if (options->help)
    return llvm::outs() << taylor::run::helpText(), 0;
  if (options->version)
    return llvm::outs() << taylor::getVersion("taylor-run") << "\n", 0;
  if (std::string message = taylor::run::checkWritten(*options); !message.empty())
    return (void)taylor::run::fail(message), 1;
  mlir::DialectRegistry registry;
  registry.insert<taylor::TaylorDialect, mlir::arith::ArithDialect, mlir::math::MathDialect>();
  mlir::MLIRContext context(registry);
  // A message and its place in the file are enough.
  context.printOpOnDiagnostic(false);
  return taylor::run::run(*options, &context);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refusals: errors that say that something is not done, on purpose. All others, those of verifiers too, are
// faults of the compiler where it tries what the user did not ask for.
#ifndef TAYLOR_DIALECT_REFUSAL_H
#define TAYLOR_DIALECT_REFUSAL_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include <string>

namespace taylor {

/// Marks an error as a refusal: `return refuse(op.emitError()) << "unsupported ..";`. The mark is metadata of
/// the diagnostic: its text says the same to people, in any words.
inline mlir::InFlightDiagnostic refuse(mlir::InFlightDiagnostic error) {
  if (mlir::Diagnostic *diagnostic = error.getUnderlyingDiagnostic())
    diagnostic->getMetadata().push_back(mlir::DiagnosticArgument(llvm::StringRef("refusal")));
  return error;
}

/// Whether a diagnostic was marked so.
inline bool isRefusal(mlir::Diagnostic &diagnostic) {
  return llvm::any_of(diagnostic.getMetadata(), [](const mlir::DiagnosticArgument &argument) {
    return argument.getKind() == mlir::DiagnosticArgument::DiagnosticArgumentKind::String &&
           argument.getAsString() == "refusal";
  });
}

/// What the errors of a context are, while this lives; the handler before this one prints them.
class RefusalWatch {
public:
  explicit RefusalWatch(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
            (taylor::isRefusal(diagnostic) ? hasRefusals : hasFaults) = true;
          return mlir::failure();
        }) {}

  /// Whether there were errors, all of them refusals.
  bool isRefused() const { return hasRefusals && !hasFaults; }

private:
  bool hasRefusals = false, hasFaults = false;
  mlir::ScopedDiagnosticHandler handler;
};

/// An error after another one: `what`, which no one asked for, was neither made nor refused.
inline mlir::LogicalResult reportFault(mlir::InFlightDiagnostic error, llvm::StringRef what,
                                       llvm::StringRef wayOut) {
  return error << "expected " << what << ", or why there is none, but got an error: a fault of the compiler, "
               << "please report it; " << wayOut;
}

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What taylor-run evaluates: a specification with sizes, parameters, inputs and cotangents.
#ifndef TAYLOR_CODEGEN_RUN_PROBLEM_H
#define TAYLOR_CODEGEN_RUN_PROBLEM_H

#include "codegen/Driver/SourceText.h"
#include "codegen/run/Options.h"
#include "dialect/Reference/Evaluator.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"
#include <memory>

namespace taylor::run {

using reference::Array;
using reference::Environment;

struct NamedArray {
  std::string name;
  Array array;
};

struct Problem {
  SpecOp spec;
  /// Sizes, offset, parameters and threads; exact arithmetic.
  Environment environment;
  /// One per argument and one per result of the specification, rounded to their storage types.
  std::vector<NamedArray> inputs, cotangents;
  /// Storage type of each argument and result.
  std::vector<Dtype> inputDtypes;
  Dtype dtype = Dtype::F32;
  /// With f32: products round their operands to tf32.
  bool tf32Products = false;
  /// Whether inputs hold NaN and infinities on purpose.
  bool hasUnreal = false;
  /// Eager code's arithmetic in this type; `draw`: another draw of its rounding.
  reference::RoundingRules eager(uint64_t draw = 0) const {
    return reference::RoundingRules::eager(dtype, tf32Products, draw);
  }
};

/// Prints `taylor-run: MESSAGE` to stderr, and fails.
mlir::LogicalResult fail(const llvm::Twine &message);
mlir::LogicalResult fail(llvm::Error error);

/// A module with its text, which errors found while evaluating quote.
struct ModuleFile {
  explicit ModuleFile(mlir::MLIRContext *context) : diagnostics(sources, context) { quoteShortly(sources); }
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Parses and verifies a file; "-" is the standard input.
mlir::FailureOr<std::unique_ptr<ModuleFile>> parseModule(const std::string &path, mlir::MLIRContext *context);

/// Makes the problem that the options describe: sizes from --shape, files and types; random inputs where
/// there is no file.
mlir::FailureOr<Problem> makeProblem(SpecOp spec, const RunOptions &options);

/// The arrays alone.
std::vector<Array> arraysOf(llvm::ArrayRef<NamedArray> arrays);

/// The form that a function of kernels ran in.
struct RanForm {
  FunctionRole function = FunctionRole::Forward;
  /// As taylor_form says it: "chunked", "parallel on sm_80".
  std::string text;
  Form form;
  bool operator==(const RanForm &) const = default;
};

/// Outputs and, where asked for, gradients of a problem (one per argument; without elements for integers).
struct Outcome {
  std::vector<Array> outputs, gradients;
  /// Of compiled kernels: the form of each function that ran, the forward first.
  std::vector<RanForm> forms;
  /// Calls took the tokens in pieces, each from the states of the one before.
  bool inPieces = false;
  /// Some sums went through states.
  bool hasStates() const {
    return inPieces || llvm::any_of(forms, [](const RanForm &ran) {
             return ran.form == Form::Chunked || ran.form == Form::Recurrent;
           });
  }
};
/// The forms of outputs and of gradients.
struct Forms {
  reference::StatesForm forward, backward;
  bool operator==(const Forms &other) const { return forward == other.forward && backward == other.backward; }
};

/// Evaluates with the arithmetic given: exact, or eager in a type, and then in the forms given.
mlir::FailureOr<Outcome> evaluate(Problem &problem, reference::RoundingRules arithmetic, bool withGradients,
                                  const Forms &forms = {});

} // namespace taylor::run

#endif

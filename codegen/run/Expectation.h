// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel's outputs and gradients should be, and how far from it each may be.
#ifndef TAYLOR_CODEGEN_RUN_EXPECTATION_H
#define TAYLOR_CODEGEN_RUN_EXPECTATION_H

#include "codegen/run/Problem.h"
#include "dialect/Reference/Contract.h"

namespace taylor::run {

/// One output or gradient of a problem, by the reference and by eager code.
struct ExpectedResult {
  std::string kind, name; ///< "output" or "gradient", and of what
  Array reference, eager;
  /// As in Contract; 0 until draws are asked for.
  Real eagerOverDraws = 0;
  /// Elements of a problem with infinities that are numbers, but would be NaN in the range of kernels' type
  /// (RoundingRules::toRange): there an infinity times exp(-1000) is one times 0. A kernel may give either.
  std::vector<size_t> ofRange = {};
  /// `gradient q`, but `o`, as tables name it.
  std::string title() const { return kind == "gradient" ? "gradient " + name : name; }
};

/// All results of a problem, in the order of the specification: outputs, then gradients of arguments that
/// have one.
class Expectation {
public:
  /// Evaluates the problem twice: exactly, and as eager code in its type.
  static mlir::FailureOr<Expectation> evaluate(Problem &problem, bool withGradients);

  /// What is judged has these forms. In 16-bit types eager code is evaluated again where it had others; the
  /// contract gives sums through states in f32 and f64 a bound of their own.
  mlir::LogicalResult setForms(Problem &problem, bool withGradients, const Forms &forms);

  /// As in Contract.
  void setStrict(bool isStrict, bool splitProducts) {
    contract.isStrict = isStrict;
    contract.splitProducts = splitProducts;
  }

  /// Evaluates eager code in several draws of its rounding, for results that it may have hit by luck.
  mlir::LogicalResult addDraws(Problem &problem, bool withGradients);

  /// Judges what a kernel gave for result i; no elements are zeros.
  reference::Comparison judge(size_t i, llvm::ArrayRef<Real> ours) const;

  /// Writes into a folder, which is made: each argument, cotangent and reference as KIND.NAME.npy (references
  /// in f64), and contract.json: for each result the norm of the reference, of eager code's error, and of the
  /// error that is allowed.
  mlir::LogicalResult write(const std::string &folder, const Problem &problem) const;

  std::vector<ExpectedResult> results;

private:
  /// Evaluates eager code with the roundings of a draw (0: to nearest), and visits its results by their
  /// places.
  mlir::LogicalResult visitEager(Problem &problem, bool withGradients, int draw,
                                 llvm::function_ref<void(size_t, reference::Array &)> visit);
  mlir::LogicalResult evaluateEager(Problem &problem, bool withGradients);
  mlir::LogicalResult findOfRange(Problem &problem, bool withGradients);
  void findPeers();

  /// Of eager code.
  Forms forms;
  reference::Contract contract;
  /// Of a problem with numbers that are NaN or infinite: results are compared as to where they are.
  bool hasUnreal = false;
};

} // namespace taylor::run

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference evaluator: a specification, or a derived function, evaluated operation by operation.
#ifndef TAYLOR_DIALECT_REFERENCE_EVALUATOR_H
#define TAYLOR_DIALECT_REFERENCE_EVALUATOR_H

#include "dialect/Reference/Operations.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace taylor::reference {

/// One evaluation, with everything that its derivative needs. Keep it alive between `run` and `pullback`.
class Evaluation {
public:
  /// `environment` holds sizes, offset, parameters and rounding; it must outlive the evaluation.
  explicit Evaluation(const Environment &environment) : environment(environment) {}

  /// Evaluates the body of a taylor.spec or taylor.function on one array per argument. In a specification
  /// rows that see no key are dead without a word; in a function only `live` says so. Fails with an error at
  /// an operation.
  mlir::LogicalResult run(mlir::Operation *container, llvm::ArrayRef<Array> inputs);

  /// What the body yields, in order.
  llvm::ArrayRef<Array> getResults() const { return results; }

  /// Reverse mode: one gradient per argument, given a cotangent per result (without elements: zero). An
  /// integer argument has a gradient without elements; one that the results do not depend on has zeros.
  std::vector<Array> pullback(llvm::ArrayRef<Array> cotangents) const;

private:
  struct Slot {
    Array array, sees;
    bool differentiable = false;
  };
  struct Step {
    mlir::Operation *op;
    Pullback pullback;
  };
  const Slot &slotOf(mlir::Value value) const { return *slots.at(value); }
  mlir::FailureOr<Evaluated> evaluate(mlir::Operation *op, llvm::ArrayRef<EvaluatedOperand> operands);

  const Environment &environment;
  mlir::Block *body = nullptr;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Slot>> slots;
  std::vector<Step> steps;
  std::vector<Array> results;
};

/// Checks that arrays fit the arguments of a container: axes by type, one size per axis, known sizes as
/// written; and adds the sizes they give to `environment`. Fails with an error that names the argument.
mlir::LogicalResult bindSizes(mlir::Operation *container, llvm::ArrayRef<Array> inputs,
                              Environment &environment);

/// Names of the arguments and of the results of a taylor.spec or taylor.function.
std::vector<std::string> argumentNames(mlir::Operation *container);
std::vector<std::string> resultNames(mlir::Operation *container);

} // namespace taylor::reference

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The meaning of each operation on arrays: its results, and its vector-Jacobian product as a closure.
#ifndef TAYLOR_DIALECT_REFERENCE_OPERATIONS_H
#define TAYLOR_DIALECT_REFERENCE_OPERATIONS_H

#include "dialect/Reference/Array.h"
#include "dialect/Taylor/TaylorDialect.h"
#include <functional>

namespace taylor::reference {

/// An operand as its operation sees it. Arrays outlive the evaluation and its pullback.
struct EvaluatedOperand {
  const Array *array = nullptr;
  /// Of a value that depends on sums over keys: 1 at rows where one of them sees a key, 0 where none does,
  /// over some of the array's axes. Without elements for a value that depends on no sum. Functions at the
  /// pairwise level spell such guards out and have none here.
  const Array *sees = nullptr;
  bool differentiable = false;
};

/// From the cotangent of each result to that of each operand; an array without elements is zero.
using Pullback = std::function<std::vector<Array>(llvm::ArrayRef<Array> cotangents)>;

struct Evaluated {
  std::vector<Array> results;
  /// `EvaluatedOperand::sees` of each result.
  std::vector<Array> sees;
  Pullback pullback;
};

/// The shape of a type with run-time sizes from the environment.
Shape shapeOf(ArrayType type, const Environment &environment);

/// Fails where a query stands at no key's position; `purpose`: what asks for one, or nothing.
mlir::LogicalResult verifyQueriesAtKeys(mlir::Operation *op, llvm::StringRef purpose,
                                        const Environment &environment);

/// How one operation is evaluated.
struct EvaluationRule {
  mlir::TypeID operation;
  mlir::FailureOr<Evaluated> (*evaluate)(mlir::Operation *op, llvm::ArrayRef<EvaluatedOperand> operands,
                                         const Environment &environment);
};

/// The rule of an operation that `evaluate` evaluates.
template <typename Op,
          mlir::FailureOr<Evaluated> (*evaluate)(Op, llvm::ArrayRef<EvaluatedOperand>, const Environment &)>
EvaluationRule ruleOf() {
  return {mlir::TypeID::get<Op>(),
          [](mlir::Operation *op, llvm::ArrayRef<EvaluatedOperand> operands, const Environment &environment) {
            return evaluate(llvm::cast<Op>(op), operands, environment);
          }};
}

/// The operations of each file, in LocalOperations.cpp, TokenOperations.cpp and so on.
llvm::ArrayRef<EvaluationRule> getLocalRules();
llvm::ArrayRef<EvaluationRule> getTokenRules();
llvm::ArrayRef<EvaluationRule> getPairRules();
llvm::ArrayRef<EvaluationRule> getStateRules();
llvm::ArrayRef<EvaluationRule> getChunkRules();

/// `EvaluatedOperand::sees` of a value over `shape` that depends on all `operands`.
Array joinSees(llvm::ArrayRef<EvaluatedOperand> operands, const Shape &shape);
/// The same of a value whose rows mix tokens: each depends on some row that sees a key.
Array mixSees(llvm::ArrayRef<EvaluatedOperand> operands);

/// An array cut into lines along one axis: element i of a line is at begin + i * stride.
struct Lines {
  Lines(const Shape &shape, AxisRef axis);
  int64_t outer = 1, length = 1, stride = 1;
  void forEach(llvm::function_ref<void(int64_t begin)> visit) const;
};

} // namespace taylor::reference

#endif

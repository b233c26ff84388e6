// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reverse differentiation of the scalar regions of array operations, from the rules of their operations.
#ifndef TAYLOR_DIALECT_TAYLOR_REGIONDERIVATIVE_H
#define TAYLOR_DIALECT_TAYLOR_REGIONDERIVATIVE_H

#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/IR/IRMapping.h"

namespace taylor {

/// True if a scalar is computed without any argument of its region: a number, a size, a parameter, a
/// position. Such a bound of a maximum or minimum is a clamp's, whose derivative passes on the bound.
bool isConstantScalar(mlir::Value scalar);

/// Clones the operations of `block`, without its terminator, at the builder. `values` maps the arguments, and
/// then all values, to the clones.
void cloneScalars(mlir::OpBuilder &builder, mlir::Block &block, mlir::IRMapping &values);

/// Differentiates a block that `cloneScalars` cloned at the builder. `yielded[i]` is the cotangent of the
/// i-th scalar that the block yields, or null. Gives one cotangent per block argument, null where it is zero.
/// Fails, with a message at the operation, where an operation has no rule.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> differentiateScalars(mlir::OpBuilder &builder,
                                                                     mlir::Block &block,
                                                                     mlir::IRMapping &values,
                                                                     llvm::ArrayRef<mlir::Value> yielded);

/// The adjoint of reading an array of type `operand` at every point of `domain`: the axes to sum.
llvm::SmallVector<AxisRef> axesToSum(ArrayType domain, ArrayType operand);

/// A product with a cotangent or with what is read of a state, and 0 where that factor is 0: nothing is asked
/// there. The token may be NaN (a key that no query sees, a query that sees none), and 0 times NaN is NaN.
mlir::Value buildAsked(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value factor, mlir::Value product);

} // namespace taylor

#endif

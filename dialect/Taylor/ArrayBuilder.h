// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building operations on arrays, regions included, from C++.
#ifndef TAYLOR_DIALECT_TAYLOR_ARRAYBUILDER_H
#define TAYLOR_DIALECT_TAYLOR_ARRAYBUILDER_H

#include "dialect/Taylor/TaylorDialect.h"
#include "llvm/ADT/SetVector.h"

#include "mlir/IR/IRMapping.h"

namespace taylor {

/// Builds the scalar of a region from its arguments; null to give up.
using ScalarBody =
    llvm::function_ref<mlir::Value(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange arguments)>;

/// The array type of a value.
ArrayType arrayTypeOf(mlir::Value array);

/// Joined axes of arrays of one valid program, as an array of `elementType` (`extra`: further axes, by name).
ArrayType joinAxes(mlir::ValueRange arrays, mlir::Type elementType, llvm::ArrayRef<AxisRef> extra = {});

/// The type with the axis b in front, where it has none.
ArrayType withBatch(ArrayType type);

/// Gives `region` one block with arguments of these types.
mlir::Block *addBlock(mlir::Region &region, mlir::TypeRange argumentTypes, mlir::Location loc);

/// The scalar types of arrays: those of region arguments.
llvm::SmallVector<mlir::Type> scalarTypesOf(mlir::ValueRange arrays);

/// `taylor.map` from a body; the result has the joined axes, or those of `type`. Null if the body gives up.
mlir::Value buildMap(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange arrays,
                     mlir::ValueRange live, ScalarBody body, ArrayType type = {});

/// `taylor.reduce` of the joined arrays over axes (`group`: h into g). Null if the body gives up.
mlir::Value buildReduce(mlir::OpBuilder &builder, mlir::Location loc, Reduction kind,
                        llvm::ArrayRef<AxisRef> axes, mlir::ValueRange arrays, mlir::ValueRange live,
                        ScalarBody body);

/// The largest term so far along `token`, from the token itself or, `exclusive`, from those before it; of its
/// document alone, where `within` numbers them; then also over its batch. `term` is a scalar of the array.
mlir::Value buildRunningMaximum(mlir::OpBuilder &builder, mlir::Value array, AxisRef token,
                                mlir::Value within, bool exclusive, ScalarBody term);

/// Sum of two arrays of the same axes.
mlir::Value buildSum(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value a, mlir::Value b);

/// An array rounded to another storage type: a map without operations. The array itself if the type is right.
mlir::Value buildConversion(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value array,
                            mlir::Type elementType);

/// The array with its axes in the order of `type`; integers stay as they are. Operations give their results
/// in the order of the table in dialect/Taylor/README.md; arguments, and so their gradients, have them as
/// they were declared.
mlir::Value buildInOrder(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value array, ArrayType type);

/// A scalar and all that it is computed from, each once: scalars share operands.
llvm::SetVector<mlir::Value> collectScalars(mlir::Value scalar);

/// Clones a scalar of a region and what it is computed from, except what `values` maps already (arguments,
/// to begin with).
mlir::Value cloneScalar(mlir::OpBuilder &builder, mlir::Value scalar, mlir::IRMapping &values);

/// A floating-point constant in a region.
mlir::Value buildNumber(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type, double value);

/// In a region: whether x is not 0. NaN is not.
mlir::Value buildIsNonzero(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x);

/// In a region: x where the condition holds, else 0.
mlir::Value buildOrZero(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition, mlir::Value x);

/// In a region: what rounding x to a narrower type takes from it, in x's type. Of a number that is infinite
/// there nothing is left, and not infinity less infinity.
mlir::Value buildRest(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value x, mlir::FloatType narrow);

/// In a region: exp(x) where the condition holds, else 0. Where it does not hold, exp(x) may be infinite and
/// the derivative is 0 all the same.
mlir::Value buildExpOrZero(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value condition,
                           mlir::Value x);

} // namespace taylor

#endif

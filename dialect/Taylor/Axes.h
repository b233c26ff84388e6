// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named axes: the tokens and channels of arrays, and how they broadcast by name.
#ifndef TAYLOR_DIALECT_TAYLOR_AXES_H
#define TAYLOR_DIALECT_TAYLOR_AXES_H

#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The axis t, u or lag of an array, or "".
llvm::StringRef tokenAxis(ArrayType array);
/// Whether a reduction is over t, u or lag.
bool reducesTokens(ReduceOp op);

/// The one axis of an array that is neither a run-time axis nor `f`; empty if there is none or several.
llvm::StringRef channelOf(ArrayType array);
/// Whether an array has any axis that is no run-time axis, `f` and several included.
bool hasChannel(ArrayType array);
/// The size of the one channel axis; 1 where there is none or several.
int64_t countChannels(ArrayType array);
/// Elements at one place of the run-time axes.
int64_t countPlaceElements(ArrayType array);
/// The channels of several arrays, as far as each has one: what size(..) may name in formulas without
/// channels.
llvm::SmallVector<AxisRef> channelNamesOf(llvm::ArrayRef<ArrayType> arrays);

/// The axes of a broadcast result: the union, in the order b, h, g, t, u, lag, d, e, f, free axes as met; h
/// absorbs g. Fails, with a message, on two of t, u and lag, or on one axis with two sizes. `extra` are axes
/// without an array (`t` in a formula).
mlir::FailureOr<ArrayType> joinArrays(EmitError emitError, mlir::MLIRContext *context,
                                      llvm::ArrayRef<ArrayType> arrays, llvm::ArrayRef<AxisRef> extra,
                                      mlir::Type elementType);

/// f64 if any float array is f64 or there is none, else f32: the type regions compute in.
mlir::Type realTypeOf(mlir::MLIRContext *context, mlir::TypeRange arrays);

/// The same of an operation whose results are known: theirs where no array is a float array.
mlir::Type realTypeOf(mlir::MLIRContext *context, mlir::TypeRange arrays, mlir::TypeRange results);

/// The axes that `taylor.index` operations in a region name, each once.
llvm::SmallVector<AxisRef> indexedAxes(mlir::Region &region);

} // namespace taylor

#endif

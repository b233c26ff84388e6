// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar operations of a tile program with the types that a target computes in.
#ifndef TAYLOR_CODEGEN_TARGETS_FRAME_SCALARS_H
#define TAYLOR_CODEGEN_TARGETS_FRAME_SCALARS_H

#include "mlir/IR/Builders.h"

namespace mlir::tile {

/// Whether it is an operation on numbers, of arith or math, with one result.
bool isScalarOp(Operation *op);

/// `type`, or `indexType` for an index.
Type scalarType(Type type, Type indexType);

/// Whether it changes the bits of an integer, or makes one an index.
bool isIntegerCast(Operation *op);
/// What `op`, an integer cast, is of `value`, with elements of the type `to`: an extension with sign or
/// without, a truncation, or nothing where both have as many bits.
Value castInteger(OpBuilder &builder, Operation *op, Value value, Type to);

/// A scalar op of other operands, where index is `indexType`.
Value cloneScalar(OpBuilder &builder, Operation *op, ValueRange operands, Type indexType);

} // namespace mlir::tile
#endif

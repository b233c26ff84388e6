// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar ops of maps, on vectors.
#ifndef TAYLOR_CODEGEN_TARGETS_CPU_VECTOROPS_H
#define TAYLOR_CODEGEN_TARGETS_CPU_VECTOROPS_H
#include "codegen/Targets/CPU/Processors.h"
#include "dialect/Tile/TileDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::tile::cpu {

/// Element type of a tile's element in registers: index is i32, 16-bit floats are f32, i1 stays.
Type registerType(Type element);

/// Clones one op of a map's region on vectors of `lanes` elements, of these operands. Index becomes i32,
/// 16-bit floats are computed in f32.
Value emitVectorOp(ImplicitLocOpBuilder &b, Operation *op, ValueRange operands, int64_t lanes,
                   const Processor &target);

/// f32 to bf16, nearest even, in integers: LLVM calls a library for it where the target lacks AVX512-BF16.
Value emitRoundToBF16(ImplicitLocOpBuilder &b, Value x);

/// Refuses, with a diagnostic, ops in maps and between them that cannot be emitted.
LogicalResult checkScalarOps(KernelOp kernel);

} // namespace mlir::tile::cpu
#endif

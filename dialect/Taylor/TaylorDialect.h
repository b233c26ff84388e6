// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The taylor dialect: types, attributes, interfaces and operations.
#ifndef TAYLOR_DIALECT_TAYLOR_TAYLORDIALECT_H
#define TAYLOR_DIALECT_TAYLOR_TAYLORDIALECT_H

#include "dialect/AxisRef.h"
#include "dialect/Features/Features.h"
#include "dialect/Taylor/Carried.h"
#include "dialect/Taylor/Reach.h"
#include "dialect/Tile/TileTypes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/Taylor/TaylorDialect.h.inc"
#include "dialect/Taylor/TaylorEnums.h.inc"
#include "dialect/Taylor/TaylorInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/Taylor/TaylorAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialect/Taylor/TaylorTypes.h.inc"
#define GET_OP_CLASSES
#include "dialect/Taylor/TaylorOps.h.inc"

namespace taylor {

/// A module's attribute, `#taylor.interface` (taylor-declare-interface).
inline constexpr llvm::StringLiteral kInterface = "taylor.interface";
/// A module's attribute, `#taylor.request`.
inline constexpr llvm::StringLiteral kRequest = "taylor.request";

} // namespace taylor

#endif

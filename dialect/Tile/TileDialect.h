// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile dialect: programs of kernels over tiles with named axes. See README.md.
#ifndef TAYLOR_DIALECT_TILE_TILEDIALECT_H
#define TAYLOR_DIALECT_TILE_TILEDIALECT_H

#include "dialect/Tile/TileTypes.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/Tile/TileDialect.h.inc"

#define GET_OP_CLASSES
#include "dialect/Tile/TileOps.h.inc"

namespace mlir::tile {

/// Whether an operation has one of these fast-math flags.
bool hasFastMath(Operation *op, arith::FastMathFlags any);

/// What a target may do with an operation of a map that `isRelaxed`. It is written as a fast-math flag, a
/// property of the operation; an operation without it, made by whatever pass, has the more exact result.
///
/// | operation | flag | the target may |
/// |---|---|---|
/// | math.exp, math.exp2 | afn | take it for 0 below 2^-64: a weight of a pair or a factor of one |
/// | arith.divf | arcp | multiply by a rounded reciprocal, or be two units of the last place off |
/// | math.sqrt | afn | be two units of the last place off |
inline constexpr arith::FastMathFlags kRelaxed = arith::FastMathFlags::afn;
inline constexpr arith::FastMathFlags kRelaxedQuotient = arith::FastMathFlags::arcp;
bool isRelaxed(Operation *op);
/// Gives one of these operations its flag.
void relax(Operation *op);

/// The attribute of a `taylor.function` and of a `tile.program` that holds its `#tile.plan`.
inline constexpr llvm::StringLiteral kPlan = "plan";

/// A module's attribute, a list of `#tile.program_facts` (taylor-describe-programs).
inline constexpr llvm::StringLiteral kPrograms = "tile.programs";
/// A module's attribute, `#tile.target`.
inline constexpr llvm::StringLiteral kTarget = "tile.target";

/// The sizes of an operation's plan; the defaults where it has none.
taylor::TileSizes getTileSizes(Operation *op);

/// Whether an operation's plan asks for a pass; without a plan the pass runs on it, as in its own test.
bool isPlanned(Operation *op, llvm::function_ref<bool(const taylor::TileSizes &)> asks);

/// Axes of `tiles` together, each once. Tiles that share an axis agree on its size in verified IR.
llvm::SmallVector<Axis> unionAxes(TypeRange tiles);

/// How one axis of an array is addressed by a load, store or accumulate.
struct WindowAxis {
  llvm::StringRef tileAxis;       // empty: the tile does not have it, one element
  int64_t size;                   // elements of the tile along it, 1 without
  Value offset;                   // null: 0
  llvm::StringRef minusAxis = {}; // of the tile too: subtracted, `lag as t - u`; empty: none
};

/// One entry per axis of the array, in its order.
llvm::SmallVector<WindowAxis> getWindow(ArrayType array, TileType tile, ArrayAttr arrayAxes,
                                        ArrayAttr tileAxes, ValueRange offsets);

/// Fails with a diagnostic of `op` unless the window covers each axis of the tile once, names axes of the
/// array, and elements convert.
LogicalResult verifyWindow(Operation *op, ArrayType array, TileType tile, ArrayAttr arrayAxes,
                           ArrayAttr tileAxes, ValueRange offsets);

/// Fails with a diagnostic of `op` unless `panel` has the vectors' axes, with features along `to` in place of
/// the components along `axis`, and there is a weight per order, if any.
LogicalResult verifyPanel(Operation *op, TileType vectors, AxisRef axis, TileType panel, llvm::StringRef to,
                          FeaturesAttr features, std::optional<ArrayAttr> weights);

/// The numbers of an array of f64; empty where there is none.
llvm::SmallVector<double> numbersOf(std::optional<ArrayAttr> numbers);

} // namespace mlir::tile
#endif

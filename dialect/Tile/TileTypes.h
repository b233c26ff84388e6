// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Types and attributes of the tile dialect.
#ifndef TAYLOR_DIALECT_TILE_TILETYPES_H
#define TAYLOR_DIALECT_TILE_TILETYPES_H

#include "dialect/AxisRef.h"
#include "dialect/Features/Features.h"
#include "dialect/Tile/FormCost.h"
#include "dialect/Tile/TileSizes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/Types.h"

namespace mlir::tile {
using taylor::axesAttr;
using taylor::axisAttr;
using taylor::AxisMap;
using taylor::AxisRef;
using taylor::AxisRole;
} // namespace mlir::tile

#include "dialect/Tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Tile/TileAttrs.h.inc"

namespace mlir::tile {

/// The role of a function by its name without the specification's ("forward"), or of one in a further form
/// ("forward_chunked"); nothing where it has another name.
std::optional<taylor::FunctionRole> roleOfName(llvm::StringRef name);

/// A named axis of a tile (static extent) or of an array.
struct Axis {
  StringAttr name;
  ExtentAttr extent;

  static Axis get(MLIRContext *context, AxisRef name, int64_t size) {
    return {StringAttr::get(context, name), ExtentAttr::get(context, size)};
  }
  llvm::StringRef getName() const { return name.getValue(); }
  /// Size of a static axis.
  int64_t getSize() const { return extent.getSize(); }
  bool operator==(const Axis &other) const { return name == other.name && extent == other.extent; }
};

inline llvm::hash_code hash_value(const Axis &axis) {
  return llvm::hash_combine(axis.name.getAsOpaquePointer(), axis.extent.getAsOpaquePointer());
}

/// What changes no number that it is combined with: 0, minus infinity, infinity.
double identityOf(ReductionKind kind);

void sortByName(llvm::MutableArrayRef<Axis> axes);

/// b, h, g, t, u, lag: roles with a run-time size.
inline bool isRole(AxisRef name) { return taylor::isRuntimeAxis(name); }
/// The run-time size that is no axis: the position of query 0.
inline constexpr llvm::StringLiteral kOffset = "offset";

/// Elements of an axis with role lag before that of query 0 with key U, and after those of the last query: a
/// tile of at most so many tokens that begins within T and U lies within it.
inline constexpr int64_t kLagMargin = 128;

/// `64`, `t`, `ceildiv(t, 64)` or `ceildiv(4, b * g)`, as arrays and grids write it; null after a diagnostic.
ExtentAttr parseExtent(AsmParser &parser);
void printExtent(llvm::raw_ostream &stream, ExtentAttr extent);

} // namespace mlir::tile

#define GET_TYPEDEF_CLASSES
#include "dialect/Tile/TileTypes.h.inc"
#endif

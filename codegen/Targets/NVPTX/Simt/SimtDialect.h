// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simt dialect: tiles spread over the threads of a block. See README.md.
#ifndef TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_SIMTDIALECT_H
#define TAYLOR_CODEGEN_TARGETS_NVPTX_SIMT_SIMTDIALECT_H

#include "dialect/Tile/TileDialect.h"
#include "dialect/Tile/TileSyntax.h"

#include "codegen/Targets/NVPTX/Simt/SimtDialect.h.inc"
#include "codegen/Targets/NVPTX/Simt/SimtEnums.h.inc"

namespace mlir::simt {

using tile::axesAttr;
using tile::AxisMap;
using tile::AxisRef;
using tile::AxisRole;

/// Sums of the warps of a block that are still apart.
inline constexpr llvm::StringLiteral kWarpAxis = "warp";

/// One digit of a lane, warp or register number: it adds `stride` times its value, from 0 to below `count`,
/// to the place along `axis`. Without axis it changes nothing: threads that differ in it hold the same
/// elements.
struct Digit {
  StringAttr axis;
  int64_t stride = 0, count = 2;

  bool isReplica() const { return !axis; }
  bool isAlong(llvm::StringRef name) const { return axis && axis.getValue() == name; }
  bool operator==(const Digit &) const = default;
};

inline llvm::hash_code hash_value(const Digit &digit) {
  return llvm::hash_combine(digit.axis.getAsOpaquePointer(), digit.stride, digit.count);
}

/// The block's shared memory, as a resource of side effects.
struct SharedMemory : SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() override { return "SharedMemory"; }
};

} // namespace mlir::simt

#define GET_ATTRDEF_CLASSES
#include "codegen/Targets/NVPTX/Simt/SimtAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "codegen/Targets/NVPTX/Simt/SimtTypes.h.inc"
#define GET_OP_CLASSES
#include "codegen/Targets/NVPTX/Simt/SimtOps.h.inc"

namespace mlir::simt {

/// The layout of a tile; null before `taylor-simt-assign-layouts`.
inline LayoutAttr layoutOf(Type tile) {
  return llvm::dyn_cast_if_present<LayoutAttr>(llvm::cast<tile::TileType>(tile).getLayout());
}

/// Whether threads stand at the same places in tiles of both layouts, except along one axis.
bool haveSamePlaces(LayoutAttr a, LayoutAttr b, llvm::StringRef but = "");

/// Shape of an accumulator of mma.m16n8, in elements and warps. Warps beyond the rows and columns hold
/// copies.
struct FragmentShape {
  llvm::StringRef rows, columns; ///< axes
  int64_t numRows = 0, numColumns = 0;
  int64_t rowWarps = 1, columnWarps = 1; ///< powers of two
  /// Warps have neighbouring blocks of 16 rows, and each has every `rowWarps`th: 64 rows of four warps are
  /// the accumulator of wgmma.m64 (PTX ISA, "Register Fragments and Shared Memory Matrix Layouts").
  bool warpsFirst = false;
};

/// Accumulator of mma.m16n8 (PTX ISA, "Matrix Fragments for mma.m16n8k16"), each warp a rectangle of
/// neighbouring rows and columns; also the operands, with their own axis as rows and the summed axis as
/// columns. Rows must be a multiple of 16 (of 8 if `numRows` is 8, or for a right operand), columns of 8.
/// `warps`: of the block.
LayoutAttr getFragmentLayout(MLIRContext *context, const FragmentShape &shape, int64_t warps);

/// `vector` neighbours along `contiguous` in one thread, then lanes along that axis up to `lanesAlong`
/// elements in all (a power of two times `vector`; 0: as many as the axis has), then lanes and warps along
/// the other axes, and the rest in registers. For what is local to elements: loads and stores of neighbouring
/// lanes are neighbours in memory.
LayoutAttr getBlockedLayout(tile::TileType tile, llvm::StringRef contiguous, int64_t vector,
                            int64_t lanesAlong, int64_t warps);

/// All of `axis` in each thread, the other axes over lanes and warps. For scans, and joins that no other
/// layout allows.
LayoutAttr getSerialLayout(tile::TileType tile, llvm::StringRef axis, int64_t warps);

/// Elements offset, offset + stride, .. of one axis, `size` of them.
struct AxisSlice {
  llvm::StringRef axis;
  int64_t offset = 0, size = 0, stride = 1;
};
/// The layout of a slice whose elements stay in their threads; null where lanes or warps would have to be
/// left out.
LayoutAttr cutLayout(LayoutAttr layout, const AxisSlice &slice);
/// A layout of `size` elements along the slice's axis whose cut is `layout`, except for the order of
/// registers; null where there is none.
LayoutAttr extendLayout(LayoutAttr layout, const AxisSlice &slice, int64_t size);

/// What a fragment's lanes say of a layout: the axes of rows and columns, where lanes 0 and 1 step 2 and 4
/// along the columns and lanes 2 to 4 step 1, 2 and 4 along the rows.
struct FragmentAxes {
  llvm::StringRef rows, columns;
};
std::optional<FragmentAxes> getFragmentAxes(LayoutAttr layout);

/// Whether each thread holds, under `from`, every element that it needs under `to`.
bool isRenumbering(LayoutAttr from, LayoutAttr to, tile::TileType tile);

/// The entry's name of kernel @attend of program @forward: "forward_attend".
inline std::string getEntryName(llvm::StringRef program, llvm::StringRef kernel) {
  return (program + "_" + kernel).str();
}

} // namespace mlir::simt
#endif

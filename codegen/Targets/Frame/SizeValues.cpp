// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/Frame/SizeValues.h"
#include "dialect/Tile/Extents.h"
#include "runtime/AxisDim.h"

using namespace mlir;
using namespace mlir::tile;

static_assert(kLagMargin == TAYLOR_LAG_MARGIN, "the compiler and the runtime agree on the size of lag");
static_assert(
    [] {
      for (size_t i = 0; i < std::size(kSizeRoles); ++i)
        if (size_t(taylor::dimOf(kSizeRoles[i]).value_or(TAYLOR_DIM_OFFSET)) != i)
          return false;
      return true;
    }(),
    "the compiler and the runtime agree on the order of sizes");

SizeValues::SizeValues(OpBuilder &builder, Location loc, ValueRange values, Runs runs)
    : Arithmetic(builder, loc,
                 runs == Runs::block ? arith::IntegerOverflowFlags::nsw : arith::IntegerOverflowFlags::none),
      runs(runs) {
  for (auto [role, value] : llvm::zip_equal(kSizeRoles, values))
    sizes[role] = value;
}

Value SizeValues::size(AxisRef role) const {
  auto found = sizes.find(role);
  return found == sizes.end() && role == AxisRole::Lag ? lagSize(*this) : found->second;
}

void SizeValues::makeLag() { sizes[AxisRole::Lag] = lagSize(*this); }

Value SizeValues::of(ExtentAttr extent) const { return evaluateExtent(extent, *this); }

SmallVector<Value> SizeValues::of(ArrayType type) const {
  return llvm::map_to_vector(type.getAxes(), [&](const Axis &axis) { return of(axis.extent); });
}

SmallVector<Value> SizeValues::gridOf(KernelOp kernel) const {
  return llvm::map_to_vector(llvm::seq<unsigned>(0, kernel.getGrid().size()),
                             [&](unsigned i) { return of(kernel.getExtent(i)); });
}

Value SizeValues::blocksOf(KernelOp kernel) const {
  auto extents = llvm::map_range(llvm::seq<unsigned>(0, kernel.getGrid().size()),
                                 [&](unsigned i) { return of(kernel.getExtent(i)); });
  return countOf(extents, *this);
}

SmallVector<Value> SizeValues::stridesOf(ArrayRef<Value> sizes, Value pitch) const {
  return rowMajorStrides(sizes, *this, pitch ? std::optional(pitch) : std::nullopt);
}

Value SizeValues::workspacePitch(ArrayType type) const {
  ArrayRef<Axis> axes = type.getAxes();
  if (axes.empty())
    return i64(1);
  Value size = of(axes.back().extent);
  if (axes.size() < 2 || axes.back().extent.isStatic() || !axes[axes.size() - 2].extent.isStatic())
    return size;
  // An odd number of lines of the cache: rows of one column would else share a few of its sets.
  Value line = i64(kLineBytes / (type.getElementType().getIntOrFloatBitWidth() / 8));
  Value lines = ceilDivide(size, line);
  return mul(builder.createOrFold<arith::OrIOp>(loc, lines, i64(1)), line);
}

Value SizeValues::workspaceBytes(ArrayType type) const {
  Value bytes = i64(type.getElementType().getIntOrFloatBitWidth() / 8);
  ArrayRef<Axis> axes = type.getAxes();
  for (auto [i, axis] : llvm::enumerate(axes))
    bytes = mul(bytes, i + 1 < axes.size() ? of(axis.extent) : workspacePitch(type));
  return bitAnd(add(bytes, kLineBytes - 1), i64(-kLineBytes));
}

bool mlir::tile::isPlaceOfGrid(Value scalar, ExtentAttr extent) {
  auto argument = dyn_cast<BlockArgument>(scalar);
  auto kernel = argument ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp()) : KernelOp();
  return kernel && kernel.getExtent(argument.getArgNumber()) == extent;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Debug.h"
#include "passes/LowerToTile/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

#define DEBUG_TYPE "taylor-widen-projections"

using namespace mlir;
using namespace mlir::tile;

namespace taylor {
#define GEN_PASS_DEF_WIDENPROJECTIONSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

namespace {

using Operations = llvm::SetVector<Operation *>;

/// The op of the kernel, outside all maps, that `op` belongs to.
Operation *outsideMaps(Operation *op) {
  while (auto map = op->getParentOfType<MapOp>())
    op = map;
  return op;
}

Type elementOf(Type type) {
  if (auto tile = dyn_cast<TileType>(type))
    return tile.getElementType();
  if (auto array = dyn_cast<tile::ArrayType>(type))
    return array.getElementType();
  return type;
}

/// True for a kernel without products, in f32 throughout, arrays included.
bool isLocalAndSingle(KernelOp kernel) {
  return !kernel
              .walk([&](Operation *op) {
                auto isOther = [](Type type) {
                  return isa<FloatType>(elementOf(type)) && !elementOf(type).isF32();
                };
                return WalkResult(failure(isa<DotOp>(op) || llvm::any_of(op->getOperandTypes(), isOther) ||
                                          llvm::any_of(op->getResultTypes(), isOther)));
              })
              .wasInterrupted();
}

/// What `op` is computed from: ops with results, with `op` itself, in the order of their blocks.
Operations sourcesOf(Operation *op) {
  Operations sources;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitUsesFromAbove = false;
  options.filter = [](Operation *source) { return !isa<TensorOp, WorkspaceOp, KernelOp>(source); };
  (void)getBackwardSlice(op, &sources, options);
  return sources;
}

bool readsCotangent(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  auto tensor = load ? load.getArray().getDefiningOp<TensorOp>() : TensorOp();
  return tensor && tensor.getName().starts_with("cotangent:");
}

/// `reduce` and the ops with results that follow from it, if it depends on a cotangent and one of them has an
/// axis again that it summed over, and if only stores read them elsewhere; else none.
Operations projectionOf(ReduceOp reduce) {
  if (llvm::none_of(sourcesOf(reduce), readsCotangent))
    return {};
  auto over = reduce.getOver().getAsRange<StringAttr>();
  Operations following;
  following.insert(reduce);
  bool returns = false;
  for (size_t i = 0; i < following.size(); ++i)
    for (Operation *user : following[i]->getUsers()) {
      user = outsideMaps(user);
      if (isa<StoreOp, AccumulateOp>(user))
        continue;
      if (user->getDialect() != reduce->getDialect())
        return {};
      for (Type type : user->getResultTypes())
        returns |= llvm::any_of(over, [&](StringAttr axis) { return cast<TileType>(type).hasAxis(axis); });
      following.insert(user);
    }
  return returns ? following : Operations();
}

Type widened(Type type) {
  auto f64 = Float64Type::get(type.getContext());
  if (auto tile = dyn_cast<TileType>(type); tile && tile.getElementType().isF32())
    return tile.withElement(f64);
  return type.isF32() ? Type(f64) : type;
}

/// Gives an op the types of f64, with its region and its number. A load widens what it reads.
void widen(Operation *op) {
  op->walk([](Operation *inner) {
    if (auto constant = dyn_cast<arith::ConstantOp>(inner))
      if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
        constant.setValueAttr(FloatAttr::get(widened(number.getType()), number.getValueAsDouble()));
    for (Value result : inner->getResults())
      result.setType(widened(result.getType()));
    for (Region &region : inner->getRegions())
      for (BlockArgument argument : region.getArguments())
        argument.setType(widened(argument.getType()));
  });
}

/// Copies the projections and their sources in f64; stores take the copies. What else read the sources keeps
/// them in f32, and what nothing reads any more is dead.
bool widenProjections(KernelOp kernel) {
  Operations projections, copied;
  kernel.walk([&](ReduceOp reduce) {
    for (Operation *op : projectionOf(reduce))
      projections.insert(op);
  });
  for (Operation *op : projections)
    for (Operation *source : sourcesOf(op))
      if (source->getNumResults() && !source->getParentOfType<MapOp>())
        copied.insert(source);
  if (llvm::any_of(copied, [](Operation *op) { return op->getNumRegions() && !isa<MapOp>(op); })) {
    LDBG() << "@" << kernel.getSymName() << ": stays in f32, since a loop or a condition gives an operand";
    return false;
  }
  SmallVector<Operation *> inOrder;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (copied.contains(op))
      inOrder.push_back(op);
  });
  OpBuilder builder(kernel.getContext());
  IRMapping wide;
  for (Operation *op : inOrder) {
    builder.setInsertionPointAfter(op);
    widen(builder.clone(*op, wide));
  }
  for (Operation *op : projections)
    for (Value result : op->getResults())
      result.replaceUsesWithIf(wide.lookup(result),
                               [](OpOperand &use) { return isa<StoreOp, AccumulateOp>(use.getOwner()); });
  if (!projections.empty())
    LDBG() << "@" << kernel.getSymName() << ": " << copied.size() << " operations in f64";
  return !projections.empty();
}

class WidenProjections : public ::taylor::impl::WidenProjectionsPassBase<WidenProjections> {
  void runOnOperation() override {
    getOperation().walk([&](KernelOp kernel) {
      if (isLocalAndSingle(kernel) && widenProjections(kernel))
        ++numWidened;
    });
  }
};

} // namespace

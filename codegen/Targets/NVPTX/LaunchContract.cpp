// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Targets/NVPTX/LaunchContract.h"
#include "codegen/Targets/Frame/SizeValues.h"
#include "dialect/Refusal.h"
#include "runtime/artifact.h"

using namespace mlir;
using namespace mlir::simt;

std::string mlir::simt::getEntryName(tile::KernelOp kernel) {
  return getEntryName(kernel->getParentOfType<tile::ProgramOp>().getSymName(), kernel.getSymName());
}

static LaunchAttr launchOf(tile::KernelOp kernel) {
  auto launch = dyn_cast_or_null<LaunchAttr>(kernel.getLaunchAttr());
  return launch ? launch : LaunchAttr::get(kernel.getContext(), /*warps=*/1, /*shared=*/0);
}

int64_t mlir::simt::getNumWarps(tile::KernelOp kernel) { return launchOf(kernel).getWarps(); }
int64_t mlir::simt::getSharedBytes(tile::KernelOp kernel) { return launchOf(kernel).getShared(); }

void mlir::simt::setNumWarps(tile::KernelOp kernel, int64_t warps) {
  kernel.setLaunchAttr(LaunchAttr::get(kernel.getContext(), warps, getSharedBytes(kernel)));
}

void mlir::simt::setSharedBytes(tile::KernelOp kernel, int64_t bytes) {
  kernel.setLaunchAttr(LaunchAttr::get(kernel.getContext(), getNumWarps(kernel), bytes));
}

SmallVector<Value> mlir::simt::getArguments(tile::KernelOp kernel) {
  auto program = kernel->getParentOfType<tile::ProgramOp>();
  SmallVector<Value> arguments;
  for (Operation &op : *program.getBlock()) {
    if (!isa<tile::TensorOp, tile::WorkspaceOp>(op))
      continue;
    Value array = op.getResult(0);
    if (llvm::any_of(array.getUsers(), [&](Operation *user) { return kernel->isProperAncestor(user); }))
      arguments.push_back(array);
  }
  return arguments;
}

bool mlir::simt::isAligned16(tile::ArrayType type) {
  ArrayRef<tile::Axis> axes = type.getAxes();
  if (axes.empty() || !axes.back().extent.isStatic())
    return false;
  return axes.back().getSize() * type.getElementType().getIntOrFloatBitWidth() % 128 == 0;
}

std::optional<Box> mlir::simt::getBox(CopyOp copy) {
  constexpr size_t kMostAxes = 5;
  constexpr int64_t kMostElements = 256;
  tile::ArrayType type = copy.getArray().getType();
  BufferType buffer = copy.getBuffer().getType();
  ArrayRef<tile::Axis> axes = type.getAxes();
  if (!isAligned16(type) || axes.size() > kMostAxes || !buffer.getSwizzle() || buffer.getPanel() ||
      buffer.getAxes().size() != 2 || buffer.getElementBytes() != 2)
    return std::nullopt;
  Box box{copy.getArray(), {}, buffer.getSwizzle()};
  auto tile = tile::TileType::get(copy.getContext(), buffer.getAxes(), buffer.getElementType());
  auto window = tile::getWindow(type, tile, copy.getArrayAxes(), copy.getTileAxes(), copy.getOffsets());
  int64_t along = 0;
  for (auto [own, axis] : llvm::zip(axes, window)) {
    bool isCut = own.name == copy.getEndAxisAttr(), isRow = !axis.tileAxis.empty() && &own != &axes.back();
    if (!axis.minusAxis.empty() || (isCut && !isRow))
      return std::nullopt;
    along += !axis.tileAxis.empty();
    box.sizes.push_back(axis.tileAxis.empty() ? 1 : axis.size);
  }
  // Rows of the buffer along one axis of the array, and its columns from the start of the contiguous one.
  const tile::WindowAxis &last = window.back();
  if (along != 2 || last.tileAxis != buffer.getRow().getName() || last.offset ||
      last.size != axes.back().getSize() || buffer.getNumRows() > kMostElements)
    return std::nullopt;
  box.sizes.back() = buffer.getSwizzle() / buffer.getElementBytes();
  return box;
}

bool mlir::simt::completesBoxes(RingOp ring) {
  return llvm::any_of(ring->getUsers(), [](Operation *user) {
    auto copy = dyn_cast<CopyOp>(user);
    return copy && copy.getBulk() && copy.getEnd();
  });
}

SmallVector<Box> mlir::simt::getBoxes(tile::KernelOp kernel) {
  SmallVector<Box> boxes;
  kernel.walk([&](CopyOp copy) {
    if (!copy.getBulk())
      return;
    std::optional<Box> box = getBox(copy);
    if (box && !llvm::is_contained(boxes, *box))
      boxes.push_back(*box);
  });
  return boxes;
}

/// PTX ISA, "Kernel Function Parameters": bytes of them; from PTX 8.1 on 32764 on sm_70 and later, with
/// drivers that know it. A tensor has an address and a stride per axis, of 8 bytes each.
static constexpr int64_t kMostParameterBytes = 4352;

LogicalResult mlir::simt::checkParameters(tile::KernelOp kernel) {
  SmallVector<Value> used = getArguments(kernel);
  if (used.size() > TAYLOR_MAX_ARGUMENTS)
    return taylor::refuse(kernel.emitError("unsupported kernel of "))
           << used.size() << " arrays: a GPU's kernels take at most " << TAYLOR_MAX_ARGUMENTS
           << "; join inputs of one shape along a further axis";
  int64_t bytes = 8 * int64_t(std::size(tile::kSizeRoles));
  for (Value array : used) {
    bool isTensor = isa<tile::TensorOp>(array.getDefiningOp());
    bytes += 8 + (isTensor ? 8 * int64_t(cast<tile::ArrayType>(array.getType()).getAxes().size()) : 0);
  }
  if (int64_t maps = getBoxes(kernel).size())
    bytes = llvm::alignTo(bytes, kMapAlignment) + kMapBytes * maps;
  if (bytes > kMostParameterBytes)
    return taylor::refuse(kernel.emitOpError())
           << "unsupported on this target: " << bytes << " bytes of parameters, for " << used.size()
           << " arrays, where a kernel may have " << kMostParameterBytes
           << "; compile parts of the specification by themselves";
  return success();
}

bool mlir::simt::isPersistent(tile::KernelOp kernel) {
  return kernel.walk([](OwnTilesOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

int64_t mlir::simt::getNumThreads(tile::KernelOp kernel) {
  int64_t threads = 32 * getNumWarps(kernel);
  for (auto roles : kernel.getBlock()->getOps<RolesOp>())
    return 128 + threads * int64_t(roles.getMembers());
  return threads;
}

EntryAttr mlir::simt::describeEntry(tile::KernelOp kernel) {
  Builder builder(kernel.getContext());
  auto unitIf = [&](bool holds) { return holds ? builder.getUnitAttr() : UnitAttr(); };
  SmallVector<Value> used = getArguments(kernel);
  SmallVector<Attribute> arguments, maps;
  for (Value array : used) {
    auto tensor = array.getDefiningOp<tile::TensorOp>();
    StringAttr name =
        tensor ? tensor.getNameAttr() : cast<tile::WorkspaceOp>(array.getDefiningOp()).getNameAttr();
    arguments.push_back(ArgumentAttr::get(builder.getContext(), name, unitIf(!tensor),
                                          unitIf(tensor && isAligned16(tensor.getType()))));
  }
  for (const Box &box : getBoxes(kernel))
    maps.push_back(TensorMapAttr::get(builder.getContext(), llvm::find(used, box.array) - used.begin(),
                                      box.swizzle, box.sizes));
  bool startsEarly = kernel.walk([](AwaitPreviousOp) { return WalkResult::interrupt(); }).wasInterrupted();
  return EntryAttr::get(builder.getContext(), builder.getStringAttr(getEntryName(kernel)),
                        getNumThreads(kernel), getSharedBytes(kernel), kernel.getGridAttr(),
                        builder.getArrayAttr(arguments),
                        maps.empty() ? ArrayAttr() : builder.getArrayAttr(maps), unitIf(isPersistent(kernel)),
                        unitIf(startsEarly));
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/NVPTX/Contract.h"

using namespace mlir;
using namespace mlir::simt;

std::string mlir::simt::getEntryName(tile::KernelOp kernel) {
  return getEntryName(kernel->getParentOfType<tile::ProgramOp>().getSymName(), kernel.getSymName());
}

std::string mlir::simt::getEntryName(StringRef program, StringRef kernel) {
  return (program + "_" + kernel).str();
}

static int64_t integerOr(Operation *op, StringRef name, int64_t otherwise) {
  auto value = op->getAttrOfType<IntegerAttr>(name);
  return value ? value.getInt() : otherwise;
}

int64_t mlir::simt::getNumWarps(tile::KernelOp kernel) { return integerOr(kernel, kWarpsAttr, 1); }
int64_t mlir::simt::getSharedBytes(tile::KernelOp kernel) { return integerOr(kernel, kSharedAttr, 0); }

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

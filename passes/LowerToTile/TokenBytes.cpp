// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/LowerToTile/TokenBytes.h"
#include "dialect/Taylor/Axes.h"
#include "passes/LowerToTile/TileEmitter.h"

using namespace mlir;
using namespace taylor;

static int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

int64_t taylor::countTokenBytes(ArrayType type, Type element) {
  if (tokenAxis(type).empty())
    return 0;
  int64_t bytes = bytesOf(element);
  for (auto [name, size] : llvm::zip(type.getAxes(), type.getSizes()))
    if (!isRuntimeAxis(name.getValue()))
      bytes *= size;
  return bytes;
}

/// Calls `visit` for every value that `value` is computed from where it is read, itself included; true where
/// it is computed, and what is behind it comes next.
static void walkComputed(Value value, const llvm::SetVector<Value> &stored,
                         llvm::function_ref<void(Value value, bool isComputed)> visit) {
  llvm::SmallDenseSet<Value> seen{value};
  SmallVector<Value> open{value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    Operation *op = next.getDefiningOp();
    bool isComputed = op && !isa<PairwiseOp>(op) && (next == value || !stored.contains(next));
    visit(next, isComputed);
    if (!isComputed)
      continue;
    // Positions are read where the tables of a rotation are made.
    for (Value operand : isa<RopeOp>(op) ? op->getOperands().take_front() : op->getOperands())
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
}

int64_t taylor::countTokenBytes(Value value, const llvm::SetVector<Value> &stored) {
  int64_t bytes = 0;
  SmallVector<AngleTable> tables;
  walkComputed(value, stored, [&](Value next, bool isComputed) {
    if (!isComputed) {
      auto type = cast<ArrayType>(next.getType());
      bytes += countTokenBytes(type, next.getDefiningOp() ? type.getScalarType() : type.getElementType());
    } else if (auto rope = next.getDefiningOp<RopeOp>()) {
      if (AngleTable table = AngleTable::of(rope); !llvm::is_contained(tables, table)) {
        tables.push_back(table);
        bytes += table.channels * bytesOf(table.elementType);
      }
    }
  });
  return bytes;
}

/// Bytes of an array at one place of its run-time axes.
static int64_t placeBytes(ArrayType type) {
  int64_t bytes = bytesOf(type.getScalarType());
  for (auto [name, size] : llvm::zip(type.getAxes(), type.getSizes()))
    if (!isRuntimeAxis(name.getValue()))
      bytes *= size;
  return bytes;
}

int64_t taylor::countProductBytes(Value value, const llvm::SetVector<Value> &stored, int64_t tokens) {
  int64_t most = 0;
  walkComputed(value, stored, [&](Value next, bool isComputed) {
    auto reduce = isComputed ? next.getDefiningOp<ReduceOp>() : ReduceOp();
    if (!reduce || reduce.getArrays().size() != 2)
      return;
    int64_t bytes = 0;
    for (Value array : reduce.getArrays()) {
      auto type = cast<ArrayType>(array.getType());
      bytes += placeBytes(type) * (tokenAxis(type).empty() ? 1 : tokens);
    }
    most = std::max(most, bytes);
  });
  return most;
}

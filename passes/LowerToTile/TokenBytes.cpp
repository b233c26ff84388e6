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

int64_t taylor::countTokenBytes(Value value, const llvm::SetVector<Value> &stored) {
  int64_t bytes = 0;
  llvm::SmallDenseSet<Value> seen{value};
  SmallVector<Value> open{value};
  SmallVector<AngleTable> tables;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    auto type = cast<ArrayType>(next.getType());
    Operation *op = next.getDefiningOp();
    if (!op || isa<PairwiseOp>(op) || (next != value && stored.contains(next))) {
      bytes += countTokenBytes(type, op ? type.getScalarType() : type.getElementType());
      continue;
    }
    if (auto rope = dyn_cast<RopeOp>(op))
      if (AngleTable table = AngleTable::of(rope); !llvm::is_contained(tables, table)) {
        tables.push_back(table);
        bytes += table.channels * bytesOf(table.elementType);
      }
    // Positions are read where the tables are made.
    for (Value operand : isa<RopeOp>(op) ? op->getOperands().take_front() : op->getOperands())
      if (seen.insert(operand).second)
        open.push_back(operand);
  }
  return bytes;
}

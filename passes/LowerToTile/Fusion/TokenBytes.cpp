// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Sources.h"
#include "dialect/Taylor/Axes.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/LoweringInterface.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace taylor;

static int64_t bytesOf(Type element) { return element.getIntOrFloatBitWidth() / 8; }

int64_t taylor::countTokenBytes(ArrayType type, Type element) {
  return tokenAxis(type).empty() ? 0 : bytesOf(element) * countPlaceElements(type);
}

/// Calls `visit` for every value that `value` is computed from where it is read, itself included; true where
/// it is computed, and what it is computed from comes next.
static void walkComputed(Value value, const llvm::SetVector<Value> &stored,
                         llvm::function_ref<void(Value value, bool isComputed)> visit) {
  walkSources(
      value,
      [&](Value next) {
        Operation *op = next.getDefiningOp();
        bool isComputed = op && !isa<PairwiseOp>(op) && (next == value || !stored.contains(next));
        visit(next, isComputed);
        return isComputed;
      },
      [](Operation *op) { return SmallVector<Value>(cast<LoweringOpInterface>(op).getTileOperands()); });
}

int64_t taylor::countTokenBytes(Value value, const llvm::SetVector<Value> &stored) {
  int64_t bytes = 0;
  SmallVector<AngleTable> tables;
  walkComputed(value, stored, [&](Value next, bool isComputed) {
    if (!isComputed) {
      auto type = cast<ArrayType>(next.getType());
      bytes += countTokenBytes(type, next.getDefiningOp() ? type.getScalarType() : type.getElementType());
      return;
    }
    std::optional<AngleTable> table = cast<LoweringOpInterface>(next.getDefiningOp()).getAngles();
    if (table && !llvm::is_contained(tables, *table)) {
      tables.push_back(*table);
      bytes += table->channels * bytesOf(table->elementType);
    }
  });
  return bytes;
}

/// Bytes of an array at one place of its run-time axes.
static int64_t placeBytes(ArrayType type) { return bytesOf(type.getScalarType()) * countPlaceElements(type); }

/// Whether both have axes that the other lacks, besides those of batches and heads: two matrices to multiply.
static bool areMatrices(ArrayType a, ArrayType b) {
  auto hasOwn = [](ArrayType type, ArrayType other) {
    return llvm::any_of(type.getAxes(), [&](StringAttr axis) {
      return (!isRuntimeAxis(axis) || isTokenAxis(axis)) && !other.has(axis);
    });
  };
  return hasOwn(a, b) && hasOwn(b, a);
}

/// Whether the formula is the product of its two arrays.
static bool isProduct(ReduceOp reduce) {
  if (reduce.getKind() != Reduction::Sum || reduce.getArrays().size() != 2)
    return false;
  Block &body = reduce.getBody().front();
  auto product = body.getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  return product && product.getLhs() != product.getRhs() && isa<BlockArgument>(product.getLhs()) &&
         isa<BlockArgument>(product.getRhs());
}

int64_t taylor::countProductBytes(Value value, const llvm::SetVector<Value> &stored, int64_t tokens) {
  int64_t most = 0;
  walkComputed(value, stored, [&](Value next, bool isComputed) {
    auto reduce = isComputed ? next.getDefiningOp<ReduceOp>() : ReduceOp();
    if (!reduce || !isProduct(reduce) ||
        !areMatrices(cast<ArrayType>(reduce.getArrays()[0].getType()),
                     cast<ArrayType>(reduce.getArrays()[1].getType())))
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

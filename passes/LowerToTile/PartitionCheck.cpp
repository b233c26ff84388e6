// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the lowering to tiles cannot lower, said before anything is emitted.
#include "dialect/Sources.h"
#include "passes/LowerToTile/PairEmitter.h"
#include "passes/LowerToTile/Partition.h"

#include "dialect/Taylor/Axes.h"

using namespace mlir;
using namespace taylor;

static LogicalResult checkSizes(Operation *op, TypeRange types) {
  for (Type type : types)
    if (auto array = dyn_cast<ArrayType>(type))
      for (auto [name, size] : llvm::zip(array.getAxes(), array.getSizes()))
        if (size == ArrayType::kUnknown && !isRuntimeAxis(name.getValue()))
          return op->emitOpError() << "requires the size of axis '" << name.getValue() << "' in " << array
                                   << ": run taylor-specialize before";
  return success();
}

static LogicalResult checkPairs(PairwiseOp op) {
  if (op.hasMaximum() && !PairEmitter::isRowsOnly(op))
    return op.emitOpError(
        "unsupported maximum in an operation with sums into columns or a total, as gradients of its arrays "
        "are: the maximum is known after the last key only; sum into rows in an operation of its own, or "
        "leave the maximum out: exponentials are shifted by it where that cancels");
  for (auto [sum, type] : llvm::zip(op.getSums().getAsRange<PairSumAttr>(), op.getResultTypes()))
    if (sum.getKind() == PairOutput::Total && !tokenAxis(cast<ArrayType>(type)).empty())
      return op.emitOpError() << "expected a total without t, u and lag, but got " << type
                              << "; use rows, columns or diagonals";
  if (!op.hasMaximum() || op.getMaximum().front().getTerminator()->getNumOperands() < 2)
    return success();
  auto isOfKeys = [&](Value scalar) {
    if (auto index = scalar.getDefiningOp<IndexOp>())
      return index.getAxis() == AxisRole::Key;
    auto argument = dyn_cast<BlockArgument>(scalar);
    Value array = argument ? op.getArrayOf(argument) : Value();
    auto type = array ? cast<ArrayType>(array.getType()) : ArrayType();
    return argument && (!type || type.has(AxisRole::Key) || type.has(AxisRole::Lag));
  };
  if (anySource(op.getMaximum().front().getTerminator()->getOperand(1), isOfKeys))
    return op.emitOpError("expected a floor of the maximum that is the same for all keys of a row");
  return success();
}

/// Callers know no size of lag.
static LogicalResult checkTensors(FunctionOp function) {
  auto yield = function.getBody().front().getTerminator();
  for (Type type : llvm::concat<const Type>(function.getBody().getArgumentTypes(), yield->getOperandTypes()))
    if (cast<ArrayType>(type).has(AxisRole::Lag))
      return function.emitOpError() << "unsupported axis lag of an argument or a result in kernels: " << type
                                    << "; make it of an array with a free axis, or reduce it to one";
  return success();
}

LogicalResult Partition::check() {
  if (failed(checkTensors(function)))
    return failure();
  if (failed(checkSizes(function, function.getBody().getArgumentTypes())))
    return failure();
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    if (failed(checkSizes(op, op->getResultTypes())))
      return WalkResult::interrupt();
    if (isa<RecurrencesOp, RecurrenceOp>(op)) {
      op->emitOpError("unsupported in kernels: run taylor-recurrences-to-pairwise before");
      return WalkResult::interrupt();
    }
    if (isa<NormalizeOp>(op)) {
      op->emitOpError("unsupported in kernels: run taylor-expand-normalize before");
      return WalkResult::interrupt();
    }
    if (isa<ParameterOp>(op)) {
      op->emitOpError(
          "unsupported in kernels: run taylor-specialize before, which replaces parameters by their values");
      return WalkResult::interrupt();
    }
    if (auto reduce = dyn_cast<ReduceOp>(op);
        reduce && reduce.getKind() == Reduction::Max && reducesTokens(reduce)) {
      op->emitOpError("unsupported maximum over tokens; expected a sum or a mean");
      return WalkResult::interrupt();
    }
    if (auto pairs = dyn_cast<PairwiseOp>(op); pairs && failed(checkPairs(pairs)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lowering to tiles cannot lower, said before anything is planned; and arrays as kernels want them.
// FusionPasses.td has the rule.
#include "dialect/Refusal.h"
#include "passes/Debug.h"
#include "passes/LowerToTile/Fusion/FunctionRewrites.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"
#include "passes/LowerToTile/Passes.h"

#include "dialect/Sources.h"
#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

#define DEBUG_TYPE "taylor-prepare-kernels"

using namespace mlir;
using namespace taylor;

namespace taylor {
#define GEN_PASS_DEF_PREPAREKERNELSPASS
#include "passes/LowerToTile/Passes.h.inc"
} // namespace taylor

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

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
  if (op.hasMaximum() && !isRowsOnly(op))
    return refuse(op.emitOpError(
        "unsupported maximum in an operation with sums into columns or a total, as gradients of its arrays "
        "are: the maximum is known after the last key only; sum into rows in an operation of its own, or "
        "leave the maximum out: exponentials are shifted by it where that cancels"));
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
      return refuse(function.emitOpError())
             << "unsupported axis lag of an argument or a result in kernels: " << type
             << "; make it of an array with a free axis, or reduce it to one";
  return success();
}

static LogicalResult check(FunctionOp function) {
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
      refuse(op->emitOpError("unsupported maximum over tokens; expected a sum or a mean"));
      return WalkResult::interrupt();
    }
    if (auto pairs = dyn_cast<PairwiseOp>(op); pairs && failed(checkPairs(pairs)))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// 16-bit keys and values are converted once, not for every block of queries.
static int64_t convertKeys(FunctionOp function) {
  int64_t count = 0;
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(&function.getBody().front());
  for (BlockArgument argument : function.getBody().getArguments()) {
    ArrayType type = arrayTypeOf(argument);
    Type scalar = type.getScalarType();
    if (scalar == type.getElementType() || !type.has(AxisRole::Key))
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : argument.getUses())
      if (auto pairs = dyn_cast<PairwiseOp>(use.getOwner()); pairs && isRowsOnly(pairs))
        uses.push_back(&use);
    if (uses.empty())
      continue;
    auto op =
        MapOp::create(builder, argument.getLoc(), type.clone(scalar), ValueRange{argument}, ValueRange{});
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&op.getBody(), {}, {scalar}, {argument.getLoc()});
    YieldOp::create(builder, argument.getLoc(), block->getArgument(0), ArrayAttr());
    for (OpOperand *use : uses)
      use->set(op);
    ++count;
  }
  return count;
}

namespace {

/// It runs on the module so that one function alone, the first, is said to have no lowering.
struct PrepareKernels : taylor::impl::PrepareKernelsPassBase<PrepareKernels> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<FunctionOp>()) {
      if (failed(check(function)))
        return signalPassFailure();
      widenPairSums(function);
      addDocumentEnds(function);
      TileSizes sizes = tile::getTileSizes(function);
      int64_t sums = sizes.rowSums == RowSums::Parts ? 0 : splitTokenSums(function);
      int64_t factors = sizes.storesRowProducts ? 0 : splitRowFactors(function);
      int64_t converted =
          sizes.productType == ProductType::F32 && sizes.loopOperands != LoopOperands::Computed
              ? convertKeys(function)
              : 0;
      LDBG() << function.getSymName() << ": " << sums << " sums in steps, " << factors
             << " factors of rows by themselves, " << converted << " arguments converted";
      numSums += sums;
      numFactors += factors;
      numConverted += converted;
    }
  }
};

} // namespace

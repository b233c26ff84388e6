// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over pairs: which arrays have memory for them, and their tiles.
#include "passes/LowerToTile/Emit/PairRows.h"
#include "passes/LowerToTile/Fusion/FunctionMemory.h"
#include "passes/LowerToTile/Fusion/FunctionRewrites.h"
#include "passes/LowerToTile/Fusion/KernelGrid.h"
#include "passes/LowerToTile/LoweringInterface.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

using namespace mlir;
using namespace taylor;

/// Whether what an array holds past the last token meets a weight of 0 in a sum over tokens, and is no
/// number.
static bool spoilsSums(PairwiseOp pairs, Value array, const FunctionMemory &kept) {
  auto summedOver = [](PairOutput kind) -> AxisRef {
    return kind == PairOutput::Rows      ? nameOf(AxisRole::Key)
           : kind == PairOutput::Columns ? nameOf(AxisRole::Query)
                                         : "";
  };
  auto isSummed = [&](unsigned i) {
    StringRef token = summedOver(pairs.getSum(i).getKind());
    return pairs.getArrayOfSum(i) == array && !token.empty() && arrayTypeOf(array).has(token);
  };
  return llvm::any_of(llvm::seq(pairs.getNumResults()), isSummed) && !kept.isFinitePastEnd(array);
}

/// Whether a loop computes an operand of the tokens that pass by.
static bool staysInLoop(const FunctionMemory &kept, Value array) {
  switch (kept.getSizes().loopOperands) {
  case LoopOperands::Stored:
    return false;
  case LoopOperands::Rotated: {
    auto op = array.getDefiningOp<ArrayOpInterface>();
    return op && op.isRotation() && isa<BlockArgument>(op->getOperand(0));
  }
  case LoopOperands::Computed:
    // Sums that a block makes for its own place are made nowhere in a loop.
    return !kept.readsSums(array);
  }
  llvm_unreachable("a loop's operands are stored, rotated or computed");
}

namespace {

struct PairwiseLowering : LoweringOpInterface::ExternalModel<PairwiseLowering, PairwiseOp> {
  void chooseKept(Operation *op, FunctionMemory &kept) const {
    auto pairs = cast<PairwiseOp>(op);
    const TileSizes &sizes = kept.getSizes();
    bool rowsOnly = isRowsOnly(pairs), diagonals = hasDiagonalsOnGrid(pairs, sizes);
    for (Value array : pairs.getArrays()) {
      ArrayType type = arrayTypeOf(array);
      bool isOuter = (staysInLoop(kept, array) || !type.has(rowsOnly ? AxisRole::Key : AxisRole::Query)) &&
                     !type.has(AxisRole::Lag) && (!diagonals || tokenAxis(type).empty());
      ScoreTile tile = rowsOnly ? rowTile(pairs, sizes) : columnTile(pairs, sizes);
      // The unrounded array is live through the loop as well; its registers cost a quarter more.
      int64_t result = countTokenBytes(type, type.getScalarType());
      bool fits = kept.fitsBlock(array, rowsOnly ? tile.queries : tile.keys, result + result / 4);
      if (isOuter && fits && !spoilsSums(pairs, array, kept))
        continue;
      StringRef because = isOuter && fits ? "past the last token it may be no number"
                          : isOuter       ? "a block has no room to compute it"
                          : rowsOnly      ? "every block of queries reads it"
                          : diagonals     ? "every walk along diagonals reads it"
                                          : "every block of keys reads it";
      if (!sizes.storesRowProducts && isRowProduct(array.getDefiningOp()))
        kept.keep(cast<MapOp>(array.getDefiningOp()).getArrays()[1], because);
      else
        kept.keep(array, because);
    }
    if (!rowsOnly)
      for (OpResult result : pairs->getResults())
        if (pairs.getSum(result.getResultNumber()).getKind() != PairOutput::Columns)
          kept.keep(result, "blocks add to it in memory");
  }
  Value emitTile(Operation *op, Value result, TileEmitter &emitter, Frame &frame) const {
    PairRows(emitter, cast<PairwiseOp>(op)).emit(frame); // fills in all of its results
    return frame.tiles.lookup(result);
  }
};

} // namespace

void taylor::attachPairs(MLIRContext *context) { PairwiseOp::attachInterface<PairwiseLowering>(*context); }

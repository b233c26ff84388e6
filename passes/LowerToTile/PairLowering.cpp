// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over pairs: which arrays have memory for them, and their tiles.
#include "passes/LowerToTile/LoweringInterface.h"
#include "passes/LowerToTile/PairEmitter.h"
#include "passes/LowerToTile/Partition.h"
#include "passes/LowerToTile/TokenBytes.h"

#include "dialect/Taylor/ArrayBuilder.h"
#include "dialect/Taylor/Axes.h"

using namespace mlir;
using namespace taylor;

/// Whether what an array holds past the last token meets a weight of 0 in a sum over tokens, and is no
/// number.
static bool spoilsSums(PairwiseOp pairs, Value array, const Partition &partition) {
  auto summedOver = [](PairOutput kind) -> AxisRef {
    return kind == PairOutput::Rows      ? nameOf(AxisRole::Key)
           : kind == PairOutput::Columns ? nameOf(AxisRole::Query)
                                         : "";
  };
  auto isSummed = [&](PairSumAttr sum) {
    StringRef token = summedOver(sum.getKind());
    return sum.getArray() >= 0 && pairs.getArrays()[sum.getArray()] == array && !token.empty() &&
           arrayTypeOf(array).has(token);
  };
  return llvm::any_of(pairs.getSums().getAsRange<PairSumAttr>(), isSummed) &&
         !partition.isFinitePastEnd(array);
}

namespace {

struct PairwiseLowering : LoweringOpInterface::ExternalModel<PairwiseLowering, PairwiseOp> {
  void chooseStored(Operation *op, Partition &partition) const {
    auto pairs = cast<PairwiseOp>(op);
    const TileSizes &sizes = partition.getSizes();
    bool rowsOnly = PairEmitter::isRowsOnly(pairs), diagonals = PairEmitter::hasDiagonalsOnGrid(pairs, sizes);
    for (Value array : pairs.getArrays()) {
      ArrayType type = arrayTypeOf(array);
      // Sums that a block makes for its own place are made nowhere in a loop.
      bool isOuter = ((sizes.readsOnce && !partition.readsSums(array)) ||
                      !type.has(rowsOnly ? AxisRole::Key : AxisRole::Query)) &&
                     !type.has(AxisRole::Lag) && (!diagonals || tokenAxis(type).empty());
      ScoreTile tile = rowsOnly ? PairEmitter::rowTile(pairs, sizes) : PairEmitter::columnTile(pairs, sizes);
      // The unrounded array is live through the loop as well; its registers cost a quarter more.
      int64_t result = countTokenBytes(type, type.getScalarType());
      if (isOuter && partition.fitsBlock(array, rowsOnly ? tile.queries : tile.keys, result + result / 4) &&
          !spoilsSums(pairs, array, partition))
        continue;
      if (partition.isRowProduct(array.getDefiningOp()))
        partition.store(cast<MapOp>(array.getDefiningOp()).getArrays()[1]);
      else
        partition.store(array);
    }
    if (!rowsOnly)
      for (OpResult result : pairs->getResults())
        if (pairs.getSum(result.getResultNumber()).getKind() != PairOutput::Columns)
          partition.store(result);
  }
  Value emitTile(Operation *op, Value result, TileEmitter &emitter, Frame &frame) const {
    PairEmitter(emitter, cast<PairwiseOp>(op)).emitRows(frame); // fills in all of its results
    return frame.tiles.lookup(result);
  }
};

} // namespace

void taylor::attachPairs(MLIRContext *context) { PairwiseOp::attachInterface<PairwiseLowering>(*context); }

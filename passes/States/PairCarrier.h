// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over keys that go on where another call ended: from states, relative to an edge where they decay.
#ifndef TAYLOR_PASSES_STATES_PAIRCARRIER_H
#define TAYLOR_PASSES_STATES_PAIRCARRIER_H

#include "passes/States/DecayCarrier.h"

namespace taylor {

/// Carries sums over pairs.
class PairCarrier {
public:
  /// Features of states come in blocks of so many components.
  PairCarrier(CarriedSpec &carried, CarriedPlaces &places, CarriedDocuments &documents, DecayCarrier &decays,
              int64_t block)
      : carried(carried), places(places), documents(documents), builder(carried.builder), loc(carried.loc),
        decays(decays), block(block) {}

  /// Refuses sums whose queries see later keys.
  mlir::LogicalResult checkCausal(mlir::Operation *op);
  mlir::LogicalResult carry(PairwiseOp op);

private:
  /// Refuses a sum over pairs that has no states.
  mlir::LogicalResult refusePairs(mlir::Location at, const llvm::Twine &why);
  mlir::LogicalResult refuseLaterPieces(PairwiseOp op);
  mlir::LogicalResult movePlaces(PairwiseOp op);
  /// Of the sums `counted` says are none of constants; `whole` has the operation's results.
  mlir::LogicalResult carrySums(PairwiseOp op, llvm::ArrayRef<int64_t> wanted, llvm::ArrayRef<bool> counted,
                                llvm::MapVector<int64_t, mlir::Value> &whole);
  /// Of sums that become a recurrence.
  void warnSmallMass(PairwiseOp op, const SeparableSums &sums);
  void carryCount(PairwiseOp op, int64_t result, bool hasDocuments, mlir::Value &whole);

  CarriedSpec &carried;
  CarriedPlaces &places;
  CarriedDocuments &documents;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  DecayCarrier &decays;
  int64_t block;
};

} // namespace taylor

#endif

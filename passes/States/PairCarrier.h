// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over keys that continue the sums of an earlier call, from its states.
#ifndef TAYLOR_PASSES_STATES_PAIRCARRIER_H
#define TAYLOR_PASSES_STATES_PAIRCARRIER_H

#include "passes/States/DecayCarrier.h"

namespace taylor {

/// Cuts a taylor.pairwise between two calls.
class PairCarrier {
public:
  /// `block`: components of a block of features (the pass's option feature-block).
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
  /// Carries the sums in `wanted`; `counted` tells which sums only count pairs. Puts the operation's results,
  /// by number, into `whole`.
  mlir::LogicalResult carrySums(PairwiseOp op, llvm::ArrayRef<int64_t> wanted, llvm::ArrayRef<bool> counted,
                                llvm::MapVector<int64_t, mlir::Value> &whole);
  /// Warns where a recurrence divides by a mass that may be small.
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The edge to which carried states belong, where weights decay or end with a document.
#ifndef TAYLOR_PASSES_STATES_DECAYCARRIER_H
#define TAYLOR_PASSES_STATES_DECAYCARRIER_H

#include "passes/States/CarriedDocuments.h"
#include "passes/States/StateRewrite.h"

namespace taylor {

/// Takes decays apart at the edge between two calls.
class DecayCarrier {
public:
  /// `runningSums`: of sums over all calls, what the calls before left of them.
  DecayCarrier(CarriedSpec &carried, CarriedPlaces &places, CarriedDocuments &documents,
               const llvm::DenseMap<mlir::Value, mlir::Value> &runningSums)
      : carried(carried), places(places), documents(documents), builder(carried.builder),
        runningSums(runningSums) {}

  CarriedDecay carry(PairwiseOp op, const SeparableSums &sums);
  CarriedDecay carryDocuments();

private:
  /// Whether a decay's exponents are a running sum that nothing else reads.
  bool isOwnSum(PairwiseOp op, mlir::Value row, mlir::Value column);
  /// Makes such a sum begin, in the next call, at how far it is above the edge, and the edge there 0: a sum
  /// over all calls would have fewer digits with each.
  void shortenSum(mlir::Location at, mlir::Value column, mlir::Value edge, mlir::Value last);
  /// The edge of the states that the call begins from.
  mlir::Value buildFirstEdge(mlir::Location at, mlir::Value initial);
  /// The edge behind each key or, `exclusive`, before it: `column` is c, `first` the edge before all,
  /// `within` numbers documents or is null.
  mlir::Value buildEdges(mlir::Location at, mlir::Value column, mlir::Value first, mlir::Value within,
                         bool exclusive);
  /// exp(x - y) there; elsewhere 0.
  mlir::Value buildDecay(mlir::Location at, mlir::Value x, mlir::Value y,
                         const CarriedDocuments::Where &where);

  CarriedSpec &carried;
  CarriedPlaces &places;
  CarriedDocuments &documents;
  mlir::OpBuilder &builder;
  const llvm::DenseMap<mlir::Value, mlir::Value> &runningSums;
};

} // namespace taylor

#endif

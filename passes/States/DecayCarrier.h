// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights exp(a[t] - c[u]) that decay, cut at the edge between two calls: a state holds each key's weight as
// seen from the edge, and a query multiplies by what lies between the edge and itself.
#ifndef TAYLOR_PASSES_STATES_DECAYCARRIER_H
#define TAYLOR_PASSES_STATES_DECAYCARRIER_H

#include "passes/States/CarriedDocuments.h"
#include "passes/States/StateRewrite.h"

namespace taylor {

/// Takes decays apart at the edge between two calls.
class DecayCarrier {
public:
  /// `runningSums`: for each running sum, the argument with its value at the end of the call before.
  DecayCarrier(CarriedSpec &carried, CarriedPlaces &places, CarriedDocuments &documents,
               const llvm::DenseMap<mlir::Value, mlir::Value> &runningSums)
      : carried(carried), places(places), documents(documents), builder(carried.builder),
        runningSums(runningSums) {}

  /// The factors of an operation whose terms decay.
  CarriedDecay carry(PairwiseOp op, const SeparableSums &sums);
  /// The factors of one whose terms only end with their document.
  CarriedDecay carryDocuments();

private:
  /// Whether both exponents read the same running sum, and nothing else reads it.
  bool isOwnSum(PairwiseOp op, mlir::Value row, mlir::Value column);
  /// Lets the next call count such a sum from the edge: the edge becomes 0, and the sum begins at its
  /// distance from it. A sum counted over all calls would grow, and lose digits with each.
  void shortenSum(mlir::Location at, mlir::Value column, mlir::Value edge, mlir::Value last);
  /// The edge of the states with which the call begins.
  mlir::Value buildFirstEdge(mlir::Location at, mlir::Value initial);
  /// The edge after each key or, if `exclusive`, before it. `column` is c, `first` the edge before the first
  /// key, `within` the starts of documents or null.
  mlir::Value buildEdges(mlir::Location at, mlir::Value column, mlir::Value first, mlir::Value within,
                         bool exclusive);
  /// exp(x - y) where the condition holds, 0 elsewhere.
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

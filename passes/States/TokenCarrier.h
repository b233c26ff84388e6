// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running sums, running maxima and recurrences that continue from an earlier call.
#ifndef TAYLOR_PASSES_STATES_TOKENCARRIER_H
#define TAYLOR_PASSES_STATES_TOKENCARRIER_H

#include "passes/States/WindowCarrier.h"

namespace taylor {

/// Cuts operations that read earlier tokens between two calls.
class TokenCarrier {
public:
  TokenCarrier(CarriedSpec &carried, CarriedPlaces &places, CarriedDocuments &documents)
      : carried(carried), places(places), documents(documents), builder(carried.builder),
        windows(carried, places, documents) {}

  mlir::LogicalResult carry(ArrayOpInterface op);
  /// For each running sum, the argument with its value at the end of the call before.
  const llvm::DenseMap<mlir::Value, mlir::Value> &getRunningSums() const { return runningSums; }

private:
  /// Refuses operations that read later tokens, those that need a document's length, and those within(..) an
  /// array of which it is not known whether it starts a document anew in a later call.
  mlir::LogicalResult checkOrder(ArrayOpInterface op);
  void carrySum(ScanOp op);
  void carryMaximum(ScanOp op);
  void carryRecurrent(RecurrentOpInterface op);

  CarriedSpec &carried;
  CarriedPlaces &places;
  CarriedDocuments &documents;
  mlir::OpBuilder &builder;
  WindowCarrier windows;
  llvm::DenseMap<mlir::Value, mlir::Value> runningSums;
};

} // namespace taylor

#endif

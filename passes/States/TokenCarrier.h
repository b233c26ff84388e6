// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running sums and maxima, and recurrences, that go on where another call ended.
#ifndef TAYLOR_PASSES_STATES_TOKENCARRIER_H
#define TAYLOR_PASSES_STATES_TOKENCARRIER_H

#include "passes/States/WindowCarrier.h"

namespace taylor {

/// Carries what reads the tokens before.
class TokenCarrier {
public:
  TokenCarrier(CarriedSpec &carried, CarriedPlaces &places, CarriedDocuments &documents)
      : carried(carried), places(places), documents(documents), builder(carried.builder),
        windows(carried, places, documents) {}

  mlir::LogicalResult carry(ArrayOpInterface op);
  /// Running sums over all calls, from the first term on, and what those before left of them.
  const llvm::DenseMap<mlir::Value, mlir::Value> &getRunningSums() const { return runningSums; }

private:
  /// Refuses what reads tokens of later calls, or may begin anew in them.
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

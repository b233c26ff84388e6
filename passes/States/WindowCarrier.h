// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last tokens of the calls before, for shifts and convolutions.
#ifndef TAYLOR_PASSES_STATES_WINDOWCARRIER_H
#define TAYLOR_PASSES_STATES_WINDOWCARRIER_H

#include "passes/States/CarriedDocuments.h"

namespace taylor {

/// What a scan runs over, as an array of its own.
mlir::Value buildTerms(mlir::OpBuilder &builder, ScanOp op);

/// Keeps the last tokens of arrays, and adds what they bring to the first tokens of a call.
class WindowCarrier {
public:
  /// Longer shifts are not carried.
  static constexpr int64_t kMostShifted = 64;

  WindowCarrier(CarriedSpec &carried, CarriedPlaces &places, CarriedDocuments &documents)
      : carried(carried), places(places), documents(documents), builder(carried.builder) {}

  mlir::LogicalResult carryShift(ScanOp op);
  mlir::LogicalResult carryConvolution(ConvolveOp op);

private:
  /// The last `count` tokens of an array before the call, along an axis of its own; the oldest first.
  mlir::Value carryLast(mlir::Value array, AxisRef token, int64_t count);
  llvm::StringRef lastAxis(int64_t count);
  /// What is kept, number i of n at position - n + i, as the call's token of a number sees it.
  mlir::Value lastOf(mlir::Value initial, AxisRef token, int64_t number, mlir::Value within);
  /// Adds one array to each of the call's first tokens of a result, in place of it.
  void addToFirst(mlir::Value result, AxisRef token, llvm::ArrayRef<mlir::Value> terms);

  CarriedSpec &carried;
  CarriedPlaces &places;
  CarriedDocuments &documents;
  mlir::OpBuilder &builder;
  llvm::DenseMap<int64_t, mlir::StringAttr> lastAxes;
};

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last tokens of earlier calls, which shifts and convolutions at the beginning of a call read.
#ifndef TAYLOR_PASSES_STATES_WINDOWCARRIER_H
#define TAYLOR_PASSES_STATES_WINDOWCARRIER_H

#include "passes/States/CarriedDocuments.h"

namespace taylor {

/// The terms that a scan adds up, as an array.
mlir::Value buildTerms(mlir::OpBuilder &builder, ScanOp op);

/// Keeps the last tokens of arrays, and adds what they bring to the first tokens of a call.
class WindowCarrier {
public:
  WindowCarrier(CarriedSpec &carried, CarriedPlaces &places, CarriedDocuments &documents)
      : carried(carried), places(places), documents(documents), builder(carried.builder) {}

  mlir::LogicalResult carryShift(ScanOp op);
  mlir::LogicalResult carryConvolution(ConvolveOp op);

private:
  /// Adds an argument with the last `count` tokens of `array` before the call, along an axis of its own, the
  /// oldest first.
  mlir::Value carryLast(mlir::Value array, AxisRef token, int64_t count);
  llvm::StringRef lastAxis(int64_t count);
  /// Of the n kept tokens (kept token i has position - n + i) the one that the call's token `number` reads.
  mlir::Value lastOf(mlir::Value initial, AxisRef token, int64_t number, mlir::Value within);
  /// Replaces `result` by a copy where terms[i] is added at the call's token i.
  void addToFirst(mlir::Value result, AxisRef token, llvm::ArrayRef<mlir::Value> terms);

  CarriedSpec &carried;
  CarriedPlaces &places;
  CarriedDocuments &documents;
  mlir::OpBuilder &builder;
  llvm::DenseMap<int64_t, mlir::StringAttr> lastAxes;
};

} // namespace taylor

#endif

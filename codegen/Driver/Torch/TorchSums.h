// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over keys: the scores and weights of all pairs of a head at once, and what they add up.
#ifndef TAYLOR_CODEGEN_DRIVER_TORCH_TORCHSUMS_H
#define TAYLOR_CODEGEN_DRIVER_TORCH_TORCHSUMS_H

#include "codegen/Driver/Torch/TorchValues.h"

namespace taylor {

/// Prints sums over keys. It knows pairs: their scores and weights, and which of them the masks so far hide.
class SumPrinter {
public:
  explicit SumPrinter(TorchValues &values) : values(values), scope(values.scope) {}

  /// Of a series of orders, or of any function of the score.
  mlir::LogicalResult print(RecurrencesOp op);
  /// Of one order.
  mlir::LogicalResult print(RecurrenceOp op);

private:
  // What both kinds share: the score of all pairs, and the sums of a weight

  template <typename Op> TorchText printScore(Op op);
  /// L[t] - L[u] of all pairs.
  template <typename Op> TorchText printLogDecay(Op op);
  /// The pairs that count; no text where all do.
  mlir::FailureOr<TorchText> printVisible(Mask mask, mlir::Region *conditions, mlir::ValueRange extras);
  template <typename Op> void printSums(Op op, TorchText weight, TorchText visible);
  template <typename Op> void printSum(Op op, int64_t index, TorchText weight, TorchText visible);

  mlir::FailureOr<TorchText> printWeight(RecurrencesOp op, TorchText score, TorchText visible);
  mlir::FailureOr<TorchText> printSeries(RecurrencesOp op, TorchText x);

  TorchValues &values;
  TorchScope &scope;
  /// Names of masks, by their text: sums with one mask share it.
  llvm::StringMap<TorchText> visibleMasks;
};

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that see no key. The sums over keys of such a row are empty, and what is computed from them alone is
// 0.
#ifndef TAYLOR_CODEGEN_DRIVER_TORCH_DEADROWS_H
#define TAYLOR_CODEGEN_DRIVER_TORCH_DEADROWS_H

#include "codegen/Driver/Torch/TorchExpression.h"

namespace taylor {

/// The sums over keys that a value depends on, by the masks of rows for which each is empty. The value is
/// dead where all are; nowhere if it mixes tokens.
struct KeySums {
  llvm::SmallVector<std::string> masks;
  bool everywhere = false;
  bool isNone() const { return masks.empty() && !everywhere; }
  bool mayBeDead() const { return !masks.empty() && !everywhere; }
  void add(const KeySums &other);
  bool operator==(const KeySums &other) const;
};

/// Knows which sums over keys each value depends on, and the masks of their dead rows: those for which the
/// sums are empty. A mask is assigned to a name when a text first needs it. Equal masks share the name.
class DeadRows {
public:
  explicit DeadRows(TorchScope &scope) : scope(scope) {}

  /// All that the arrays depend on.
  KeySums sumsOf(mlir::ValueRange arrays) const;
  void setSums(mlir::Value value, const KeySums &sums) { sumsOfValues[value] = sums; }
  /// Sets those of a value that mixes tokens of the arrays.
  void setMixed(mlir::Value value, mlir::ValueRange arrays);

  /// Gives the rows for which `mask` holds a name.
  std::string nameMask(const TorchText &mask);

  /// A value with `number` in its dead rows, if there may be any.
  TorchText fill(TorchText text, const KeySums &sums, llvm::ArrayRef<AxisRef> axes, llvm::StringRef number);
  /// The same of a text that may lack axes of the masks.
  TorchText choose(TorchText text, const KeySums &sums, llvm::ArrayRef<AxisRef> axes, llvm::StringRef number);
  /// Rows that are dead along an axis that is reduced (a head's, among heads) become `none` in `terms`. Gives
  /// the sums of the result: it is dead where all its terms are.
  KeySums leaveOut(ReduceOp op, TorchText &terms, llvm::ArrayRef<AxisRef> axes, double none);

private:
  /// The name of the mask of rows where all are empty.
  std::string maskOf(const KeySums &sums);

  TorchScope &scope;
  llvm::DenseMap<mlir::Value, KeySums> sumsOfValues;
  /// By their names.
  llvm::StringMap<TorchText> masks;
  /// By their text: sums with one mask share it.
  llvm::StringMap<std::string> nameOfMask;
};

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a specification that have been printed, for the rules of operations.
#ifndef TAYLOR_CODEGEN_DRIVER_TORCH_TORCHVALUES_H
#define TAYLOR_CODEGEN_DRIVER_TORCH_TORCHVALUES_H

#include "codegen/Driver/Torch/DeadRows.h"

namespace taylor {

/// Knows the text of each value printed so far, the statements of these texts and their dead rows.
class TorchValues {
public:
  TorchValues() = default;
  TorchValues(const TorchValues &) = delete;

  /// Binds a value to a text that needs no statement.
  void set(mlir::Value value, TorchText text) { texts[value] = std::move(text); }
  /// Binds a value to a name: the one under which the specification yields it, else one like `hint`.
  void bind(mlir::Value value, llvm::StringRef hint, TorchText text);
  /// Binds the result of a row operation, which is 0 where the sums that it depends on are empty.
  void bindRows(mlir::Value result, llvm::StringRef hint, TorchText text, const KeySums &sums);

  const TorchText &textOf(mlir::Value value) const { return texts.at(value); }
  /// Operands of a row operation, aligned to `axes`; dead rows of the operation hold 1 there, so that nothing
  /// is divided by 0.
  llvm::SmallVector<TorchText> readRows(mlir::ValueRange arrays, llvm::ArrayRef<AxisRef> axes);
  /// A region over arrays with the axes of its result, in full.
  mlir::FailureOr<TorchText> printBody(mlir::Region &region, mlir::ValueRange arrays,
                                       llvm::ArrayRef<AxisRef> axes);
  /// Rounds to the type of the first argument where the text may have a wider one.
  TorchText narrow(TorchText text) const;

  TorchScope scope;
  DeadRows dead{scope};

private:
  llvm::DenseMap<mlir::Value, TorchText> texts;
};

} // namespace taylor

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The printer of a specification. TorchLocal.cpp has a rule for each operation that is local to rows or
// tokens, TorchSums.cpp the sums over keys, TorchPrinter.cpp the function around them.
#ifndef TAYLOR_CODEGEN_DRIVER_TORCH_SPECPRINTER_H
#define TAYLOR_CODEGEN_DRIVER_TORCH_SPECPRINTER_H

#include "codegen/Driver/Torch/TorchExpression.h"
#include "codegen/Driver/Torch/TorchPrinter.h"
#include "dialect/Taylor/TaylorDialect.h"

namespace taylor {

llvm::SmallVector<AxisRef> axesOf(ArrayType array);
llvm::SmallVector<AxisRef> withoutAxis(llvm::ArrayRef<AxisRef> axes, AxisRef gone);
/// Index of an axis that is there.
int64_t dimension(llvm::ArrayRef<AxisRef> axes, AxisRef axis);

class SpecPrinter {
public:
  explicit SpecPrinter(SpecOp spec) : spec(spec) {}
  mlir::FailureOr<std::string> print();

  // For the rules of operations.

  /// A region over arrays with the axes of its result, in full.
  mlir::FailureOr<TorchText> printBody(mlir::Region &region, mlir::ValueRange arrays,
                                       llvm::ArrayRef<AxisRef> axes);
  /// Binds the result of a row operation, which is 0 in rows where an operand saw no key.
  void bindRows(mlir::Value result, llvm::StringRef hint, TorchText text, mlir::ValueRange arrays);
  /// An array over keys, read at the positions of the queries.
  TorchText readAtQueries(TorchText keys);
  /// Of an array over queries, what stands at each key; 0 where that is no query.
  TorchText readAtKeys(TorchText queries);
  /// An array over lags, read at all pairs of a query and a key; others as they are.
  TorchText readAtPairs(TorchText lags);

  void bind(mlir::Value value, llvm::StringRef hint, TorchText text);
  /// The sums over keys that a value depends on, by the masks of rows for which each is empty. The value is
  /// dead where all are; nowhere if it mixes tokens.
  struct Sums {
    llvm::SmallVector<std::string> masks;
    bool everywhere = false;
    bool isNone() const { return masks.empty() && !everywhere; }
    bool mayBeDead() const { return !masks.empty() && !everywhere; }
    void add(const Sums &other);
    bool operator==(const Sums &other) const;
  };

  /// Operands of a row operation, aligned to `axes`; dead rows of the operation hold 1 there, so that nothing
  /// is divided by 0.
  llvm::SmallVector<TorchText> readRows(mlir::ValueRange arrays, llvm::ArrayRef<AxisRef> axes);
  /// The rows of `value` without a visible key, if there may be any, to be set to `number`.
  TorchText fillDead(TorchText text, const Sums &sums, llvm::ArrayRef<AxisRef> axes, llvm::StringRef number);
  /// The same of a text that may lack axes of the masks.
  TorchText chooseDead(TorchText text, const Sums &sums, llvm::ArrayRef<AxisRef> axes,
                       llvm::StringRef number);
  Sums sumsOf(mlir::ValueRange arrays);
  /// Rows that are dead along an axis that is reduced (a head's, among heads) become `none` in `terms`. Gives
  /// the sums of the result: it is dead where all its terms are.
  Sums leaveOutDead(ReduceOp op, TorchText &terms, llvm::ArrayRef<AxisRef> axes, double none);

  TorchScope scope;
  /// What has been printed so far.
  llvm::DenseMap<mlir::Value, TorchText> texts;
  llvm::DenseMap<mlir::Value, Sums> sumsOfValues;

private:
  mlir::LogicalResult printArguments();
  mlir::LogicalResult printOperation(mlir::Operation *op);
  mlir::LogicalResult print(RecurrencesOp op);
  mlir::LogicalResult print(RecurrenceOp op);
  mlir::LogicalResult print(YieldOp op);

  /// What both kinds of sums over keys share: the score of all pairs, and the sums of a weight.
  template <typename Op> TorchText printScore(Op op);
  template <typename Op> TorchText printLogDecay(Op op);
  template <typename Op> void printSums(Op op, TorchText weight, TorchText visible);
  template <typename Op> void printSum(Op op, int64_t index, TorchText weight, TorchText visible);
  mlir::FailureOr<TorchText> printVisible(RecurrencesOp op, Mask mask, mlir::Region *conditions,
                                          mlir::ValueRange extras);
  mlir::FailureOr<TorchText> printWeight(RecurrencesOp op, TorchText score, TorchText visible);
  mlir::FailureOr<TorchText> printSeries(RecurrencesOp op, TorchText x);
  mlir::FailureOr<int64_t> getOrder(mlir::Operation *op, mlir::Attribute bound);

  /// The name of the mask of rows where all are empty.
  std::string maskOf(const Sums &sums);
  std::string nameMask(const TorchText &mask);
  /// Rounds to the type of the first argument where the text may have a wider one.
  TorchText narrow(TorchText text);

  SpecOp spec;
  llvm::StringMap<TorchText> deadMasks;
  /// By their text: sums with one mask share it.
  llvm::StringMap<std::string> nameOfMask;
  llvm::StringMap<TorchText> visibleMasks;
  std::string signature;
};

/// How one operation is printed.
struct TorchRule {
  mlir::TypeID operation;
  mlir::LogicalResult (*print)(mlir::Operation *op, SpecPrinter &printer);
};
/// Of the operations that are local to rows or tokens.
llvm::ArrayRef<TorchRule> getLocalTorchRules();
/// The helpers of their texts.
llvm::ArrayRef<TorchHelper> getLocalTorchHelpers();

} // namespace taylor

#endif

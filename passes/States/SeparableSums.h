// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights of pairs that are sums of products: powers of one inner product, a factor of the row, a factor of
// the column. Such a sum over pairs is a sum over features of what each side knows alone (the paper, section
// 3.1), so it can be kept as a state.
#ifndef TAYLOR_PASSES_STATES_SEPARABLESUMS_H
#define TAYLOR_PASSES_STATES_SEPARABLESUMS_H

#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace taylor {

/// (sum over n of series[n] s^n) * rows * columns * product * (product over decays of exp(exponents[i]))
struct SeparableTerm {
  llvm::SmallVector<double> series;
  /// Scalars of the weight region that read the row alone, and those that read the column alone.
  llvm::SmallVector<mlir::Value> rows, columns;
  llvm::SmallVector<mlir::Value> &factorsOf(bool ofColumns) { return ofColumns ? columns : rows; }
  /// Number of a second inner product that is a factor; -1: none.
  int64_t product = -1;
  /// Numbers of the exponents whose exp is a factor, ascending; a number stands twice where the factor is
  /// squared.
  llvm::SmallVector<unsigned, 2> decays;
};

/// A scalar of a region, written as row + column: a part that reads the row alone and one that reads the
/// column alone. Null: that part is 0.
struct SplitScalar {
  mlir::Value row, column;
};

/// Whether a sum adds up a constant, and so counts pairs.
bool isCount(PairwiseOp op, PairSumAttr sum);
/// Whether it counts the keys that a row sees.
inline bool isRowCount(PairwiseOp op, PairSumAttr sum) {
  return sum.getKind() == PairOutput::Rows && isCount(op, sum);
}

/// Numbers of the yielded scalars of all sums that are not counts.
llvm::SmallVector<int64_t> weightsOf(PairwiseOp op);
/// Whether SeparableSums can take these yielded scalars and the mask apart across chunks. Leaves the
/// operation as it is.
bool areSeparable(PairwiseOp op, llvm::ArrayRef<int64_t> weights);

/// The weight region of one operation, taken apart.
class SeparableSums {
public:
  /// `acrossChunks`: the sums are those of a query and the keys of other chunks, so that it stands at none of
  /// them; else they have the query's own key, too.
  SeparableSums(PairwiseOp op, bool acrossChunks) : at(op.getLoc()), op(op), acrossChunks(acrossChunks) {}

  /// Number of the inner product whose powers the weights are.
  int64_t score = 0;
  /// exp(rowExponent - columnExponent) is a factor of all terms; null where nothing decays.
  mlir::Value rowExponent, columnExponent;
  /// Terms of each yielded scalar. None of the terms is 0; a scalar without terms is 0.
  llvm::SmallVector<llvm::SmallVector<SeparableTerm>> yielded;

  /// Takes the yielded scalars in `wanted` and the mask apart. Where that fails, `reason` says why and `at`
  /// where.
  mlir::LogicalResult run(llvm::ArrayRef<int64_t> wanted);
  std::string reason;
  mlir::Location at;
  /// A scalar of one of the operation's regions as row + column; empty if it is no such sum. New operations
  /// are inserted before the scalar's own.
  std::optional<SplitScalar> split(mlir::Value scalar);
  /// Sets `causal` and `documents`. Fails if the mask has any other condition than u <= t and "of one
  /// document".
  mlir::LogicalResult readMask();
  /// Only pairs with u <= t are visible.
  bool causal = false;
  /// If only pairs of one document are visible, the array over keys that numbers documents, ascending; else
  /// null.
  mlir::Value documents;
  /// Whether some pairs are invisible, so that a chunk needs states of its own.
  bool isMasked() const { return causal || documents; }
  /// Whether a query also sees later chunks' keys, those of its document.
  bool seesBothWays() const { return documents && !causal; }

private:
  using Terms = llvm::SmallVector<SeparableTerm>;
  enum Dependence : unsigned { None = 0, Products = 1, Rows = 2, Columns = 4 };

  mlir::LogicalResult readWeights(llvm::ArrayRef<int64_t> wanted);
  bool readCondition(mlir::Value condition);
  unsigned dependenceOf(mlir::Value scalar);
  /// Whether it does not read both the row and the column.
  bool isOneSided(mlir::Value scalar);
  std::optional<Terms> read(mlir::Value scalar);
  std::optional<Terms> compute(mlir::Value scalar);
  /// The term of a scalar that reads one side alone: a factor of that side.
  SeparableTerm factorTerm(mlir::Value scalar);
  std::optional<Terms> computeArgument(mlir::BlockArgument argument);
  /// Sums, products and quotients.
  std::optional<Terms> computeArithmetic(mlir::Operation *from);
  /// 1 / divisor; new operations are inserted before `from`.
  std::optional<Terms> computeInverse(mlir::Value divisor, mlir::Operation *from);
  std::optional<Terms> computeDecay(mlir::Value exponential);
  /// base^times; `times` must be a whole number.
  std::optional<Terms> computePower(mlir::Value base, double times, mlir::Location loc);
  std::optional<Terms> computeSelect(mlir::arith::SelectOp select);
  std::optional<Terms> multiply(const Terms &a, const Terms &b, mlir::Location loc);
  /// Sets rowExponent and columnExponent. False if terms decay differently.
  bool decayAlike();
  std::nullopt_t refuse(mlir::Location loc, const llvm::Twine &why);

  PairwiseOp op;
  bool acrossChunks;
  llvm::SmallVector<mlir::Value> exponents; // of decays
  llvm::DenseMap<mlir::Value, unsigned> dependences;
  llvm::DenseMap<mlir::Value, std::optional<Terms>> known;
};

} // namespace taylor

#endif

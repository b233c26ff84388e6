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
  /// Scalars of the weight region that depend on row scalars only, and on column scalars only.
  llvm::SmallVector<mlir::Value> rows, columns;
  llvm::SmallVector<mlir::Value> &factorsOf(bool ofColumns) { return ofColumns ? columns : rows; }
  /// The second inner product, to the first power, or -1.
  int64_t product = -1;
  /// Numbers of the exponents by which it decays, in ascending order; twice where it is their square.
  llvm::SmallVector<unsigned, 2> decays;
};

/// A scalar of a region as a sum of what depends on the row and what depends on the column, each null where
/// there is none of it.
struct SplitScalar {
  mlir::Value row, column;
};

/// Whether a sum of the operation adds up a constant: it counts pairs.
bool isCount(PairwiseOp op, PairSumAttr sum);
/// Whether it counts the keys that a row sees.
inline bool isRowCount(PairwiseOp op, PairSumAttr sum) {
  return sum.getKind() == PairOutput::Rows && isCount(op, sum);
}

/// Numbers of the yielded scalars of all sums that are no counts.
llvm::SmallVector<int64_t> weightsOf(PairwiseOp op);
/// Whether these are sums of products as SeparableSums has them, under a mask that it reads. The operation
/// stays as it is.
bool areSeparable(PairwiseOp op, llvm::ArrayRef<int64_t> weights);

/// The weight region of one operation, taken apart.
class SeparableSums {
public:
  explicit SeparableSums(PairwiseOp op) : at(op.getLoc()), op(op) {}

  /// Number of the inner product whose powers the weights are.
  int64_t score = 0;
  /// Where terms decay: exp(rowExponent - columnExponent) is a factor of all of them.
  mlir::Value rowExponent, columnExponent;
  /// Terms of each yielded scalar, none of them 0: where there are none, so is the scalar.
  llvm::SmallVector<llvm::SmallVector<SeparableTerm>> yielded;

  /// Fails where a yielded scalar in `wanted` is no such sum, or the mask is more than `readMask` reads;
  /// `reason` then says why, and `at` where.
  mlir::LogicalResult run(llvm::ArrayRef<int64_t> wanted);
  std::string reason;
  mlir::Location at;
  /// The scalar of one of the operation's regions, taken apart by sums and products with what depends on
  /// neither side; new operations go in front of its own. Empty where it has no such form.
  std::optional<SplitScalar> split(mlir::Value scalar);
  /// Sets `causal` and `documents`; fails where the mask is more than u <= t and one document.
  mlir::LogicalResult readMask();
  /// Whether no pair but those of u <= t is visible.
  bool causal = false;
  /// Where only pairs of one document are visible: the array over keys that is equal in one, and ascends.
  /// Else null.
  mlir::Value documents;
  /// Whether some pairs are not visible, so that states belong to chunks.
  bool isMasked() const { return causal || documents; }
  /// Whether a query sees keys behind its chunk, those of its document.
  bool seesBothWays() const { return documents && !causal; }

private:
  using Terms = llvm::SmallVector<SeparableTerm>;
  enum Dependence : unsigned { None = 0, Products = 1, Rows = 2, Columns = 4 };

  mlir::LogicalResult readWeights(llvm::ArrayRef<int64_t> wanted);
  bool readCondition(mlir::Value condition);
  unsigned dependenceOf(mlir::Value scalar);
  /// Whether it depends on scalars of the row, on scalars of the column, or on neither.
  bool isOneSided(mlir::Value scalar);
  std::optional<Terms> read(mlir::Value scalar);
  std::optional<Terms> compute(mlir::Value scalar);
  /// What one side knows alone, as a factor of that side.
  SeparableTerm factorTerm(mlir::Value scalar);
  std::optional<Terms> computeArgument(mlir::BlockArgument argument);
  /// Sums, products and quotients.
  std::optional<Terms> computeArithmetic(mlir::Operation *from);
  /// 1 / divisor, new operations in front of `from`.
  std::optional<Terms> computeInverse(mlir::Value divisor, mlir::Operation *from);
  std::optional<Terms> computeDecay(mlir::Value exponential);
  /// base^times, of a whole number of times.
  std::optional<Terms> computePower(mlir::Value base, double times, mlir::Location loc);
  std::optional<Terms> computeSelect(mlir::arith::SelectOp select);
  std::optional<Terms> multiply(const Terms &a, const Terms &b, mlir::Location loc);
  /// Sets the exponents of row and column; fails unless all terms decay alike.
  bool decayAlike();
  std::nullopt_t refuse(mlir::Location loc, const llvm::Twine &why);

  PairwiseOp op;
  llvm::SmallVector<mlir::Value> exponents; // of decays
  llvm::DenseMap<mlir::Value, unsigned> dependences;
  llvm::DenseMap<mlir::Value, std::optional<Terms>> known;
};

} // namespace taylor

#endif

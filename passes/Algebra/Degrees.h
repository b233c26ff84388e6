// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Degrees of the values of a function in its running maxima.
//
// Let m_k be the running maximum of the k-th exponent x_k over the visible keys of a row. Written with
// exp(x_k - m_k) in place of exp(x_k), a value v of the function becomes v' with
//
//     v = exp(sum over k of p[k] m_k) v'            p: the degree of v
//
// where the operations allow it. The function is unchanged if everything that leaves a row has degree 0.
#ifndef TAYLOR_PASSES_ALGEBRA_DEGREES_H
#define TAYLOR_PASSES_ALGEBRA_DEGREES_H

#include "dialect/Taylor/TaylorDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace taylor {

/// A degree per exponent. Zero is of every degree, so it has none (`any`).
struct Degree {
  bool any = false;
  llvm::SmallVector<double, 2> p;

  bool isZero() const {
    return any || llvm::all_of(p, [](double x) { return x == 0.0; });
  }
};

/// One exponential over the same visible pairs, wherever the function computes it: in the forward and, again,
/// in the backward.
struct Exponent {
  /// The first operation that computes it provides its maximum; where it computes several, the maximum of
  /// them all.
  PairwiseOp provider;
  llvm::SmallVector<std::pair<PairwiseOp, mlir::math::ExpOp>> sites;
  /// The exponent whose maximum this one shares; itself at first.
  unsigned leader = 0;
  bool enabled = true;
  /// Whether a factor exp(-m) was made, for which m >= 0 is needed.
  bool floored = false;
};

/// The exponentials of a function or specification that differ from key to key of a row, each its own leader.
llvm::SmallVector<Exponent> findExponents(mlir::Block &block);

class DegreeAnalysis {
public:
  /// Finds the exponentials of a function or specification and its degrees, giving up exponents until what is
  /// left cancels.
  explicit DegreeAnalysis(mlir::Block &block);

  /// A factor to put on an operand, of an operation in a region or of one over arrays: exp(sum of by.p[k]
  /// m_k), all p <= 0. On a logarithm's result it is a summand instead.
  struct Factor {
    mlir::OpOperand *operand;
    Degree by;
    /// Whether rows without keys, which have no maximum, take it too.
    bool ofDeadRows = false;
  };

  llvm::SmallVector<Exponent> exponents;
  llvm::SmallVector<Factor> factors;
  llvm::SmallVector<std::pair<mlir::Operation *, Degree>> logarithms; ///< log or log2
  unsigned leaderOf(unsigned exponent) const;

private:
  /// Of several exponents of one operation, those that may have no maximum stay as they are written.
  void giveUpConflicts();
  /// Those whose maximum `leader` is stay as they are written.
  void giveUp(unsigned leader);
  /// One pass over the function; false if exponents were given up or joined and the pass must start over.
  bool run();
  bool visitArrayOp(mlir::Operation &op);
  bool visitPairwise(PairwiseOp op);
  bool lowersArrays(PairwiseOp op) const;
  /// Of one of its sums, after its weight was visited.
  Degree degreeOf(PairwiseOp op, unsigned result);
  bool visitBody(mlir::Block &block);
  bool visitScalar(mlir::Operation &op);
  bool visitExp(mlir::math::ExpOp op);
  bool visitPower(mlir::Operation &op);
  /// Brings operands to one degree, the larger, with factors on the others.
  std::optional<Degree> join(llvm::ArrayRef<mlir::OpOperand *> operands);
  /// Where a degree, or what one is more than another, has both signs, the sums of one of each must share one
  /// maximum: joins them; true then.
  bool shareMaximum(const Degree &difference);
  /// Gives up or joins exponents that a value depends on, if it does; false then.
  bool requireZero(const Degree &degree);
  /// The same, but where all degrees are at most 0 a factor on the operand brings them there.
  bool bringToZero(mlir::OpOperand &operand);

  Degree zero() const { return {false, llvm::SmallVector<double, 2>(exponents.size(), 0.0)}; }
  Degree lookup(mlir::Value value) const;
  Degree add(const Degree &a, const Degree &b, double sign = 1.0) const;

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, unsigned> exponentOf;
  llvm::DenseMap<mlir::Value, Degree> degrees;
};

} // namespace taylor

#endif

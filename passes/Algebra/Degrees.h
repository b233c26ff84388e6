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

/// One degree p[k] per exponent. The number 0 has every degree (`any`).
struct Degree {
  bool any = false;
  llvm::SmallVector<double, 2> p;

  bool isZero() const {
    return any || llvm::all_of(p, [](double x) { return x == 0.0; });
  }
};

/// One exponential over the same visible pairs, at all places that compute it: the forward, and the backward
/// again.
struct Exponent {
  /// The first operation that computes it, which also computes its maximum: the maximum of all exponents of
  /// that operation.
  PairwiseOp provider;
  llvm::SmallVector<std::pair<PairwiseOp, mlir::math::ExpOp>> sites;
  /// Number of the exponent whose maximum this one uses; at first its own.
  unsigned leader = 0;
  bool enabled = true;
  /// Whether a factor exp(-m) was made, for which m >= 0 is needed.
  bool floored = false;
};

/// The exponentials of a function or specification that differ between the keys of a row, each its own
/// leader.
llvm::SmallVector<Exponent> findExponents(mlir::Block &block);

/// The exponentials of a function or specification from which a maximum can be subtracted, and what has to be
/// multiplied elsewhere so that the function stays the same. Exponents are given up until everything that
/// leaves a row has degree 0.
class DegreeAnalysis {
public:
  explicit DegreeAnalysis(mlir::Block &block);

  /// An operand, in a region or of an operation on arrays, that must be multiplied by exp(sum over k of
  /// by.p[k] m_k), where all p <= 0. To a logarithm's result the exponent is added instead.
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
  /// Where several exponents of one operation cannot share a maximum: gives up those that can do without if
  /// the others can then share one, else all of them.
  void giveUpConflicts();
  /// Lets all exponents of this leader stay as they are written.
  void giveUp(unsigned leader);
  /// One pass over the function; false if exponents were given up or joined and the pass must start over.
  bool run();
  bool visitArrayOp(mlir::Operation &op);
  bool visitPairwise(PairwiseOp op);
  bool lowersArrays(PairwiseOp op) const;
  /// The degree of one of the operation's sums, after its weight region was visited.
  Degree degreeOf(PairwiseOp op, unsigned result);
  bool visitBody(mlir::Block &block);
  bool visitScalar(mlir::Operation &op);
  bool visitExp(mlir::math::ExpOp op);
  bool visitPower(mlir::Operation &op);
  /// Brings all operands to the largest degree among them, by factors on the others.
  std::optional<Degree> join(llvm::ArrayRef<mlir::OpOperand *> operands);
  /// A difference of degrees with both signs is no factor <= 1: lets two exponents of opposite sign share one
  /// maximum. True if it did.
  bool shareMaximum(const Degree &difference);
  /// For a value that must have degree 0: true if it has. Otherwise gives up or joins exponents, and is
  /// false.
  bool requireZero(const Degree &degree);
  /// The same for an operand; degrees below 0 are mended by a factor on it.
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

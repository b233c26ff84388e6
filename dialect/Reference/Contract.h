// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far a kernel's result may be from the reference.
#ifndef TAYLOR_DIALECT_REFERENCE_CONTRACT_H
#define TAYLOR_DIALECT_REFERENCE_CONTRACT_H

#include "dialect/Reference/Array.h"
#include <algorithm>

namespace taylor::reference {

/// The contract of one output or gradient of a kernel in a type X, in 2-norms:
///
///   |x - ref| <= max(c |eager - ref|, 4 eps(X) |ref|, floor)
///
/// ref is the reference on inputs rounded to X; eager is the same with every result rounded to X and sums in
/// f32 (RoundingRules::eager), in the kernel's form (ThroughStates.h); c is 1.1, and 2 where X is f32 or f64;
/// eps(X) is the distance from 1 to the next number of X. Where products of f32 round their operands to tf32,
/// eager code's do too; eps(X) stays f32's, and the floor is in units of tf32's. In f64, which is there for
/// gradient checks, eps(X) stands for 4096 of that: no wider type is at hand for the angle of rope at
/// position p, which is off by p eps.
struct Contract {
  /// eps(X) as the contract means it.
  Real getEpsilon() const { return dtype == Dtype::F64 ? 4096 * epsilonOf(dtype) : epsilonOf(dtype); }
  /// The same of operands of products: how far terms of order 1 are off before they cancel.
  Real getTermEpsilon() const { return tf32Products ? kTF32Epsilon : getEpsilon(); }

  Dtype dtype = Dtype::F32;
  /// Absolute error that each element may have in the mean square, where the reference cancels to nearly 0:
  /// in units of getTermEpsilon(). With inputs and cotangents of order 1 the terms that cancel are of
  /// order 1.
  Real floorPerElement = Real(1) / 16;
  /// The same where all of the reference cancels (a query that sees one key): what is left is the rounding of
  /// whole terms, of which eager code may by luck have less.
  Real cancelledPerElement = 4;
  /// Where eager code's error passes this many getTermEpsilon() |ref|, ref is what cancellation left, or
  /// hangs on which scores a clamp takes, and c of this one draw is twice as large: about 1/500 of |ref| in
  /// f32, 1/16 in bf16, 1/64 in f16 and tf32.
  Real getNoise() const {
    return dtype == Dtype::BF16 ? 8 : dtype == Dtype::F16 || tf32Products ? 16 : 16384;
  }
  bool isNoise(Real reference, Real eager) const { return eager > getNoise() * getTermEpsilon() * reference; }
  /// Absolute error that an element may have, by the roots of the mean squares of the reference and of eager
  /// code's error. The reference cancels where it is below 1/64 getTermEpsilon(), and where it is below
  /// getTermEpsilon() and eager code is off by isNoise() of it and by 1/64 of it: then 16 of eager code's
  /// errors are allowed, and no more than where all of the reference cancels. Where eager code's error is 16
  /// times such a reference, the terms are larger than 1 (a decay of 20 per token) and what is judged is
  /// their rounding: 8 of its errors. A gradient that is small because it is a mean over many tokens is one
  /// that eager code gets right, and is judged as any other.
  Real getFloor(Real reference, Real eager) const;
  /// A result of fewer elements (a parameter per head) is judged by `peers` too: eager code's error of so few
  /// numbers is chance, and two draws of it easily differ by a factor of 10.
  size_t fewElements = 16;
  /// The largest |eager - ref| / |ref| among the other results of the same run, or 0.
  Real peers = 0;
  /// likelyError of |eager - ref| over several draws of eager code's rounding, which stands for |eager - ref|
  /// where it is larger; or 0 where none is known. A result with many independent errors has nearly the same
  /// in each draw. One whose elements share theirs has few numbers' worth of chance however many elements it
  /// has (a running sum, two tokens, the few pairs whose scores rounding moves across a clamp's bound), and
  /// by luck one draw is a fraction of another.
  Real eagerOverDraws = 0;
  /// With f32: products round their operands to tf32.
  bool tf32Products = false;
  /// A kernel of the chunked or recurrent form in f32: eager code adds up pairs there, and its error says
  /// nothing of sums over features. Then 1e-5 |ref| is allowed too, and 3e-3 |ref| where operands of products
  /// are rounded to tf32.
  bool statesBetweenChunks = false;
  /// Operands of products in bf16 are two numbers of it.
  bool splitProducts = false;
  /// No more than the form and the operands of products cost. In types of 16 bits: c |eager - ref|, and no
  /// part of |ref|. With splitProducts, and in f32: 3e-3 |ref| (also with tf32Products) and 1e-5 |ref|,
  /// whatever eager code's error. The floor is for what cancels to nearly 0 alone.
  bool isStrict = false;
  bool takesEager() const { return !isStrict || dtype == Dtype::F64 || (isNarrow(dtype) && !splitProducts); }
  /// What is allowed of |ref|, whatever eager code's error.
  Real getRelative() const {
    if (!takesEager())
      return tf32Products || splitProducts ? 3e-3 : 1e-5;
    Real epsilons = isStrict && isNarrow(dtype) ? 0 : 4 * getEpsilon();
    return statesBetweenChunks && dtype == Dtype::F32 ? std::max(epsilons, Real(tf32Products ? 3e-3 : 1e-5))
                                                      : epsilons;
  }
};

/// What an error of rounding to the nearest stays below except by chance, by the errors of two or more draws
/// (Rounding, kSquareOfDraw): its square is the mean of theirs and three of their standard deviations, and no
/// less than that of the largest where it lies far above the others, as when a score has moved across the
/// bound of a clamp. 0 where a draw is not finite.
Real likelyError(llvm::ArrayRef<Real> draws);

struct Comparison {
  /// |x - ref|, |eager - ref|, |ref| (of its finite elements) and what the contract allows, in 2-norms.
  Real error = 0, eager = 0, norm = 0, allowed = 0;
  /// Elements of the reference that are NaN or infinite: x must have the same there, and no error counts.
  size_t notFinite = 0;
  /// Elements of x that are NaN or infinite where the reference is finite.
  size_t lost = 0;
  /// False past the allowed error, and where x has a NaN or an infinity that the reference has not.
  bool passes = false;
};

/// Judges x against the reference. All three have the same number of elements.
Comparison compare(llvm::ArrayRef<Real> x, llvm::ArrayRef<Real> reference, llvm::ArrayRef<Real> eager,
                   const Contract &contract);

/// |a - b| in the 2-norm; infinite where one of them alone is not finite.
Real distance(llvm::ArrayRef<Real> a, llvm::ArrayRef<Real> b);

} // namespace taylor::reference

#endif

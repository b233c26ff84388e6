// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions on vectors of f32 and f64, as polynomials in the arith, math and vector dialects: a
// kernel calls no library. Largest errors measured by test/codegen/VectorMathTest.cpp, in units of the last
// place (ulp):
//
//   f32: exp, exp2 3, expm1 4, log 2, log1p 3, tanh 4, sin and cos 1 (through f64; |x| < 1e6), pow 2 (through
//   f64), rsqrt 1.5. f64: exp, exp2, log 2, sin and cos 2 (|x| < 1e6), expm1, log1p, tanh 5, pow: relative
//   1e-14 for |y log x| < 50.
//
// Results below the smallest normal number are 0: a subnormal operand costs a hundred cycles in every product
// it meets.
#ifndef TAYLOR_CODEGEN_CPU_VECTORMATH_H
#define TAYLOR_CODEGEN_CPU_VECTORMATH_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::tile::cpu {

struct VectorMathOptions {
  /// The target has vscalefps and vrndscaleps (AVX-512).
  bool hasScale = false;
};

/// Replaces exp, exp2, expm1, log, log1p, log2, tanh, sin, cos, powf and rsqrt on vectors (of rank 1) and on
/// scalars of f32 and f64.
void populateVectorMathPatterns(RewritePatternSet &patterns, const VectorMathOptions &options);

} // namespace mlir::tile::cpu
#endif

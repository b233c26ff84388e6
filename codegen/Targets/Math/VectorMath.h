// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions on vectors of f32 and f64, as polynomials in the arith, math and vector dialects: a
// kernel calls no library. Largest errors measured by test/codegen/Math/VectorMathTest.cpp, in units of the
// last place (ulp):
//
//   f32: exp, exp2 3, expm1 4, log 2, log1p, log2, log10 3, tanh 2, erf 2, sin and cos 1 (through f64), pow 2
//   (through f64), rsqrt 1.5. f64: exp, exp2, log 2, log2, log10 3, sin and cos 2, erf 3, expm1, log1p, tanh
//   5, pow: relative 1e-14 for |y log x| < 50. sin and cos of |x| up to 2^50, and there by an absolute error
//   of 3e-16 in f64; those of larger numbers are in [-1, 1] and have no right digit. Right ones need the bits
//   of 1 / pi from the number's exponent on (Payne and Hanek): some 50 instructions more in each sine, for
//   numbers whose neighbours in f32 are 2^27 apart.
//
// pow with a constant exponent p that is a whole number or a half of one, |p| <= 64, is made of products, a
// square root and a quotient: 2 + 3 |p| / 4, and in f32 2 where |p| >= 9 (through f64).
//
// exp and exp2 are 0 below 2^-125 in f32 and below the smallest normal number in f64: a subnormal operand
// costs a hundred cycles in every product it meets. Those that are weights (`tile::isRelaxed`) are 0 below
// 2^-64 in f32, so that their products are normal too. With `kRoundedResult` their relative error in f32 is
// 7.5e-5: the result is rounded to bf16, which costs up to 3.9e-3.
#ifndef TAYLOR_CODEGEN_TARGETS_MATH_VECTORMATH_H
#define TAYLOR_CODEGEN_TARGETS_MATH_VECTORMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace mlir::tile {

/// The fast-math flag of an exp or exp2 of vectors, between TileElements and CPUExpandMath alone,
/// where what reads it reads it rounded to bf16, or adds such numbers up. Without it the result is more
/// exact.
inline constexpr arith::FastMathFlags kRoundedResult = arith::FastMathFlags::contract;

/// Instructions of a target that elementary functions may use.
struct MathInstructions {
  /// vreduceps and vscalefps (AVX-512): the fraction and the power of two of exp and exp2, 16 numbers of f32.
  bool hasScale = false;
  /// ex2.approx.ftz (PTX ISA): 2^x of one f32, relative error 2^-22.5, 0 where the result would be subnormal.
  bool hasExp2 = false;
  /// div.full (PTX ISA): a quotient of two f32 within 2 units of the last place, 0 for divisors from 2^126
  /// on.
  bool hasDivide = false;
};

/// A value equal to the result of `op`, built with `builder`, where `op` is an exp, exp2, expm1, log, log1p,
/// log2, log10, tanh, erf, sin, cos, powf, fpowi or rsqrt on a vector (of rank 1) or a scalar of f32 or f64;
/// else null.
Value expandElementary(OpBuilder &builder, Operation *op, MathInstructions has);

/// Instructions that the op, an elementary function or arithmetic, takes on one vector, about. `vectors`: how
/// many vectors of f64 one vector makes, for functions that are computed in f64.
int64_t countInstructions(Operation *op, int64_t vectors);

} // namespace mlir::tile
#endif

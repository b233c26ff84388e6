// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scalar functions of the reference: value and derivative of each. Written from the calculus book and not
// from the compiler's rules (dialect/Taylor/ScalarDerivatives.cpp), which are tested against these.
#ifndef TAYLOR_DIALECT_REFERENCE_SCALARFUNCTIONS_H
#define TAYLOR_DIALECT_REFERENCE_SCALARFUNCTIONS_H

#include "dialect/Reference/Precision.h"

namespace taylor::reference {

// clang-format off
enum class ScalarOpcode {
  // Arithmetic
  Copy, Add, Subtract, Multiply, Divide, Remainder, Negate, MultiplyAdd, Maximum, Minimum, Select,
  // Functions of one number
  Exp, Exp2, ExpM1, Log, Log2, Log10, Log1p, Sqrt, Rsqrt, Cbrt, Abs, Sigmoid, Softplus,
  Tanh, Sinh, Cosh, Sin, Cos, Tan, Asin, Acos, Atan, Erf, Erfc,
  // Functions of two
  Power, Atan2, CopySign,
  // Derivative zero
  Stop, Floor, Ceil, Round, RoundEven, Truncate,
  // Conditions, 1 or 0
  Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, And, Or, Xor,
};
// clang-format on

/// Who gets the gradient of a maximum or minimum at a tie: half each, or all to the side that is not a
/// constant, where the operation is a clamp.
enum class TieRule { Half, First, Second };

/// The value at operands x (as many as the function has).
Real evaluateScalar(ScalarOpcode opcode, const Real *x);

/// The partial derivatives at operands x, where the value is y: written to `partials`, one per operand.
void differentiateScalar(ScalarOpcode opcode, TieRule tie, const Real *x, Real y, Real *partials);

/// Number of operands: 1, 2 or 3.
int arityOf(ScalarOpcode opcode);

} // namespace taylor::reference

#endif

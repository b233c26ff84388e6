// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of the reference evaluator, and how its `eager` mode rounds them.
#ifndef TAYLOR_DIALECT_REFERENCE_PRECISION_H
#define TAYLOR_DIALECT_REFERENCE_PRECISION_H

#include <cstdint>

namespace taylor::reference {

/// 64 bits of mantissa and 15 of exponent on x86: e^11000 is finite, so no formula needs to be stabilised
/// here.
using Real = long double;
static_assert(sizeof(Real) > sizeof(double), "the reference needs a long double wider than double");

/// Storage types of kernels, by their names in a manifest.
enum class Dtype { F32, BF16, F16, F64, I32 };

/// Rounds to the nearest number with a given mantissa. The exponent stays wide: eager code in a library is
/// stabilised by hand, and what it is compared for here is its rounding, not its overflow.
class Rounding {
public:
  /// No rounding.
  Rounding() = default;
  /// Keeps `bits` bits of mantissa, the leading one included.
  explicit Rounding(int bits) : splitter(bits == 64 ? 0 : Real(uint64_t(1) << (64 - bits)) + 1) {}

  bool isExact() const { return splitter == 0; }
  Real operator()(Real x) const {
    if (splitter == 0)
      return x;
    Real rounded = finite(x);
    return rounded == rounded ? rounded : x;
  }
  /// The same for x known to be finite, of a rounding that is not exact (Veltkamp's splitting).
  Real finite(Real x) const {
    Real shifted = x * splitter;
    return shifted - (shifted - x);
  }

private:
  Real splitter = 0;
};

/// Bits of mantissa of a storage type.
inline int mantissaBits(Dtype dtype) {
  switch (dtype) {
  case Dtype::F32:
    return 24;
  case Dtype::BF16:
    return 8;
  case Dtype::F16:
    return 11;
  case Dtype::F64:
    return 53;
  case Dtype::I32:
    return 64;
  }
  return 64;
}

/// True of the types that kernels only store: sums, and learned parameters, are f32.
inline bool isNarrow(Dtype dtype) { return dtype == Dtype::BF16 || dtype == Dtype::F16; }

/// Distance from 1 to the next number of a storage type; 0 for integers.
inline Real epsilonOf(Dtype dtype) {
  return dtype == Dtype::I32 ? 0 : 1 / Real(uint64_t(1) << (mantissaBits(dtype) - 1));
}

/// Bits of mantissa of tf32, in which matrix units take operands of f32, and its distance from 1 to the next
/// number (PTX ISA, "Alternate Floating-Point Data Formats").
inline constexpr int kTF32Bits = 11;
inline constexpr Real kTF32Epsilon = Real(1) / (1 << (kTF32Bits - 1));

/// How results are rounded: those of every scalar operation, and the running sums of dots and reductions; and
/// before each multiplication of a matrix product, its two operands.
struct Arithmetic {
  Rounding value, accumulator, operand;
  /// Inner products, and sums over pairs, start this far into their terms, go on to the last one, and end
  /// with those before: another order of additions, so another draw of the same rounding. In [0, 1).
  Real start = 0;
  /// The term of a sum of `count` that is added i-th.
  int64_t place(int64_t i, int64_t count) const {
    int64_t at = i + static_cast<int64_t>(start * count);
    return at < count ? at : at - count;
  }
  /// The reference: nothing is rounded.
  static Arithmetic exact() { return {}; }
  /// Eager code in a type: results in the type, sums in f32 at least. `tf32Products`: as torch computes in
  /// f32 where its matrix products may use tf32 (torch.backends.cuda.matmul.allow_tf32); nothing else is
  /// rounded to it.
  static Arithmetic eager(Dtype dtype, bool tf32Products = false, Real start = 0) {
    Rounding operand = tf32Products ? Rounding(kTF32Bits) : Rounding();
    return {Rounding(mantissaBits(dtype)), Rounding(dtype == Dtype::F64 ? 53 : 24), operand, start};
  }
};

} // namespace taylor::reference

#endif

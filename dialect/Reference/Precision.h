// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of the reference evaluator, and how its `eager` mode rounds them.
#ifndef TAYLOR_DIALECT_REFERENCE_PRECISION_H
#define TAYLOR_DIALECT_REFERENCE_PRECISION_H

#include <cstdint>
#include <cstring>
#include <limits>

namespace taylor::reference {

/// 64 bits of mantissa and 15 of exponent on x86: e^11000 is finite, so no formula needs to be stabilised
/// here.
using Real = long double;
static_assert(std::numeric_limits<Real>::digits == 64,
              "the reference needs a long double of 64 bits of mantissa");

/// Storage types of kernels, by their names in a manifest.
enum class Dtype { F32, BF16, F16, F64, I32 };

/// Rounds to a number with a given mantissa: to the nearest, or, in a draw, to one of the two next to x, with
/// a probability that makes x the mean (stochastic rounding; Parker, Monte Carlo Arithmetic, 1997). A draw
/// is a function of |x|: x and -x round alike, as they do to the nearest, and numbers of that mantissa stay.
/// The exponent stays wide: eager code in a library is stabilised by hand, and what it is compared for here
/// is its rounding, not its overflow.
class Rounding {
public:
  /// No rounding.
  Rounding() = default;
  /// Keeps `bits` bits of mantissa, the leading one included. `draw`: 0 for the nearest, else which draw.
  explicit Rounding(int bits, uint64_t draw = 0)
      : kind(bits == 64 ? Kind::None : Kind::Mantissa), splitter(Real(uint64_t(1) << (64 - bits)) + 1),
        dropped(64 - bits), draw(draw) {}

  /// Keeps all of the mantissa, and makes what is closer to 0 than `smallest` 0.
  static Rounding toRange(Real smallest) {
    Rounding rounding;
    rounding.kind = Kind::Range;
    rounding.smallest = smallest;
    return rounding;
  }

  bool isExact() const { return kind == Kind::None; }
  Real operator()(Real x) const {
    if (kind == Kind::None)
      return x;
    if (kind == Kind::Range)
      return x < smallest && -x < smallest ? Real(0) : x;
    Real rounded = finite(x);
    return rounded == rounded ? rounded : x;
  }
  /// The same for x known to be finite, of a rounding that is not exact (Veltkamp's splitting).
  Real finite(Real x) const {
    if (draw)
      return drawn(x);
    Real shifted = x * splitter;
    return shifted - (shifted - x);
  }

private:
  enum class Kind : uint8_t { None, Range, Mantissa };

  /// Adds a random number below the last bit that is kept, and cuts.
  Real drawn(Real x) const {
    if (x == 0 || x - x != 0)
      return x;
    constexpr size_t kMantissaBytes = 8; // then sign and exponent: x87's extended format
    uint64_t mantissa, hash;
    uint16_t exponent;
    std::memcpy(&mantissa, &x, kMantissaBytes);
    std::memcpy(&exponent, reinterpret_cast<const char *>(&x) + kMantissaBytes, sizeof(exponent));
    hash = mix(mantissa + mix(draw << 15 | (exponent & 0x7fff))); // the sign apart
    uint64_t below = (uint64_t(1) << dropped) - 1, sum = mantissa + (hash & below);
    if (sum < mantissa) { // carries past the leading bit: the next power of two
      sum = uint64_t(1) << 63;
      ++exponent;
    }
    sum &= ~below;
    std::memcpy(&x, &sum, kMantissaBytes);
    std::memcpy(reinterpret_cast<char *>(&x) + kMantissaBytes, &exponent, sizeof(exponent));
    return x;
  }
  /// Every bit of the result depends on every bit of x (the finalizer of SplitMix64).
  static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }

  Kind kind = Kind::None;
  Real splitter = 0, smallest = 0;
  int dropped = 0;
  uint64_t draw = 0;
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

/// The squared error of a draw is 1/6 of the square of a last place in the mean, that of the nearest number
/// 1/12.
inline constexpr int kSquareOfDraw = 2;

/// How results are rounded: those of every scalar operation, and the running sums of dots and reductions; and
/// before each multiplication of a matrix product, its two operands.
struct RoundingRules {
  Rounding value, accumulator, operand;
  /// The reference: nothing is rounded.
  static RoundingRules exact() { return {}; }
  /// The reference with the range of what kernels compute in: results below the smallest normal number of f32
  /// (of f64, for kernels in it) are 0, so that an infinity times such a one is NaN.
  static RoundingRules toRange(Dtype dtype) {
    Real smallest = dtype == Dtype::F64 ? Real(std::numeric_limits<double>::min())
                                        : Real(std::numeric_limits<float>::min());
    return {Rounding::toRange(smallest), Rounding(), Rounding()};
  }
  /// Eager code in a type: results in the type, sums in f32 at least. `tf32Products`: as torch computes in
  /// f32 where its matrix products may use tf32 (torch.backends.cuda.matmul.allow_tf32); nothing else is
  /// rounded to it.
  /// `draw`: 0 to round to the nearest, else another draw of the same errors, whose squares are kSquareOfDraw
  /// as large.
  static RoundingRules eager(Dtype dtype, bool tf32Products = false, uint64_t draw = 0) {
    Rounding operand = tf32Products ? Rounding(kTF32Bits, draw) : Rounding();
    return {Rounding(mantissaBits(dtype), draw), Rounding(dtype == Dtype::F64 ? 53 : 24, draw), operand};
  }
};

} // namespace taylor::reference

#endif

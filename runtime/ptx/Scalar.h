// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scalar types of PTX on the host, and exact rounding to each of them.
#ifndef TAYLOR_RUNTIME_PTX_SCALAR_H
#define TAYLOR_RUNTIME_PTX_SCALAR_H
#include "runtime/ptx/Program.h"
#include <bit>
#include <cmath>
#include <limits>

namespace taylor::runtime::ptx {

/// 16-bit floats as bits; arithmetic on them is done in double and rounded once.
struct Half {
  uint16_t bits = 0;
};
struct BHalf {
  uint16_t bits = 0;
};

/// The bits of x in a format of `fraction` stored and `exponent` exponent bits, subnormals included.
/// Canonical NaN: all ones below the sign, as PTX has it.
template <int fraction, int exponent> uint32_t encode(double x, Round round) {
  constexpr int bias = (1 << (exponent - 1)) - 1, least = 1 - bias;
  constexpr uint32_t top = uint32_t((1 << exponent) - 1) << fraction;
  if (std::isnan(x))
    return (uint32_t(1) << (fraction + exponent)) - 1;
  uint32_t sign = uint32_t(std::signbit(x)) << (fraction + exponent);
  double size = std::fabs(x);
  if (size == 0)
    return sign;
  if (std::isinf(x))
    return sign | top;
  int power = std::ilogb(size);
  int quantum = std::max(power, least) - fraction;
  double scaled = std::scalbn(size, -quantum), whole = std::floor(scaled), rest = scaled - whole;
  bool up = false;
  switch (round) {
  case Round::Nearest:
    up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) == 1);
    break;
  case Round::NearestAway:
    up = rest >= 0.5;
    break;
  case Round::Zero:
    break;
  case Round::Down:
    up = rest > 0 && sign;
    break;
  case Round::Up:
    up = rest > 0 && !sign;
    break;
  }
  uint64_t bits = (uint64_t(quantum - (least - fraction)) << fraction) + uint64_t(whole + up);
  if (bits < top)
    return sign | uint32_t(bits);
  bool toInfinity = round == Round::Nearest || round == Round::NearestAway ||
                    (round == Round::Down && sign) || (round == Round::Up && !sign);
  return sign | (toInfinity ? top : top - 1);
}

inline float toFloat(float x) { return x; }
inline double toFloat(double x) { return x; }
inline float toFloat(BHalf x) { return std::bit_cast<float>(uint32_t(x.bits) << 16); }
inline float toFloat(Half x) {
  uint32_t sign = uint32_t(x.bits & 0x8000) << 16, body = x.bits & 0x7fff;
  if (body >= 0x7c00) // infinity and NaN
    return std::bit_cast<float>(sign | 0x7f800000 | (body & 0x3ff) << 13);
  float size = body >= 0x400 ? std::bit_cast<float>((body << 13) + (112u << 23)) : float(body) * 0x1p-24f;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(size) | sign);
}

template <typename T> T roundTo(double x, Round round = Round::Nearest);
template <> inline float roundTo<float>(double x, Round round) {
  if (round == Round::Nearest && !std::isnan(x))
    return float(x);
  return std::bit_cast<float>(encode<23, 8>(x, round));
}
template <> inline double roundTo<double>(double x, Round) { return x; }
template <> inline Half roundTo<Half>(double x, Round round) { return {uint16_t(encode<10, 5>(x, round))}; }
template <> inline BHalf roundTo<BHalf>(double x, Round round) { return {uint16_t(encode<7, 8>(x, round))}; }

/// What a 32-bit lane keeps of its low 19 bits short of tf32: the processor ignores the rest.
inline float truncateToTf32(uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000); }

inline float flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
inline double flush(double x) { return x; }
inline Half flush(Half x) { return (x.bits & 0x7c00) == 0 ? Half{uint16_t(x.bits & 0x8000)} : x; }
inline BHalf flush(BHalf x) { return (x.bits & 0x7f80) == 0 ? BHalf{uint16_t(x.bits & 0x8000)} : x; }

/// a b + c, rounded once to double by rounding to odd, so that rounding it again to a narrower type is exact.
inline double fusedToOdd(double a, double b, double c) {
  double product = a * b; // exact: a and b have at most 24 bits
  double sum = product + c;
  if (!std::isfinite(sum))
    return sum;
  double back = sum - product, error = (product - (sum - back)) + (c - back);
  if (error != 0 && !(std::bit_cast<uint64_t>(sum) & 1)) {
    bool away = std::signbit(error) == std::signbit(sum); // the exact sum is larger than this
    sum = std::bit_cast<double>(std::bit_cast<uint64_t>(sum) + (away ? 1 : -1));
  }
  return sum;
}

} // namespace taylor::runtime::ptx

#endif

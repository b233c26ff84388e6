// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons and conversions (PTX ISA, "setp", "set", "cvt").
#include "runtime/ptx/Handlers.h"

namespace taylor::runtime::ptx {
namespace {

template <typename T> bool compare(Compare c, T a, T b) {
  bool nan = false;
  if constexpr (std::is_floating_point_v<T>)
    nan = std::isnan(a) || std::isnan(b);
  switch (c) {
  case Compare::Eq:
    return a == b;
  case Compare::Ne:
    return !nan && a != b;
  case Compare::Lt:
    return a < b;
  case Compare::Le:
    return a <= b;
  case Compare::Gt:
    return a > b;
  case Compare::Ge:
    return a >= b;
  case Compare::Equ:
    return nan || a == b;
  case Compare::Neu:
    return a != b;
  case Compare::Ltu:
    return nan || a < b;
  case Compare::Leu:
    return nan || a <= b;
  case Compare::Gtu:
    return nan || a > b;
  case Compare::Geu:
    return nan || a >= b;
  case Compare::Num:
    return !nan;
  case Compare::Nan:
    return nan;
  }
  return false;
}

uint32_t combine(Logic logic, uint32_t a, uint32_t b) {
  switch (logic) {
  case Logic::None:
    return a;
  case Logic::And:
    return a & b;
  case Logic::Or:
    return a | b;
  case Logic::Xor:
    return a ^ b;
  }
  return a;
}

template <typename T> auto comparable(const Instruction &i, T x) {
  if constexpr (std::is_integral_v<T>)
    return x;
  else
    return toFloat(i.ftz ? flush(x) : x);
}

/// Operands after the results: a, b and, if logic combines, a predicate.
template <typename T> uint32_t compared(Warp &w, const Instruction &i) {
  const Operand *source = &i.operands[i.results];
  Cell<T> *a = w.cells<T>(source[0]), *b = w.cells<T>(source[1]);
  uint32_t bits = 0;
  for (unsigned l = 0; l < 32; ++l)
    bits |= uint32_t(compare(i.compare, comparable(i, fromCell<T>(a[l])), comparable(i, fromCell<T>(b[l]))))
            << l;
  return bits;
}

template <typename T> void setp(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t bits = compared<T>(w, i);
  uint32_t other = i.logic == Logic::None ? 0 : w.predicate(i.operands.back());
  w.setPredicate(i.operands[0], mask, combine(i.logic, bits, other));
  if (i.results == 2)
    w.setPredicate(i.operands[1], mask, combine(i.logic, ~bits, other));
}

template <typename T> void set(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t bits =
      combine(i.logic, compared<T>(w, i), i.logic == Logic::None ? 0 : w.predicate(i.operands.back()));
  uint32_t *d = w.cells<uint32_t>(i.operands[0]);
  for (unsigned l = 0; l < 32; ++l)
    if (mask >> l & 1)
      d[l] = bits >> l & 1 ? (i.type == Type::F32 ? 0x3f800000 : ~0u) : 0;
}

template <typename F> Handler byComparable(Type t, F f) {
  switch (t) {
  case Type::B16:
    return f(Tag<uint16_t>());
  case Type::B32:
    return f(Tag<uint32_t>());
  case Type::B64:
    return f(Tag<uint64_t>());
  case Type::F16:
    return f(Tag<Half>());
  case Type::BF16:
    return f(Tag<BHalf>());
  case Type::F32:
    return f(Tag<float>());
  case Type::F64:
    return f(Tag<double>());
  default:
    return byInteger(t, f);
  }
}

/// A source's value as a double (exact except for 64-bit integers), and as an integer where it is one.
struct Value {
  double real;
  __int128 whole;
};

Value valueOf(Type t, uint64_t bits) {
  unsigned width = 8 * bytesOf(t);
  switch (t) {
  case Type::F16:
    return {toFloat(Half{uint16_t(bits)}), 0};
  case Type::BF16:
    return {toFloat(BHalf{uint16_t(bits)}), 0};
  case Type::F32:
    return {std::bit_cast<float>(uint32_t(bits)), 0};
  case Type::F64:
    return {std::bit_cast<double>(bits), 0};
  default:
    break;
  }
  __int128 whole = isSigned(t) ? __int128(int64_t(bits << (64 - width)) >> (64 - width))
                               : __int128(bits << (64 - width) >> (64 - width));
  // More than 53 bits: the lowest that stays collects what falls off, so that rounding to at most 50 bits is
  // exact.
  __int128 size = whole < 0 ? -whole : whole;
  int drop = 0;
  while (size >> drop >= __int128(1) << 52)
    ++drop;
  __int128 kept = size >> drop;
  if (kept << drop != size)
    kept |= 1;
  double real = std::scalbn(double(int64_t(kept)), drop);
  return {whole < 0 ? -real : real, whole};
}

double integral(double x, Round round) {
  switch (round) {
  case Round::Zero:
    return std::trunc(x);
  case Round::Down:
    return std::floor(x);
  case Round::Up:
    return std::ceil(x);
  default:
    return std::nearbyint(x);
  }
}

uint64_t integerFrom(const Instruction &i, double x) {
  unsigned width = 8 * bytesOf(i.type);
  if (std::isnan(x)) // PTX ISA, "cvt": only conversions with 64 bits on a side give the top bit
    return i.from == Type::F64 || width == 64 ? uint64_t(1) << (width - 1) : 0;
  double r = integral(x, i.round);
  double most = std::scalbn(1.0, int(isSigned(i.type) ? width - 1 : width)),
         least = isSigned(i.type) ? -most : 0;
  if (r >= most)
    return isSigned(i.type) ? (uint64_t(1) << (width - 1)) - 1 : ~uint64_t(0) >> (64 - width);
  if (r <= least)
    return isSigned(i.type) ? uint64_t(1) << (width - 1) : 0;
  return r < 0 ? uint64_t(int64_t(r)) : uint64_t(r);
}

uint64_t floatTo(const Instruction &i, double x) {
  if (i.ftz && i.from == Type::F32)
    x = flush(float(x));
  if (i.integral)
    x = integral(x, i.round);
  if (i.sat)
    x = std::isnan(x) || x <= 0 ? 0 : std::min(x, 1.0);
  if (i.relu && !std::isnan(x) && std::signbit(x))
    x = 0;
  switch (i.type) {
  case Type::F16:
    return roundTo<Half>(x, i.round).bits;
  case Type::BF16:
    return roundTo<BHalf>(x, i.round).bits;
  case Type::TF32:
    return uint64_t(encode<10, 8>(x, i.round)) << 13;
  case Type::F64:
    return std::bit_cast<uint64_t>(x);
  default: {
    float r = roundTo<float>(x, i.round);
    return std::bit_cast<uint32_t>(i.ftz ? flush(r) : r);
  }
  }
}

uint64_t convert(const Instruction &i, uint64_t bits) {
  Value v = valueOf(i.from, bits);
  if (isFloat(i.type)) {
    if (i.type == Type::F64 && !isFloat(i.from))
      return std::bit_cast<uint64_t>(double(v.whole));
    return floatTo(i, v.real);
  }
  if (isFloat(i.from))
    return integerFrom(i, i.ftz && i.from == Type::F32 ? flush(float(v.real)) : v.real);
  if (!i.sat)
    return uint64_t(v.whole);
  unsigned width = 8 * bytesOf(i.type);
  __int128 most = (__int128(1) << (isSigned(i.type) ? width - 1 : width)) - 1,
           least = isSigned(i.type) ? -most - 1 : 0;
  return uint64_t(std::clamp(v.whole, least, most));
}

/// Extends what fits the destination's type to its register (PTX ISA, "Operand Size Exceeding
/// Instruction-Type Size").
void cvt(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned width = 8 * bytesOf(i.type), own = 8 * bytesOf(i.operands[0].type);
  for (unsigned l = 0; l < 32; ++l)
    if (mask >> l & 1) {
      uint64_t bits = convert(i, w.raw(i.operands[1], l)) << (64 - width);
      bits = isSigned(i.type) ? uint64_t(int64_t(bits) >> (64 - width)) : bits >> (64 - width);
      w.setRaw(i.operands[0], l, bits << (64 - own) >> (64 - own));
    }
}

/// The first source becomes the upper half.
template <typename T> void cvtPair(Warp &w, const Instruction &i, uint32_t mask) {
  uint32_t *d = w.cells<uint32_t>(i.operands[0]), *high = w.cells<float>(i.operands[1]),
           *low = w.cells<float>(i.operands[2]);
  auto half = [&](uint32_t bits) -> uint32_t {
    float x = std::bit_cast<float>(bits);
    if (i.ftz)
      x = flush(x);
    if (i.relu && x < 0)
      x = 0;
    // To bf16 by nearest even: adding just below a half of what falls off carries where it must.
    if constexpr (std::is_same_v<T, BHalf>)
      if (i.round == Round::Nearest && !std::isnan(x)) {
        uint32_t b = std::bit_cast<uint32_t>(x);
        return (b + 0x7fff + (b >> 16 & 1)) >> 16;
      }
    return roundTo<T>(x, i.round).bits;
  };
  for (unsigned l = 0; l < 32; ++l)
    if (mask >> l & 1)
      d[l] = half(high[l]) << 16 | half(low[l]);
}

} // namespace

Handler compareHandler(const Instruction &i) {
  if (i.op == Op::Setp)
    return byComparable(i.from, []<typename T>(Tag<T>) -> Handler { return setp<T>; });
  if (i.op == Op::Set)
    return byComparable(i.from, []<typename T>(Tag<T>) -> Handler { return set<T>; });
  if (i.op == Op::Selp || i.op == Op::Mov)
    return integerHandler(i);
  return nullptr;
}

Handler convertHandler(const Instruction &i) {
  if (i.op == Op::CvtPair)
    return i.type == Type::F16x2 ? cvtPair<Half> : cvtPair<BHalf>;
  if (i.op != Op::Cvt)
    return nullptr;
  auto scalar = [](Type t) {
    return (t >= Type::U8 && t <= Type::S64) || t == Type::F16 || t == Type::BF16 || t == Type::F32 ||
           t == Type::F64;
  };
  if (!scalar(i.from) || !(scalar(i.type) || (i.type == Type::TF32 && i.from == Type::F32)))
    return nullptr;
  if (i.type == Type::F64 && !isFloat(i.from) && i.round != Round::Nearest && bytesOf(i.from) == 8)
    return nullptr;
  return cvt;
}

} // namespace taylor::runtime::ptx

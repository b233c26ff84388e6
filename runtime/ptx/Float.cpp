// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point arithmetic (PTX ISA, "Floating Point", "Half Precision Floating Point"). Approximate
// instructions compute exactly, in double, and round once: a kernel must not depend on more than the
// documented error, which this always meets.
#include "runtime/ptx/Handlers.h"

namespace taylor::runtime::ptx {
namespace {

template <typename T> constexpr bool narrow = sizeof(T) == 2;

template <typename T> bool isNan(T x) { return std::isnan(toFloat(x)); }
template <typename T> T quietNan() { return roundTo<T>(std::numeric_limits<double>::quiet_NaN()); }

struct Add {
  template <typename T> static T f(const Instruction &, T a, T b) {
    if constexpr (narrow<T>)
      return roundTo<T>(fusedToOdd(toFloat(a), 1, toFloat(b)));
    else
      return a + b;
  }
};
struct Sub {
  template <typename T> static T f(const Instruction &, T a, T b) {
    if constexpr (narrow<T>)
      return roundTo<T>(fusedToOdd(toFloat(a), 1, -double(toFloat(b))));
    else
      return a - b;
  }
};
struct Mul {
  template <typename T> static T f(const Instruction &, T a, T b) {
    if constexpr (narrow<T>)
      return roundTo<T>(double(toFloat(a)) * toFloat(b));
    else
      return a * b;
  }
};
struct Fma {
  template <typename T> static T f(const Instruction &, T a, T b, T c) {
    if constexpr (narrow<T>)
      return roundTo<T>(fusedToOdd(toFloat(a), toFloat(b), toFloat(c)));
    else
      return std::fma(a, b, c);
  }
};
struct Div {
  template <typename T> static T f(const Instruction &, T a, T b) {
    return roundTo<T>(toFloat(a) / toFloat(b));
  }
};
/// A NaN loses against a number, unless .NaN asks for it; -0 is below +0.
template <bool greater> struct Extreme {
  template <typename T> static T f(const Instruction &i, T a, T b) {
    if (isNan(a) || isNan(b))
      return i.nan || (isNan(a) && isNan(b)) ? quietNan<T>() : isNan(a) ? b : a;
    auto x = toFloat(a), y = toFloat(b);
    bool second = greater ? x < y || (x == y && std::signbit(x)) : y < x || (x == y && std::signbit(y));
    return second ? b : a;
  }
};
struct Abs {
  template <typename T> static T f(const Instruction &, T a) {
    if constexpr (narrow<T>)
      return T{uint16_t(a.bits & 0x7fff)};
    else
      return std::fabs(a);
  }
};
struct Neg {
  template <typename T> static T f(const Instruction &, T a) {
    if constexpr (narrow<T>)
      return T{uint16_t(a.bits ^ 0x8000)};
    else
      return -a;
  }
};
struct Copysign { // the sign of a, the size of b
  template <typename T> static T f(const Instruction &, T a, T b) {
    return roundTo<T>(std::copysign(toFloat(b), toFloat(a)));
  }
};
#define TAYLOR_FUNCTION(NAME, EXPRESSION)                                                                    \
  struct NAME {                                                                                              \
    template <typename T> static T f(const Instruction &, T a) {                                             \
      double x = toFloat(a);                                                                                 \
      return roundTo<T>(EXPRESSION);                                                                         \
    }                                                                                                        \
  }
TAYLOR_FUNCTION(Ex2, std::exp2(x));
TAYLOR_FUNCTION(Lg2, std::log2(x));
TAYLOR_FUNCTION(Rcp, 1 / x);
TAYLOR_FUNCTION(Rsqrt, 1 / std::sqrt(x));
TAYLOR_FUNCTION(Sqrt, std::sqrt(x));
TAYLOR_FUNCTION(Sin, std::sin(x));
TAYLOR_FUNCTION(Cos, std::cos(x));
TAYLOR_FUNCTION(Tanh, std::tanh(x));
#undef TAYLOR_FUNCTION

template <typename F, bool modified> struct Modified {
  template <typename T, typename... More> static T f(const Instruction &i, T a, More... more) {
    if constexpr (!modified)
      return F::f(i, a, more...);
    T r = i.ftz ? F::f(i, flush(a), flush(more)...) : F::f(i, a, more...);
    if (i.ftz)
      r = flush(r);
    if (i.sat)
      r = isNan(r)                                     ? roundTo<T>(0)
          : toFloat(r) < 0 || std::signbit(toFloat(r)) ? roundTo<T>(0)
          : toFloat(r) > 1                             ? roundTo<T>(1)
                                                       : r;
    if (i.relu && !isNan(r) && std::signbit(toFloat(r)))
      r = roundTo<T>(0);
    return r;
  }
};

template <typename F> struct LibraryCall {
  template <typename... T> auto operator()(const Instruction &i, T... x) const { return F::f(i, x...); }
};
/// Both halves of 32 bits.
template <typename F, typename T> struct Both {
  template <typename... U> uint32_t operator()(const Instruction &i, U... x) const {
    uint32_t low = F::f(i, T{uint16_t(x)}...).bits, high = F::f(i, T{uint16_t(x >> 16)}...).bits;
    return high << 16 | low;
  }
};

template <typename F, typename... T> Handler handler(const Instruction &i) {
  using First = std::tuple_element_t<0, std::tuple<T...>>;
  if (i.ftz || i.sat || i.relu)
    return lanes<First, T...>(LibraryCall<Modified<F, true>>());
  return lanes<First, T...>(LibraryCall<Modified<F, false>>());
}
template <typename F, typename T, typename... U> Handler pairs() {
  return lanes<uint32_t, U...>(Both<Modified<F, true>, T>());
}

template <typename T, typename F> Handler choose(const Instruction &i, bool packed) {
  if constexpr (narrow<T>)
    if (packed) {
      if constexpr (requires(T x) { F::f(i, x); })
        return pairs<F, T, uint32_t>();
      else if constexpr (requires(T x) { F::f(i, x, x); })
        return pairs<F, T, uint32_t, uint32_t>();
      else
        return pairs<F, T, uint32_t, uint32_t, uint32_t>();
    }
  if constexpr (requires(T x) { F::f(i, x); })
    return handler<F, T>(i);
  else if constexpr (requires(T x) { F::f(i, x, x); })
    return handler<F, T, T>(i);
  else
    return handler<F, T, T, T>(i);
}

template <typename T> Handler family(const Instruction &i, bool packed) {
  switch (i.op) {
  case Op::Add:
    return choose<T, Add>(i, packed);
  case Op::Sub:
    return choose<T, Sub>(i, packed);
  case Op::Mul:
    return choose<T, Mul>(i, packed);
  case Op::Fma:
    return choose<T, Fma>(i, packed);
  case Op::Min:
    return choose<T, Extreme<false>>(i, packed);
  case Op::Max:
    return choose<T, Extreme<true>>(i, packed);
  case Op::Abs:
    return choose<T, Abs>(i, packed);
  case Op::Neg:
    return choose<T, Neg>(i, packed);
  case Op::Ex2:
    return choose<T, Ex2>(i, packed);
  case Op::Tanh:
    return choose<T, Tanh>(i, packed);
  default:
    break;
  }
  if constexpr (!narrow<T>)
    switch (i.op) {
    case Op::Div:
      return choose<T, Div>(i, packed);
    case Op::Copysign:
      return choose<T, Copysign>(i, packed);
    case Op::Lg2:
      return choose<T, Lg2>(i, packed);
    case Op::Rcp:
      return choose<T, Rcp>(i, packed);
    case Op::Rsqrt:
      return choose<T, Rsqrt>(i, packed);
    case Op::Sqrt:
      return choose<T, Sqrt>(i, packed);
    case Op::Sin:
      return choose<T, Sin>(i, packed);
    case Op::Cos:
      return choose<T, Cos>(i, packed);
    default:
      break;
    }
  return nullptr;
}

/// Mixed precision: all operands but the last are of 16 bits, and the operation is that of f32.
template <typename F, typename T> struct Mixed {
  float operator()(const Instruction &i, T a, float c) const {
    return Modified<F, true>::f(i, float(toFloat(a)), c);
  }
  float operator()(const Instruction &i, T a, T b, float c) const {
    return Modified<F, true>::f(i, float(toFloat(a)), float(toFloat(b)), c);
  }
};
template <typename T> Handler mixed(const Instruction &i) {
  switch (i.op) {
  case Op::Add:
    return lanes<float, T, float>(Mixed<Add, T>());
  case Op::Sub:
    return lanes<float, T, float>(Mixed<Sub, T>());
  case Op::Fma:
    return lanes<float, T, T, float>(Mixed<Fma, T>());
  default:
    return nullptr;
  }
}

} // namespace

Handler floatHandler(const Instruction &i) {
  bool arithmetic = (i.op >= Op::Add && i.op <= Op::Neg) || (i.op >= Op::Copysign && i.op <= Op::Tanh);
  if (!arithmetic)
    return nullptr;
  switch (i.type) {
  case Type::F32:
    return i.from == Type::F16    ? mixed<Half>(i)
           : i.from == Type::BF16 ? mixed<BHalf>(i)
                                  : family<float>(i, false);
  case Type::F64:
    return i.op == Op::Ex2 || (i.op >= Op::Sin && i.op <= Op::Tanh) ? nullptr : family<double>(i, false);
  case Type::F16:
    return family<Half>(i, false);
  case Type::BF16:
    return family<BHalf>(i, false);
  case Type::F16x2:
    return family<Half>(i, true);
  case Type::BF16x2:
    return family<BHalf>(i, true);
  default:
    return nullptr;
  }
}

Handler handlerFor(const Instruction &i) {
  for (auto family : {compareHandler, convertHandler, memoryHandler, copyHandler, matrixHandler,
                      productHandler, mbarrierHandler, bulkHandler, collectiveHandler})
    if (Handler h = family(i))
      return h;
  return isFloat(i.type) ? floatHandler(i) : integerHandler(i);
}

} // namespace taylor::runtime::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic, logic, moves and comparisons (PTX ISA, "Integer Arithmetic", "Logic and Shift",
// "Comparison and Selection").
#include "runtime/ptx/Handlers.h"

namespace taylor::runtime::ptx {
namespace {

template <typename T> using Unsigned = std::make_unsigned_t<T>;

/// Twice as wide.
template <typename T> struct WideOf;
template <> struct WideOf<uint16_t> {
  using type = uint32_t;
};
template <> struct WideOf<int16_t> {
  using type = int32_t;
};
template <> struct WideOf<uint32_t> {
  using type = uint64_t;
};
template <> struct WideOf<int32_t> {
  using type = int64_t;
};
template <> struct WideOf<uint64_t> {
  using type = unsigned __int128;
};
template <> struct WideOf<int64_t> {
  using type = __int128;
};
template <typename T> using Wide = typename WideOf<T>::type;

template <typename T> T saturated(int64_t x) {
  return T(std::clamp<int64_t>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

template <typename T> Handler arithmetic(const Instruction &i) {
  using U = Unsigned<T>;
  using D = Wide<T>;
  constexpr T least = std::numeric_limits<T>::min();
  switch (i.op) {
  case Op::Add:
    if (i.sat)
      return lanes<T, T, T>(
          [](const Instruction &, T a, T b) { return saturated<T>(int64_t(a) + int64_t(b)); });
    return lanes<T, T, T>([](const Instruction &, T a, T b) { return T(U(a) + U(b)); });
  case Op::Sub:
    if (i.sat)
      return lanes<T, T, T>(
          [](const Instruction &, T a, T b) { return saturated<T>(int64_t(a) - int64_t(b)); });
    return lanes<T, T, T>([](const Instruction &, T a, T b) { return T(U(a) - U(b)); });
  case Op::Mul:
    return lanes<T, T, T>([](const Instruction &, T a, T b) { return T(uint64_t(a) * uint64_t(b)); });
  case Op::Mad:
    return lanes<T, T, T, T>(
        [](const Instruction &, T a, T b, T c) { return T(uint64_t(a) * uint64_t(b) + uint64_t(c)); });
  case Op::MulHi:
    return lanes<T, T, T>([](const Instruction &, T a, T b) { return T(D(a) * D(b) >> 8 * sizeof(T)); });
  case Op::MadHi:
    return lanes<T, T, T, T>(
        [](const Instruction &, T a, T b, T c) { return T(U(D(a) * D(b) >> 8 * sizeof(T)) + U(c)); });
  case Op::MulWide:
    if constexpr (sizeof(T) < 8)
      return lanes<D, T, T>([](const Instruction &, T a, T b) { return D(D(a) * D(b)); });
    return nullptr;
  case Op::MadWide:
    if constexpr (sizeof(T) < 8)
      return lanes<D, T, T, D>(
          [](const Instruction &, T a, T b, D c) { return D(Unsigned<D>(D(a) * D(b)) + Unsigned<D>(c)); });
    return nullptr;
  case Op::Div: // by zero: unspecified, all ones here; the least number over -1 wraps
    return lanes<T, T, T>([](const Instruction &, T a, T b) {
      return b == 0 ? T(-1) : std::is_signed_v<T> && b == T(-1) ? T(U(0) - U(a)) : T(a / b);
    });
  case Op::Rem:
    return lanes<T, T, T>([](const Instruction &, T a, T b) {
      return b == 0 ? a : std::is_signed_v<T> && b == T(-1) ? T(0) : T(a % b);
    });
  case Op::Min:
    return lanes<T, T, T>([](const Instruction &i, T a, T b) {
      return i.relu ? std::max(std::min(a, b), T(0)) : std::min(a, b);
    });
  case Op::Max:
    return lanes<T, T, T>([](const Instruction &i, T a, T b) {
      return i.relu ? std::max(std::max(a, b), T(0)) : std::max(a, b);
    });
  case Op::Abs:
    return lanes<T, T>([](const Instruction &, T a) { return a < 0 ? T(U(0) - U(a)) : a; });
  case Op::Neg:
    return lanes<T, T>([](const Instruction &, T a) { return T(U(0) - U(a)); });
  case Op::Shl:
    return lanes<T, T, uint32_t>(
        [](const Instruction &, T a, uint32_t n) { return n >= 8 * sizeof(T) ? T(0) : T(U(a) << n); });
  case Op::Shr: // a signed one fills with the sign
    return lanes<T, T, uint32_t>([](const Instruction &, T a, uint32_t n) {
      return n >= 8 * sizeof(T) ? (a < 0 ? T(-1) : T(0)) : T(a >> n);
    });
  case Op::Bfe:
    if constexpr (sizeof(T) >= 4)
      return lanes<T, T, uint32_t, uint32_t>([](const Instruction &, T a, uint32_t b, uint32_t c) {
        unsigned from = b & 255, length = c & 255, width = 8 * sizeof(T);
        if (length == 0)
          return T(0);
        U fill = a >> std::min(from + length - 1, width - 1) & 1 && least < 0 ? U(-1) : U(0);
        U body = from < width ? U(a) >> from : U(0);
        unsigned kept = std::min(length, from < width ? width - from : 0);
        return kept >= width ? T(body) : T((body & ((U(1) << kept) - 1)) | (fill << kept));
      });
    return nullptr;
  default:
    return nullptr;
  }
}

template <typename T> Handler logic(const Instruction &i) {
  switch (i.op) {
  case Op::Mov:
    return lanes<T, T>([](const Instruction &, T a) { return a; });
  case Op::And:
    return lanes<T, T, T>([](const Instruction &, T a, T b) { return T(a & b); });
  case Op::Or:
    return lanes<T, T, T>([](const Instruction &, T a, T b) { return T(a | b); });
  case Op::Xor:
    return lanes<T, T, T>([](const Instruction &, T a, T b) { return T(a ^ b); });
  case Op::Not:
    return lanes<T, T>([](const Instruction &, T a) { return T(~a); });
  case Op::Cnot:
    return lanes<T, T>([](const Instruction &, T a) { return T(a == 0); });
  case Op::Shl:
    return arithmetic<T>(i);
  case Op::Shr:
    return arithmetic<T>(i);
  case Op::Popc:
    return lanes<uint32_t, T>([](const Instruction &, T a) { return uint32_t(std::popcount(a)); });
  case Op::Clz:
    return lanes<uint32_t, T>([](const Instruction &, T a) { return uint32_t(std::countl_zero(a)); });
  case Op::Brev:
    return lanes<T, T>([](const Instruction &, T a) {
      T r = 0;
      for (unsigned k = 0; k < 8 * sizeof(T); ++k)
        r = T(r << 1 | (a >> k & 1));
      return r;
    });
  case Op::Bfi:
    return lanes<T, T, T, uint32_t, uint32_t>([](const Instruction &, T a, T b, uint32_t c, uint32_t d) {
      unsigned from = c & 255, length = d & 255, width = 8 * sizeof(T);
      if (length == 0 || from >= width)
        return b;
      T mask = T((length >= width ? T(-1) : T((T(1) << length) - 1)) << from);
      return T((a << from & mask) | (b & ~mask));
    });
  case Op::Selp:
    return [](Warp &w, const Instruction &i, uint32_t mask) {
      uint32_t p = w.predicate(i.operands[3]);
      Cell<T> *d = w.cells<T>(i.operands[0]), *a = w.cells<T>(i.operands[1]), *b = w.cells<T>(i.operands[2]);
      for (unsigned l = 0; l < 32; ++l)
        if (mask >> l & 1)
          d[l] = p >> l & 1 ? a[l] : b[l];
    };
  default:
    return nullptr;
  }
}

/// Each result byte is named by four bits of c: three choose one of the eight bytes of b:a, the fourth
/// spreads its sign.
uint32_t permute(const Instruction &i, uint32_t a, uint32_t b, uint32_t c) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  uint32_t r = 0;
  unsigned s = c & 3;
  for (unsigned k = 0; k < 4; ++k) {
    unsigned from = 0;
    switch (i.permute) {
    case Permute::Index:
      from = c >> 4 * k & 15;
      break;
    case Permute::F4e:
      from = s + k;
      break;
    case Permute::B4e:
      from = (s - k) & 7;
      break;
    case Permute::Rc8:
      from = s;
      break;
    case Permute::Ecl:
      from = std::max(k, s);
      break;
    case Permute::Ecr:
      from = std::min(k, s);
      break;
    case Permute::Rc16:
      from = 2 * (s & 1) + (k & 1);
      break;
    }
    uint8_t byte = uint8_t(bytes >> 8 * (from & 7));
    if (from & 8)
      byte = byte & 0x80 ? 0xff : 0;
    r |= uint32_t(byte) << 8 * k;
  }
  return r;
}

uint32_t lop3(const Instruction &i, uint32_t a, uint32_t b, uint32_t c) {
  uint32_t r = 0;
  for (unsigned k = 0; k < 8; ++k)
    if (i.count >> k & 1)
      r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
  return r;
}

uint32_t funnelLeft(const Instruction &i, uint32_t a, uint32_t b, uint32_t c) {
  unsigned n = i.wrap ? c & 31 : std::min(c, 32u);
  return uint32_t((uint64_t(b) << 32 | a) << n >> 32);
}
uint32_t funnelRight(const Instruction &i, uint32_t a, uint32_t b, uint32_t c) {
  unsigned n = i.wrap ? c & 31 : std::min(c, 32u);
  return uint32_t((uint64_t(b) << 32 | a) >> n);
}

template <auto f> void three(Warp &w, const Instruction &i, uint32_t mask) {
  auto *d = w.cells<uint32_t>(i.operands[0]), *a = w.cells<uint32_t>(i.operands[1]),
       *b = w.cells<uint32_t>(i.operands[2]), *c = w.cells<uint32_t>(i.operands[3]);
  for (unsigned l = 0; l < 32; ++l)
    if (mask >> l & 1)
      d[l] = f(i, a[l], b[l], c[l]);
}

void pack(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned n = unsigned(i.operands.size()) - 1, bits = 8 * bytesOf(i.type) / n;
  for (unsigned l = 0; l < 32; ++l)
    if (mask >> l & 1) {
      uint64_t value = 0;
      for (unsigned k = 0; k < n; ++k)
        value |= w.raw(i.operands[1 + k], l) << bits * k;
      w.setRaw(i.operands[0], l, value);
    }
}

void unpack(Warp &w, const Instruction &i, uint32_t mask) {
  unsigned n = i.results, bits = 8 * bytesOf(i.type) / n;
  for (unsigned l = 0; l < 32; ++l)
    if (mask >> l & 1) {
      uint64_t value = w.raw(i.operands[n], l);
      for (unsigned k = 0; k < n; ++k)
        w.setRaw(i.operands[k], l, value >> bits * k & ((uint64_t(1) << bits) - 1));
    }
}

Handler predicateLogic(const Instruction &i) {
  switch (i.op) {
#define TAYLOR_PREDICATE(OP, EXPRESSION)                                                                     \
  case Op::OP:                                                                                               \
    return [](Warp &w, const Instruction &i, uint32_t mask) {                                                \
      uint32_t a = w.predicate(i.operands[1]), b = i.operands.size() > 2 ? w.predicate(i.operands[2]) : 0;   \
      (void)b;                                                                                               \
      w.setPredicate(i.operands[0], mask, EXPRESSION);                                                       \
    }
    TAYLOR_PREDICATE(Mov, a);
    TAYLOR_PREDICATE(Not, ~a);
    TAYLOR_PREDICATE(And, a & b);
    TAYLOR_PREDICATE(Or, a | b);
    TAYLOR_PREDICATE(Xor, a ^ b);
#undef TAYLOR_PREDICATE
  default:
    return nullptr;
  }
}

} // namespace

Handler integerHandler(const Instruction &i) {
  switch (i.op) {
  case Op::Prmt:
    return three<permute>;
  case Op::Lop3:
    return three<lop3>;
  case Op::ShfLeft:
    return three<funnelLeft>;
  case Op::ShfRight:
    return three<funnelRight>;
  case Op::Pack:
    return pack;
  case Op::Unpack:
    return unpack;
  default:
    break;
  }
  if (i.type == Type::Pred)
    return predicateLogic(i);
  bool bits = i.op == Op::Mov || i.op == Op::Selp || (i.op >= Op::And && i.op <= Op::Shl) ||
              i.op == Op::Bfi || i.op == Op::Popc || i.op == Op::Clz || i.op == Op::Brev ||
              (i.op == Op::Shr && i.type >= Type::B16 && i.type <= Type::B64);
  if (bits)
    switch (bytesOf(i.type)) {
    case 2:
      return i.op == Op::Popc || i.op == Op::Clz || i.op == Op::Bfi || i.op == Op::Brev ? nullptr
                                                                                        : logic<uint16_t>(i);
    case 4:
      return logic<uint32_t>(i);
    case 8:
      return logic<uint64_t>(i);
    default:
      return nullptr;
    }
  return byInteger(i.type, [&]<typename T>(Tag<T>) -> Handler {
    if constexpr (sizeof(T) == 1)
      return nullptr;
    else
      return arithmetic<T>(i);
  });
}

} // namespace taylor::runtime::ptx

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic, logic, comparison, mov and cvt (PTX ISA, "Instructions").
#include "runtime/ptx/Build.h"

namespace taylor::runtime::ptx {
namespace {

/// add, sub and fma in f32 of operands of 16 bits and, the last one, of f32 (PTX ISA 8.6, "Mixed Precision
/// Floating Point Instructions").
void mixed(Build &b, unsigned sources) {
  Type narrow = b.i.from = b.type();
  b.done();
  b.result(b.i.type);
  for (unsigned k = 0; k < sources; ++k) {
    b.comma();
    b.source(k + 1 < sources ? narrow : b.i.type);
  }
}

template <Op op, unsigned sources> void arithmetic(Build &b) {
  b.i.op = op;
  bool rounded = b.has("rn");
  bool approximate = !rounded && b.any({"approx", "full"});
  b.i.ftz = b.has("ftz");
  b.i.sat = b.has("sat");
  b.i.relu = b.has("relu");
  b.i.nan = b.has("NaN");
  Type t = b.i.type = b.type();
  bool f = isFloat(t);
  if (!f && (rounded || approximate || b.i.ftz || b.i.nan || (b.i.relu && t != Type::S32) ||
             (b.i.sat && t != Type::S32)))
    b.unsupported();
  if (approximate && op != Op::Div)
    b.unsupported();
  b.i.kind = !f ? Profile::Integer : op == Op::Div ? Profile::Special : Profile::Float;
  if constexpr (op == Op::Add || op == Op::Sub || op == Op::Fma)
    if (t == Type::F32 && !b.i.ftz && !b.i.relu && b.words[0] != "mad" && (rounded || op != Op::Fma) &&
        b.isNext({"f16", "bf16"}))
      return mixed(b, sources);
  b.plain(t, sources);
}

template <Op op> void special(Build &b) {
  b.i.op = op;
  if (!b.any({"approx", "rn"}))
    b.unsupported();
  b.i.ftz = b.has("ftz");
  b.i.type = b.type();
  b.i.kind = Profile::Special;
  b.plain(b.i.type, 1);
}

/// mul and mad: of floats as fma, of integers the low half, the high half or the whole product.
template <bool add> void multiply(Build &b) {
  Op lo = add ? Op::Mad : Op::Mul, hi = add ? Op::MadHi : Op::MulHi, wide = add ? Op::MadWide : Op::MulWide;
  Op op = b.oneOr(Op::Nop, {{"lo", lo}, {"hi", hi}, {"wide", wide}});
  if (op == Op::Nop)
    return add ? arithmetic<Op::Fma, 3>(b) : arithmetic<Op::Mul, 2>(b);
  b.i.op = op;
  Type t = b.i.type = b.type();
  if (isFloat(t) || t < Type::U16 || (op == wide && bytesOf(t) == 8))
    b.unsupported();
  if (op != wide)
    return b.plain(t, add ? 3 : 2);
  b.done();
  Type twice = Type(unsigned(t) + 1);
  b.result(twice);
  b.comma();
  b.source(t);
  b.comma();
  b.source(t);
  if (add) {
    b.comma();
    b.source(twice);
  }
}

template <Op op, unsigned sources> void bits(Build &b) {
  b.i.op = op;
  Type t = b.i.type = b.type();
  if (t != Type::Pred && (t < Type::B16 || t > Type::B64))
    b.unsupported();
  b.done();
  b.result(t);
  for (unsigned k = 0; k < sources; ++k) {
    b.comma();
    t == Type::Pred ? b.predicate() : b.source(t);
  }
}

template <Op op> void shift(Build &b) {
  b.i.op = op;
  Type t = b.i.type = b.type();
  b.done();
  b.result(t);
  b.comma();
  b.source(t);
  b.comma();
  b.source(Type::U32);
}

void funnel(Build &b) {
  b.i.op = b.one<Op>({{"l", Op::ShfLeft}, {"r", Op::ShfRight}});
  b.i.wrap = b.one<bool>({{"wrap", true}, {"clamp", false}});
  b.need("b32");
  b.i.type = Type::B32;
  b.plain(Type::B32, 3);
}

template <Op op> void field(Build &b) {
  b.i.op = op;
  Type t = b.i.type = b.type();
  b.done();
  b.result(t);
  for (unsigned k = 0; k < (op == Op::Bfi ? 2 : 1); ++k) {
    b.comma();
    b.source(t);
  }
  for (unsigned k = 0; k < 2; ++k) {
    b.comma();
    b.source(Type::U32);
  }
}

template <Op op> void count(Build &b) { // popc, clz: 32 bits out
  b.i.op = op;
  b.i.type = b.type();
  b.done();
  b.result(Type::U32);
  b.comma();
  b.source(b.i.type);
}

void prmt(Build &b) {
  b.i.op = Op::Prmt;
  b.need("b32");
  b.i.permute = b.oneOr(Permute::Index, {{"f4e", Permute::F4e},
                                         {"b4e", Permute::B4e},
                                         {"rc8", Permute::Rc8},
                                         {"ecl", Permute::Ecl},
                                         {"ecr", Permute::Ecr},
                                         {"rc16", Permute::Rc16}});
  b.i.type = Type::B32;
  b.plain(Type::B32, 3);
}

void lop3(Build &b) {
  b.i.op = Op::Lop3;
  b.need("b32");
  b.i.type = Type::B32;
  b.plain(Type::B32, 3);
  b.comma();
  b.i.count = b.parser.integer("a table of 8 bits");
}

void comparison(Build &b) {
  b.i.compare = b.one<Compare>({{"eq", Compare::Eq},
                                {"ne", Compare::Ne},
                                {"lt", Compare::Lt},
                                {"le", Compare::Le},
                                {"gt", Compare::Gt},
                                {"ge", Compare::Ge},
                                {"lo", Compare::Lt},
                                {"ls", Compare::Le},
                                {"hi", Compare::Gt},
                                {"hs", Compare::Ge},
                                {"equ", Compare::Equ},
                                {"neu", Compare::Neu},
                                {"ltu", Compare::Ltu},
                                {"leu", Compare::Leu},
                                {"gtu", Compare::Gtu},
                                {"geu", Compare::Geu},
                                {"num", Compare::Num},
                                {"nan", Compare::Nan}});
  b.i.logic = b.oneOr(Logic::None, {{"and", Logic::And}, {"or", Logic::Or}, {"xor", Logic::Xor}});
  b.i.ftz = b.has("ftz");
}

void compareSources(Build &b, Type t) {
  for (unsigned k = 0; k < 2; ++k) {
    b.comma();
    b.source(t);
  }
  if (b.i.logic != Logic::None) {
    b.comma();
    b.predicate();
  }
}

void setp(Build &b) {
  b.i.op = Op::Setp;
  comparison(b);
  Type t = b.i.type = b.i.from = b.type();
  if (!isFloat(t) && (b.i.compare >= Compare::Equ || b.i.ftz))
    b.unsupported();
  b.done();
  b.result(Type::Pred);
  if (accept(b.parser.lexer, "|"))
    b.result(Type::Pred);
  compareSources(b, t);
}

void set(Build &b) {
  b.i.op = Op::Set;
  comparison(b);
  b.i.type = b.type();
  b.i.from = b.type();
  if ((b.i.type != Type::U32 && b.i.type != Type::S32 && b.i.type != Type::F32) ||
      (!isFloat(b.i.from) && (b.i.compare >= Compare::Equ || b.i.ftz)))
    b.unsupported();
  b.done();
  b.result(b.i.type);
  compareSources(b, b.i.from);
}

void selp(Build &b) {
  b.i.op = Op::Selp;
  b.i.type = b.type();
  b.plain(b.i.type, 2);
  b.comma();
  b.predicate();
}

void mov(Build &b) {
  b.i.op = Op::Mov;
  b.i.kind = Profile::Move;
  Type t = b.i.type = b.type();
  b.done();
  auto part = [&](size_t n) { // the type of 1/n of a register
    unsigned bytes = n ? bytesOf(t) / unsigned(n) : 0;
    Type p = bytes == 4 ? Type::B32 : bytes == 2 ? Type::B16 : Type::None;
    if (p == Type::None || t == Type::Pred)
      b.unsupported();
    return p;
  };
  auto elements = [&] { // of the braces ahead
    Lexer ahead = b.parser.lexer;
    size_t n = 1;
    while (!ahead.peek().is("}") && ahead.peek().kind != Token::End)
      n += ahead.take().is(",");
    return n;
  };
  if (b.parser.lexer.peek().is("{")) {
    b.i.op = Op::Unpack;
    size_t n = elements();
    b.vector(part(n), true, unsigned(n));
  } else {
    b.result(t);
  }
  b.comma();
  if (t == Type::Pred)
    b.predicate();
  else if (b.i.op == Op::Mov && b.parser.lexer.peek().is("{")) {
    b.i.op = Op::Pack;
    size_t n = elements();
    b.vector(part(n), false, unsigned(n));
  } else {
    b.source(t);
  }
}

void cvt(Build &b) {
  b.i.op = Op::Cvt;
  b.i.kind = Profile::Convert;
  struct Mode {
    Round round;
    bool integral, given;
  };
  Mode mode = b.oneOr(Mode{Round::Nearest, false, false}, {{"rn", {Round::Nearest, false, true}},
                                                           {"rz", {Round::Zero, false, true}},
                                                           {"rm", {Round::Down, false, true}},
                                                           {"rp", {Round::Up, false, true}},
                                                           {"rna", {Round::NearestAway, false, true}},
                                                           {"rni", {Round::Nearest, true, true}},
                                                           {"rzi", {Round::Zero, true, true}},
                                                           {"rmi", {Round::Down, true, true}},
                                                           {"rpi", {Round::Up, true, true}}});
  b.i.round = mode.round;
  b.i.integral = mode.integral;
  b.i.relu = b.has("relu");
  b.i.ftz = b.has("ftz");
  b.i.sat = b.has("sat");
  Type to = b.i.type = b.type();
  Type from = b.i.from = b.type();
  b.done();
  if ((mode.round == Round::NearestAway) != (to == Type::TF32 && mode.round != Round::Nearest))
    b.unsupported();
  if (isFloat(from) && !isFloat(to) && !mode.integral)
    b.unsupported();
  if (mode.integral && !isFloat(from))
    b.unsupported();
  if (to == Type::F16x2 || to == Type::BF16x2) {
    if (from != Type::F32)
      b.unsupported();
    b.i.op = Op::CvtPair;
    b.result(to);
    for (unsigned k = 0; k < 2; ++k) {
      b.comma();
      b.source(from);
    }
    return;
  }
  b.result(to, true);
  b.comma();
  b.source(from, true);
}

} // namespace

const Decoders &arithmeticDecoders() {
  static const Decoders all = {{"add", arithmetic<Op::Add, 2>},
                               {"sub", arithmetic<Op::Sub, 2>},
                               {"mul", multiply<false>},
                               {"mad", multiply<true>},
                               {"fma", arithmetic<Op::Fma, 3>},
                               {"div", arithmetic<Op::Div, 2>},
                               {"rem", arithmetic<Op::Rem, 2>},
                               {"min", arithmetic<Op::Min, 2>},
                               {"max", arithmetic<Op::Max, 2>},
                               {"abs", arithmetic<Op::Abs, 1>},
                               {"neg", arithmetic<Op::Neg, 1>},
                               {"copysign", arithmetic<Op::Copysign, 2>},
                               {"and", bits<Op::And, 2>},
                               {"or", bits<Op::Or, 2>},
                               {"xor", bits<Op::Xor, 2>},
                               {"not", bits<Op::Not, 1>},
                               {"cnot", bits<Op::Cnot, 1>},
                               {"shl", shift<Op::Shl>},
                               {"shr", shift<Op::Shr>},
                               {"shf", funnel},
                               {"bfe", field<Op::Bfe>},
                               {"bfi", field<Op::Bfi>},
                               {"popc", count<Op::Popc>},
                               {"clz", count<Op::Clz>},
                               {"brev", bits<Op::Brev, 1>},
                               {"prmt", prmt},
                               {"lop3", lop3},
                               {"setp", setp},
                               {"set", set},
                               {"selp", selp},
                               {"ex2", special<Op::Ex2>},
                               {"lg2", special<Op::Lg2>},
                               {"rcp", special<Op::Rcp>},
                               {"rsqrt", special<Op::Rsqrt>},
                               {"sqrt", special<Op::Sqrt>},
                               {"sin", special<Op::Sin>},
                               {"cos", special<Op::Cos>},
                               {"tanh", special<Op::Tanh>},
                               {"mov", mov},
                               {"cvt", cvt}};
  return all;
}

} // namespace taylor::runtime::ptx

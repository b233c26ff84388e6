// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous work of a warpgroup (PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions").
#include "runtime/ptx/Build.h"
#include <charconv>

namespace taylor::runtime::ptx {
namespace {

/// `m64n128k16`: 64 rows, 8 to 256 columns in steps of 8, and the k of the operands' type.
void shape(Build &b) {
  std::string_view word = b.next < b.words.size() ? b.words[b.next++] : std::string_view();
  if (!word.starts_with("m64n"))
    b.unsupported();
  unsigned columns = 0;
  auto [end, error] = std::from_chars(word.data() + 4, word.data() + word.size(), columns);
  std::string_view rest(end, size_t(word.data() + word.size() - end));
  if (error != std::errc() || columns % 8 || columns < 8 || columns > 256 || (rest != "k16" && rest != "k8"))
    b.unsupported();
  b.i.count = columns;
  b.i.vector = rest == "k16" ? 16 : 8;
}

/// An immediate that is one of two values.
bool flag(Build &b, std::string_view name, int64_t no, int64_t yes) {
  b.comma();
  Token at = b.parser.lexer.peek();
  int64_t value = b.parser.integer(name);
  if (value != no && value != yes)
    b.parser.lexer.failAt(at, "expected " + std::string(name) + " of " + std::to_string(no) + " or " +
                                  std::to_string(yes) + ", but got " + std::to_string(value));
  return value == yes;
}

void multiply(Build &b) {
  b.i.op = Op::Wgmma;
  b.i.kind = Profile::Matrix;
  shape(b);
  b.i.type = Type::F32;
  b.need("f32");
  Type t = b.i.from = b.type();
  if (b.type() != t || (t != Type::F16 && t != Type::BF16 && t != Type::TF32) ||
      (t == Type::TF32) != (b.i.vector == 8))
    b.unsupported();
  b.done();
  b.vector(Type::F32, true, unsigned(b.i.count / 2));
  b.comma();
  b.i.leftInRegisters = b.parser.lexer.peek().is("{");
  if (b.i.leftInRegisters)
    b.vector(Type::B32, false, 4);
  else
    b.source(Type::B64);
  b.comma();
  b.source(Type::B64);
  b.comma();
  b.predicate();
  b.i.negatesLeft = flag(b, "a scale of a", 1, -1);
  b.i.negatesRight = flag(b, "a scale of b", 1, -1);
  if (t == Type::TF32)
    return;
  b.i.transposesLeft = !b.i.leftInRegisters && flag(b, "a transposition of a", 0, 1);
  b.i.transposesRight = flag(b, "a transposition of b", 0, 1);
}

void wgmma(Build &b) {
  b.i.op = b.one<Op>({{"fence", Op::WgmmaFence},
                      {"mma_async", Op::Wgmma},
                      {"commit_group", Op::WgmmaCommit},
                      {"wait_group", Op::WgmmaWait}});
  b.i.kind = Profile::Barrier;
  b.need("sync");
  b.need("aligned");
  b.i.aligned = true;
  if (b.i.op == Op::Wgmma)
    return multiply(b);
  b.done();
  if (b.i.op == Op::WgmmaWait)
    b.i.count = int64_t(parseInteger(b.parser.lexer, "the number of groups that may stay"));
}

} // namespace

const Decoders &asyncDecoders() {
  static const Decoders all = {{"wgmma", wgmma}};
  return all;
}

} // namespace taylor::runtime::ptx

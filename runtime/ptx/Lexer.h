// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text to tokens (PTX ISA, "Syntax").
#ifndef TAYLOR_RUNTIME_PTX_LEXER_H
#define TAYLOR_RUNTIME_PTX_LEXER_H
#include "runtime/Error.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace taylor::runtime::ptx {

struct Token {
  enum Kind {
    Word,      ///< a name or a mnemonic with its modifiers: `%r1`, `add.s32`, `%tid.x`, `L2::128B`
    Directive, ///< `.reg`, one dot-word
    Integer,   ///< value, modulo 2^64
    Float32,   ///< bits in value
    Float64,   ///< bits in value
    String,
    Symbol, ///< one character
    End,
  } kind;
  std::string_view text;
  uint64_t value = 0;
  unsigned line = 1, column = 1;
  bool is(std::string_view what) const { return kind != String && text == what; }
};

/// Reads tokens one by one; comments and white space are skipped. Throws Error with the place.
class Lexer {
public:
  Lexer(std::string_view text, std::string_view name) : text(text), name(name) { advance(); }
  const Token &peek() const { return token; }
  Token take();
  /// Skips what is left of the line on which the current token stands (.loc, .file).
  void skipLine();
  [[noreturn]] void failAt(const Token &at, const std::string &message) const {
    fail(name, ":", at.line, ":", at.column, ": ", message);
  }
  [[noreturn]] void expected(const std::string &what) const {
    failAt(token, "expected " + what + ", but got " + describe(token));
  }
  static std::string describe(const Token &);

private:
  void advance();
  void skipSpace();
  void number();
  char at(size_t i) const { return i < text.size() ? text[i] : '\0'; }
  void step() {
    if (text[position++] == '\n')
      ++line, start = position;
  }
  std::string_view text;
  std::string name;
  size_t position = 0, start = 0; ///< of the line
  unsigned line = 1;
  Token token;
};

} // namespace taylor::runtime::ptx

#endif

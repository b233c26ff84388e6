// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/ptx/Lexer.h"
#include <bit>
#include <cctype>
#include <charconv>

namespace taylor::runtime::ptx {

static bool starts(char c) {
  return isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
static bool continues(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

std::string Lexer::describe(const Token &t) {
  if (t.kind == Token::End)
    return "the end of the text";
  return "'" + std::string(t.text) + "'";
}

void Lexer::skipSpace() {
  for (;;) {
    while (position < text.size() && isspace(static_cast<unsigned char>(text[position])))
      step();
    if (at(position) == '/' && at(position + 1) == '/') {
      while (position < text.size() && text[position] != '\n')
        step();
    } else if (at(position) == '/' && at(position + 1) == '*') {
      Token open{Token::Symbol, text.substr(position, 2), 0, line, unsigned(position - start + 1)};
      size_t end = text.find("*/", position + 2);
      if (end == std::string_view::npos)
        failAt(open, "expected '*/' that ends this comment, but got the end of the text");
      while (position < end + 2)
        step();
    } else {
      return;
    }
  }
}

void Lexer::number() {
  size_t begin = position;
  auto digitsOf = [&](int base) {
    while (continues(at(position)))
      ++position;
    token.text = text.substr(begin, position - begin);
    std::string_view digits = token.text;
    if (base != 10 && !(base == 8 && token.text.size() == 1))
      digits.remove_prefix(base == 8 ? 1 : 2);
    if (!digits.empty() && digits.back() == 'U')
      digits.remove_suffix(1);
    if (digits.empty() && base == 8)
      digits = "0";
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), token.value, base);
    if (error != std::errc() || end != digits.data() + digits.size())
      failAt(token, "expected a number, but got " + describe(token));
    return digits.size();
  };
  token.kind = Token::Integer;
  char second = at(position + 1);
  if (at(position) == '0' && (second == 'f' || second == 'F' || second == 'd' || second == 'D')) {
    bool single = second == 'f' || second == 'F';
    token.kind = single ? Token::Float32 : Token::Float64;
    if (digitsOf(16) != (single ? 8u : 16u))
      failAt(token, std::string("expected ") + (single ? "8 digits after 0f" : "16 digits after 0d") +
                        ", but got " + describe(token));
  } else if (at(position) == '0' && (second == 'x' || second == 'X')) {
    digitsOf(16);
  } else if (at(position) == '0' && (second == 'b' || second == 'B')) {
    digitsOf(2);
  } else {
    size_t end = position;
    while (isdigit(static_cast<unsigned char>(at(end))))
      ++end;
    if (at(end) == '.' || at(end) == 'e' || at(end) == 'E') {
      double value = 0;
      auto [stop, error] = std::from_chars(text.data() + position, text.data() + text.size(), value);
      token.kind = Token::Float64;
      token.text = std::string_view(text.data() + position, stop - (text.data() + position));
      if (error != std::errc())
        failAt(token, "expected a number, but got " + describe(token));
      token.value = std::bit_cast<uint64_t>(value);
      position += token.text.size();
    } else {
      digitsOf(at(position) == '0' && position + 1 < end ? 8 : 10);
    }
  }
}

void Lexer::advance() {
  skipSpace();
  token = Token{Token::End, {}, 0, line, unsigned(position - start + 1)};
  if (position >= text.size())
    return;
  size_t begin = position;
  char c = text[position];
  if (starts(c)) {
    ++position;
    for (;; ++position) {
      if (continues(at(position)))
        continue;
      if (at(position) == '.' && continues(at(position + 1)))
        continue;
      if (at(position) == ':' && at(position + 1) == ':' && continues(at(position + 2))) {
        ++position;
        continue;
      }
      break;
    }
    token.kind = Token::Word;
  } else if (c == '.' && starts(at(position + 1))) {
    ++position;
    while (continues(at(position)))
      ++position;
    token.kind = Token::Directive;
  } else if (isdigit(static_cast<unsigned char>(c))) {
    number();
    return;
  } else if (c == '"') {
    ++position;
    while (at(position) != '"') {
      if (position >= text.size() || text[position] == '\n')
        failAt(token, "expected '\"' that ends this string, but got the end of the line");
      ++position;
    }
    ++position;
    token.kind = Token::String;
  } else {
    ++position;
    token.kind = Token::Symbol;
  }
  token.text = text.substr(begin, position - begin);
}

Token Lexer::take() {
  Token taken = token;
  advance();
  return taken;
}

void Lexer::skipLine() {
  unsigned here = token.line;
  while (token.kind != Token::End && token.line == here)
    advance();
}

} // namespace taylor::runtime::ptx

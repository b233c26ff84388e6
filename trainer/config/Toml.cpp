// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/config/Toml.h"
#include <algorithm>

namespace taylor::trainer {

namespace {

constexpr int kMostParts = 32;

/// The byte after the string that begins at `begin`, or the end of the text.
size_t endOfString(std::string_view text, size_t begin) {
  std::string quote(text.substr(begin, 1));
  if (text.substr(begin).starts_with(quote + quote + quote))
    quote += quote + quote;
  for (size_t i = begin + quote.size(); i < text.size(); ++i) {
    if (text[i] == '\\' && quote[0] == '"')
      ++i;
    else if (text.substr(i).starts_with(quote))
      return i + quote.size();
    else if (text[i] == '\n' && quote.size() == 1)
      return i; // which the library refuses
  }
  return text.size();
}

bool isOfName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == ' ' || c == '\t';
}

} // namespace

void requireShallowToml(const std::string &contents, const std::string &file) {
  std::string_view text = contents;
  size_t begin = 0; // of the name
  int parts = 0;    // 0: none has begun
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    bool quoted = c == '"' || c == '\'';
    if (parts == 0 && (quoted || (isOfName(c) && c != ' ' && c != '\t'))) {
      parts = 1;
      begin = i;
    }
    if (quoted) {
      i = endOfString(text, i);
      continue;
    }
    if (c == '.' && parts > 0) {
      if (++parts > kMostParts) {
        std::string_view before = text.substr(0, begin);
        fail(file, ":", std::count(before.begin(), before.end(), '\n') + 1, ":", begin - before.rfind('\n'),
             ": expected TOML with names of at most ", kMostParts,
             " parts, but got one of more; the settings have two or three, as train.steps");
      }
    } else if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      parts = 0;
      continue;
    } else if (!isOfName(c)) {
      parts = 0;
    }
    ++i;
  }
}

} // namespace taylor::trainer

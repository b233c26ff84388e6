// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A specification's text as an operator's argument. It has one line, with U+240A, the symbol for the end of
// a line, in place of each end: Inductor (torch 2.11) writes an operator's arguments into a comment of the
// code that it makes for a GPU, and what follows the first line would be code.
#ifndef TAYLOR_RUNTIME_TORCH_STABLE_LINES_H
#define TAYLOR_RUNTIME_TORCH_STABLE_LINES_H
#include <string>
#include <string_view>

namespace taylor {

/// The text with its lines.
inline std::string linesOf(std::string_view text) {
  constexpr std::string_view symbol = "\xE2\x90\x8A";
  std::string lines;
  lines.reserve(text.size());
  for (size_t end; (end = text.find(symbol)) != text.npos; text.remove_prefix(end + symbol.size()))
    lines.append(text.substr(0, end)) += '\n';
  return lines.append(text);
}

} // namespace taylor

#endif

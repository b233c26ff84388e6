// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/generation/TextStream.h"

namespace taylor::trainer {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD"; // U+FFFD
constexpr size_t kMostOpen = 64;                          // tokens
constexpr size_t kLongestCharacter = 4;                   // bytes

} // namespace

std::string_view TextStream::whole() const {
  std::string_view text = all;
  while (text.ends_with(kReplacement))
    text.remove_suffix(kReplacement.size());
  return text;
}

void TextStream::add(std::span<const int> tokens) {
  window.insert(window.end(), tokens.begin(), tokens.end());
  std::string decoded = tokenizer->decode(window);
  all.resize(settledText);
  all.append(decoded, settledBytes);
  if (!all.ends_with(kReplacement))
    return settle(0, 0);
  if (window.size() - settledTokens < kMostOpen)
    return;
  // Bytes that make no characters. Whatever follows cannot change how those before the last few are
  // read; and their border cuts no character in two if its halves are read as they are together.
  auto border = window.end() - kLongestCharacter;
  std::string rest = tokenizer->decode({border, window.end()});
  if (tokenizer->decode({window.begin(), border}) + rest == decoded)
    settle(kLongestCharacter, rest.size());
}

void TextStream::settle(size_t rest, size_t restBytes) {
  std::vector<int> open(window.begin() + settledTokens, window.end());
  std::string decoded = tokenizer->decode({open.begin(), open.end() - rest});
  if (decoded.empty()) {
    if (settledTokens > 0 && all.size() == settledText)
      window.resize(settledTokens); // <s>, which is no text
    return; // else a blank, which a text's beginning drops: the window must begin before it
  }
  window = std::move(open);
  settledTokens = window.size() - rest;
  settledBytes = decoded.size();
  settledText = all.size() - restBytes;
}

} // namespace taylor::trainer

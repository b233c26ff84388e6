// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_GENERATION_TEXTSTREAM_H
#define TAYLOR_TRAINER_GENERATION_TEXTSTREAM_H
#include "trainer/text/Tokenizer.h"
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace taylor::trainer {

/// The text of tokens that come one after another: what Tokenizer::decode gives of all of them, at a cost
/// that does not grow with what was there before. Only a tail of the tokens is decoded again.
///
///   tokens  .. settled .. | window: settled, then open |
///   text    .. settled .............. | of the open ones |
///
/// Text is settled up to the end of a character: pieces may be single bytes of one. The window keeps some
/// settled tokens before the open ones, since a tokenizer may drop a blank at a text's beginning.
class TextStream {
public:
  explicit TextStream(const Tokenizer &tokenizer) : tokenizer(&tokenizer) {}

  void add(std::span<const int> tokens);
  const std::string &text() const { return all; }
  /// Without a character that the last tokens begin and do not end, which is decoded as U+FFFD.
  std::string_view whole() const;

private:
  /// Moves the border to before the window's last `rest` tokens, which give the last `restBytes` of the
  /// text.
  void settle(size_t rest, size_t restBytes);

  const Tokenizer *tokenizer;
  std::string all;
  std::vector<int> window;
  size_t settledTokens = 0; // of the window
  size_t settledBytes = 0;  // of what the window is decoded to
  size_t settledText = 0;   // bytes of `all`
};

} // namespace taylor::trainer
#endif

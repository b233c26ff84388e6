// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TEXT_TOKENIZER_H
#define TAYLOR_TRAINER_TEXT_TOKENIZER_H
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace taylor::trainer {

/// A SentencePiece model. Thread-safe once loaded.
class Tokenizer {
public:
  /// `model` is the content of a tokenizer.model; `origin` names it in errors. Throws Error if it is not one,
  /// has no beginning- or end-of-text piece, or more pieces than a uint16 can number.
  Tokenizer(std::string model, const std::string &origin);
  ~Tokenizer();

  int64_t vocabulary() const;
  int beginning() const; // <s>, put before every document
  int end() const;       // </s>, put after it
  int unknown() const;
  const std::string &piece(int token) const; // as the model spells it
  /// Whether a blank is put before every text, as Llama-2's model does and ours do not.
  bool addsPrefix() const { return prefixes; }
  /// A long text in pieces, since SentencePiece takes some 250 bytes of memory for each of its bytes: cut
  /// after a line or before a blank, where no piece of the vocabulary reaches across, so that the
  /// tokens are those of the whole; and anywhere between characters where there is no such place in
  /// longestPiece bytes. U+2581, with which a model spells a blank, is three bytes where the model has pieces
  /// for these and no blank before a text.
  std::vector<int> encode(std::string_view text) const;
  std::vector<uint16_t> encodeDocument(std::string_view text) const; // <s> .. </s>
  std::string decode(const std::vector<int> &tokens) const;
  const std::string &model() const { return serialized; }

  static constexpr size_t kUsualPiece = 1 << 16, kLongestPiece = 1 << 20; // bytes

private:
  void encodePiece(std::string_view text, bool isFirst, std::vector<int> &tokens) const;
  /// Where a text is cut: bytes of its first piece.
  size_t pieceSize(std::string_view text) const;
  /// Calls take(tokens) for the tokens of each piece.
  template <typename Take> void encodePieces(std::string_view text, Take take) const;
  void findBorders();

  std::string serialized;
  bool prefixes = false;                          // addsPrefix()
  bool endsAtLines = true, beginsAtBlanks = true; // no piece reaches across such a place
  std::vector<int> blankBytes;                    // of U+2581; empty where it is taken for a blank
  std::unique_ptr<sentencepiece::SentencePieceProcessor> processor;
};

/// 256 bytes and the special pieces come first.
constexpr int64_t kLeastPieces = 300;

/// What a tokenizer is trained on at most, in bytes of text: 5 s of training. More changes little.
constexpr int64_t kTokenizerSample = 8 << 20;

/// Trains a byte-pair encoding of that many pieces on the texts and returns the model. White space is kept as
/// it is and runs of blanks may become pieces, so that source code survives a round trip; unknown characters
/// fall back to bytes. About one second per 1.5 MB, shown on stderr. Throws Error, for example when the text
/// is too short for so many pieces; `setting` names what asked for them.
std::string trainTokenizer(const std::vector<std::string_view> &texts, int64_t vocabulary,
                           const std::string &setting = "data.vocabulary");

} // namespace taylor::trainer
#endif

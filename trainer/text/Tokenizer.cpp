// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Tokenizer.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include <algorithm>
#include <cstdlib>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <unordered_map>

namespace taylor::trainer {

namespace {

constexpr std::string_view kBlank = "\xE2\x96\x81"; // U+2581, as models spell a blank

/// Hands SentencePiece one line at a time; it measures and counts lines, not documents.
class Lines : public sentencepiece::SentenceIterator {
public:
  explicit Lines(const std::vector<std::string_view> &texts) : texts(texts) { Next(); }
  bool done() const override { return finished; }
  void Next() override {
    while (document < texts.size() && position >= texts[document].size()) {
      ++document;
      position = 0;
    }
    finished = document >= texts.size();
    if (finished)
      return;
    std::string_view text = texts[document];
    size_t end = std::min(text.find('\n', position), text.size());
    bool isLong = end - position > kLongestLine;
    if (isLong) {
      end = position + kLongestLine;
      while (end > position + 1 && (text[end] & 0xC0) == 0x80)
        --end;
    }
    line = text.substr(position, end - position);
    std::erase(line, '\0'); // SentencePiece refuses it
    position = isLong ? end : end + 1;
  }
  const std::string &value() const override { return line; }
  sentencepiece::util::Status status() const override { return {}; }

private:
  static constexpr size_t kLongestLine = 1 << 15; // SentencePiece passes over what is longer than 65536
  const std::vector<std::string_view> &texts;
  size_t document = 0, position = 0;
  std::string line;
  bool finished = false;
};

/// A status without the place in SentencePiece's source and the condition that failed there.
std::string reason(const sentencepiece::util::Status &status) {
  std::string text = status.ToString();
  size_t end = text.rfind("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
}

/// What kept a tokenizer from being trained, and the way out that helps.
std::string whyUntrained(std::string why, int64_t vocabulary, const std::string &setting) {
  // SentencePiece: "Vocabulary size is smaller than required_chars. 300 vs 353. Increase vocab_size or ..",
  // of which it has 256 bytes, 3 special pieces and the text's characters; "Vocabulary size too high (300).
  // Please set it to a value <= 277."
  std::string option = setting.starts_with("--") ? setting + " " : "--set " + setting + "=";
  auto numberBehind = [&](std::string_view words) -> int64_t {
    size_t place = why.find(words);
    return place == why.npos ? -1 : std::atoll(why.c_str() + place + words.size());
  };
  if (int64_t needed = numberBehind(text("required_chars. ", vocabulary, " vs ")); needed > 0)
    return text("requires ", setting, " of at least ", needed,
                " for this text: 256 bytes, 3 special pieces and ", needed - 259, " characters; but got ",
                vocabulary, "; pass ", option, needed, " or more");
  if (int64_t most = numberBehind("Please set it to a value <= "); most >= kLeastPieces)
    return text("requires ", setting, " of at most ", most,
                ", since this text gives no more pieces, but got ", vocabulary, "; pass ", option, most,
                " or less, or give more text");
  else if (most > 0)
    return text("requires more text to train a tokenizer on: it gives ", most, " pieces, and ", setting,
                " is ", vocabulary, ", of which the least is ", kLeastPieces);
  if (why.ends_with('.'))
    why.pop_back();
  return text("cannot train a tokenizer of ", setting, " = ", vocabulary, " pieces on this text: ", why,
              "; give other text, or another number by ", option, "N");
}

} // namespace

Tokenizer::Tokenizer(std::string model, const std::string &origin)
    : serialized(std::move(model)), processor(std::make_unique<sentencepiece::SentencePieceProcessor>()) {
  sentencepiece::util::Status status = processor->LoadFromSerializedProto(serialized);
  if (!status.ok() || processor->GetPieceSize() == 0)
    fail("expected a SentencePiece model, but '", origin, "' is not one");
  if (processor->bos_id() < 0 || processor->eos_id() < 0)
    fail("requires a tokenizer with the pieces <s> and </s>, but '", origin, "' has not both");
  if (processor->GetPieceSize() > 65536)
    fail("expected a tokenizer of at most 65536 pieces, but '", origin, "' has ", processor->GetPieceSize());
  findBorders();
}

Tokenizer::~Tokenizer() = default;

int64_t Tokenizer::vocabulary() const { return processor->GetPieceSize(); }
int Tokenizer::beginning() const { return processor->bos_id(); }
int Tokenizer::end() const { return processor->eos_id(); }
int Tokenizer::unknown() const { return processor->unk_id(); }
const std::string &Tokenizer::piece(int token) const { return processor->IdToPiece(token); }

void Tokenizer::findBorders() {
  // SentencePiece's library hides the model's normalizer_spec: what it does is seen on a letter.
  std::vector<std::string> pieces;
  prefixes = processor->Encode("a", &pieces).ok() && !pieces.empty() && pieces[0].starts_with(kBlank);
  for (int i = 0; i < processor->GetPieceSize(); ++i) {
    const std::string &piece = processor->IdToPiece(i);
    endsAtLines &= piece.size() == 1 || piece.find('\n') == piece.npos;
    for (size_t at = piece.find(kBlank, 1); at != piece.npos; at = piece.find(kBlank, at + 1))
      beginsAtBlanks &= at >= kBlank.size() && piece.compare(at - kBlank.size(), kBlank.size(), kBlank) == 0;
  }
  for (const char *byte : {"<0xE2>", "<0x96>", "<0x81>"})
    if (int id = processor->PieceToId(byte); !prefixes && processor->IsByte(id))
      blankBytes.push_back(id);
  if (blankBytes.size() < 3)
    blankBytes.clear();
}

size_t Tokenizer::pieceSize(std::string_view text) const {
  if (text.size() <= kUsualPiece)
    return text.size();
  auto isBorder = [&](size_t i) {
    return (endsAtLines && text[i - 1] == '\n') || (beginsAtBlanks && text[i] == ' ' && text[i - 1] != ' ');
  };
  for (size_t i = kUsualPiece; i > 0; --i)
    if (isBorder(i))
      return i;
  size_t end = std::min(text.size(), kLongestPiece);
  for (size_t i = kUsualPiece + 1; i < end; ++i)
    if (isBorder(i))
      return i;
  if (end == text.size())
    return end;
  while (end > 1 && (text[end] & 0xC0) == 0x80)
    --end;
  return end;
}

void Tokenizer::encodePiece(std::string_view text, bool isFirst, std::vector<int> &tokens) const {
  auto encoded = [&](std::string_view some) {
    std::vector<int> result;
    sentencepiece::util::Status status = processor->Encode({some.data(), some.size()}, &result);
    if (!status.ok())
      fail("cannot tokenize: ", reason(status));
    return result;
  };
  if (isFirst || !prefixes) {
    tokens = encoded(text);
    return;
  }
  // As it would be in the middle of the text, without a blank before it: after the end of a line, which is
  // left out.
  std::vector<int> line = encoded("\n");
  tokens = encoded("\n" + std::string(text));
  if (tokens.size() >= line.size() && std::equal(line.begin(), line.end(), tokens.begin()))
    tokens.erase(tokens.begin(), tokens.begin() + long(line.size()));
  else
    tokens = encoded(text);
}

template <typename Take> void Tokenizer::encodePieces(std::string_view text, Take take) const {
  std::vector<int> tokens;
  bool isFirst = true;
  do {
    size_t end = pieceSize(text), place = blankBytes.empty() ? text.npos : text.substr(0, end).find(kBlank);
    encodePiece(text.substr(0, std::min(end, place)), isFirst, tokens);
    take(tokens);
    if (place != text.npos) {
      take(blankBytes);
      end = place + kBlank.size();
    }
    text.remove_prefix(end);
    isFirst = false;
  } while (!text.empty());
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> all;
  encodePieces(text,
               [&](const std::vector<int> &tokens) { all.insert(all.end(), tokens.begin(), tokens.end()); });
  return all;
}

std::vector<uint16_t> Tokenizer::encodeDocument(std::string_view text) const {
  std::vector<uint16_t> document{uint16_t(beginning())};
  encodePieces(text, [&](const std::vector<int> &tokens) {
    document.insert(document.end(), tokens.begin(), tokens.end());
  });
  document.push_back(uint16_t(end()));
  return document;
}

std::string Tokenizer::decode(const std::vector<int> &tokens) const {
  std::string text;
  sentencepiece::util::Status status = processor->Decode(tokens, &text);
  if (!status.ok())
    fail("cannot turn tokens into text: ", reason(status));
  return text;
}

std::string trainTokenizer(const std::vector<std::string_view> &texts, int64_t vocabulary,
                           const std::string &setting) {
  int64_t size = 0;
  for (std::string_view text : texts)
    size += text.size();
  Elapsed elapsed(text("training a tokenizer of ", vocabulary, " pieces on ", formatBytes(size)));
  Lines lines(texts);
  std::string model;
  std::unordered_map<std::string, std::string> options = {
      {"model_type", "bpe"},
      {"vocab_size", std::to_string(vocabulary)},
      {"normalization_rule_name", "identity"},
      {"remove_extra_whitespaces", "false"},
      {"add_dummy_prefix", "false"},
      {"allow_whitespace_only_pieces", "true"},
      {"byte_fallback", "true"},
      {"character_coverage", "0.9999"},
      {"max_sentence_length", "65536"},
      {"minloglevel", "2"},
  };
  sentencepiece::util::Status status = sentencepiece::SentencePieceTrainer::Train(options, &lines, &model);
  if (!status.ok()) {
    fail(whyUntrained(reason(status), vocabulary, setting));
  }
  return model;
}

} // namespace taylor::trainer

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Tokenizer.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include <algorithm>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <unordered_map>

namespace taylor::trainer {

namespace {

// Hands SentencePiece one line at a time; it measures and counts lines, not documents.
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
    size_t end = std::min(texts[document].find('\n', position), texts[document].size());
    line = texts[document].substr(position, end - position);
    std::erase(line, '\0'); // SentencePiece refuses it
    position = end + 1;
  }
  const std::string &value() const override { return line; }
  sentencepiece::util::Status status() const override { return {}; }

private:
  const std::vector<std::string_view> &texts;
  size_t document = 0, position = 0;
  std::string line;
  bool finished = false;
};

// A status without the place in SentencePiece's source and the condition that failed there.
std::string reason(const sentencepiece::util::Status &status) {
  std::string text = status.ToString();
  size_t end = text.rfind("] ");
  return end == std::string::npos ? text : text.substr(end + 2);
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
}

Tokenizer::~Tokenizer() = default;

int64_t Tokenizer::vocabulary() const { return processor->GetPieceSize(); }
int Tokenizer::beginning() const { return processor->bos_id(); }
int Tokenizer::end() const { return processor->eos_id(); }
int Tokenizer::unknown() const { return processor->unk_id(); }
const std::string &Tokenizer::piece(int token) const { return processor->IdToPiece(token); }

// SentencePiece's library hides the model's normalizer_spec: what it does is seen on a letter.
bool Tokenizer::addsPrefix() const {
  constexpr std::string_view blank = "\xE2\x96\x81"; // U+2581
  std::vector<std::string> pieces;
  return processor->Encode("a", &pieces).ok() && !pieces.empty() && pieces[0].starts_with(blank);
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> tokens;
  sentencepiece::util::Status status = processor->Encode({text.data(), text.size()}, &tokens);
  if (!status.ok())
    fail("cannot tokenize: ", reason(status));
  return tokens;
}

std::vector<uint16_t> Tokenizer::encodeDocument(std::string_view text) const {
  std::vector<int> tokens = encode(text);
  std::vector<uint16_t> document{uint16_t(beginning())};
  document.insert(document.end(), tokens.begin(), tokens.end());
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
    std::string why = reason(status);
    if (why.ends_with('.'))
      why.pop_back();
    fail("cannot train a tokenizer of ", setting, " = ", vocabulary, " pieces on this text: ", why,
         "; give more text, or a smaller number",
         setting.starts_with("--") ? "" : text(" by --set ", setting, "=N"));
  }
  return model;
}

} // namespace taylor::trainer

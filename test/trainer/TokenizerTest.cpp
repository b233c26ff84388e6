// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Tokenizer.h"
#include "Failure.h"
#include "trainer/support/Files.h"
#include <cstdlib>
#include <random>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>
#include <unordered_map>

using namespace taylor::trainer;

namespace {

std::string license() { return readFile(std::string(std::getenv("TAYLOR_SOURCE_DIR")) + "/LICENSE"); }

class Lines : public sentencepiece::SentenceIterator {
public:
  explicit Lines(const std::string &text) : stream(text) { Next(); }
  bool done() const override { return finished; }
  void Next() override { finished = !std::getline(stream, line); }
  const std::string &value() const override { return line; }
  sentencepiece::util::Status status() const override { return {}; }

private:
  std::istringstream stream;
  std::string line;
  bool finished = false;
};

/// A model as users have them: Llama-2's puts a blank before a text and has no fallback to bytes' pieces
/// of its own kind; one without pieces for bytes merges what it does not know.
std::string train(bool prefix, bool bytes) {
  std::string model, text = license();
  Lines lines(text);
  auto word = [](bool value) { return value ? std::string("true") : std::string("false"); };
  std::unordered_map<std::string, std::string> options = {{"model_type", "bpe"},
                                                          {"vocab_size", "500"},
                                                          {"normalization_rule_name", "identity"},
                                                          {"remove_extra_whitespaces", "false"},
                                                          {"add_dummy_prefix", word(prefix)},
                                                          {"allow_whitespace_only_pieces", "true"},
                                                          {"byte_fallback", word(bytes)},
                                                          {"minloglevel", "2"}};
  sentencepiece::util::Status status = sentencepiece::SentencePieceTrainer::Train(options, &lines, &model);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return model;
}

std::string words(size_t bytes, const std::string &between) {
  std::string text, all = license();
  std::mt19937 random(7);
  while (text.size() < bytes) {
    size_t begin = random() % (all.size() - 40);
    for (char c : all.substr(begin, 1 + random() % 30))
      text += c == '\n' ? ' ' : c;
    text += random() % 9 ? " " : between;
    text += random() % 200 ? "" : "gr\xC3\xBC\xC3\x9F 12\t   x";
  }
  return text;
}

// Pieces, each by itself, give the tokens of the whole text.
TEST(Tokenizer, LongTextsAreCutWhereNothingChanges) {
  for (auto [prefix, bytes] : {std::pair{false, true}, {true, true}}) {
    std::string model = train(prefix, bytes);
    Tokenizer tokenizer(model, "m");
    EXPECT_EQ(tokenizer.addsPrefix(), prefix);
    sentencepiece::SentencePieceProcessor whole;
    ASSERT_TRUE(whole.LoadFromSerializedProto(model).ok());
    for (const char *between : {"\n", "\n\n  ", "  ", "\r\n"}) {
      std::string text = words(5 * Tokenizer::kUsualPiece / 2, between);
      std::vector<int> expected;
      ASSERT_TRUE(whole.Encode(text, &expected).ok());
      EXPECT_EQ(tokenizer.encode(text), expected) << prefix << between;
      std::vector<uint16_t> document = tokenizer.encodeDocument(text);
      EXPECT_EQ(std::vector<int>(document.begin() + 1, document.end() - 1), expected);
    }
  }
}

// A line without a blank is cut where it must be, between characters, and comes back.
TEST(Tokenizer, ALineWithoutAPlaceToCut) {
  Tokenizer tokenizer(train(false, true), "m");
  std::string letters;
  while (letters.size() < Tokenizer::kLongestPiece + 1000)
    letters += "a\xE2\x82\xAC";
  EXPECT_EQ(tokenizer.decode(tokenizer.encode(letters)), letters);
}

TEST(Tokenizer, TheSignOfABlankIsNoBlank) {
  Tokenizer tokenizer(train(false, true), "m");
  const std::string sign = "\xE2\x96\x81";
  for (const std::string &text :
       {sign, "a" + sign + "b", sign + sign, " " + sign + " x", "x " + sign, std::string(" a b")})
    EXPECT_EQ(tokenizer.decode(tokenizer.encode(text)), text);
  EXPECT_EQ(tokenizer.encode("You may"), Tokenizer(train(false, true), "m").encode("You may"));
  // As their own library has it, where bytes have no pieces, or a blank goes in front.
  EXPECT_EQ(Tokenizer(train(false, false), "m").encode("a" + sign + "b"),
            Tokenizer(train(false, false), "m").encode("a b"));
  Tokenizer prefixed(train(true, true), "m");
  EXPECT_EQ(prefixed.encode("a" + sign + "b"), prefixed.encode("a b"));
}

TEST(Tokenizer, WhatKeepsItFromBeingTrained) {
  std::string letters;
  for (int repeat = 0; repeat < 60; ++repeat)
    for (char c = 33; c < 127; ++c)
      letters += c;
  EXPECT_EQ(failure([&] { trainTokenizer({letters}, 300); }),
            "requires data.vocabulary of at least 353 for this text: 256 bytes, 3 special pieces and 94 "
            "characters; but "
            "got 300; pass --set data.vocabulary=353 or more");
  EXPECT_EQ(failure([&] { trainTokenizer({"one line one line"}, 400, "--train-tokenizer"); }),
            "requires more text to train a tokenizer on: it gives 277 pieces, and --train-tokenizer is 400, "
            "of which the "
            "least is 300");
  std::string text = license();
  std::string message = failure([&] { trainTokenizer({text}, 60000, "--train-tokenizer"); });
  EXPECT_TRUE(message.starts_with("requires --train-tokenizer of at most ")) << message;
  size_t most = message.find("pass --train-tokenizer ");
  ASSERT_NE(most, std::string::npos) << message;
  EXPECT_NO_THROW(trainTokenizer({text}, std::stoll(message.substr(most + 23))));
  // A text in one line, longer than any that SentencePiece takes.
  std::string line = text;
  for (char &c : line)
    c = c == '\n' ? ' ' : c;
  for (int doubled = 0; doubled < 4; ++doubled)
    line += line;
  EXPECT_NO_THROW(trainTokenizer({line}, 400));
}

} // namespace

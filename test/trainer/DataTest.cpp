// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Data.h"
#include "Failure.h"
#include "trainer/generation/TextStream.h"
#include "trainer/text/Corpus.h"
#include <random>
#include <sys/resource.h>

using namespace taylor::trainer;

namespace {

TEST(Corpus, LongTextIsCutBehindLineEnds) {
  EXPECT_EQ(cutDocuments("ab\ncd\nef", 100), (std::vector<std::string_view>{"ab\ncd\nef"}));
  EXPECT_EQ(cutDocuments("ab\ncd\nef", 6), (std::vector<std::string_view>{"ab\ncd\n", "ef"}));
  EXPECT_EQ(cutDocuments("ab\ncd\nef", 5), (std::vector<std::string_view>{"ab\n", "cd\nef"}));
  EXPECT_EQ(cutDocuments("abcdef\ngh", 3),
            (std::vector<std::string_view>{"abcdef\n", "gh"})); // one long line
  EXPECT_TRUE(cutDocuments("", 3).empty());
}

TEST(Corpus, PositionsOfDocumentsAreSpreadEvenly) {
  int below = 0;
  for (int i = 0; i < 10000; ++i)
    below += documentPosition(text("document ", i)) < 0.1;
  EXPECT_NEAR(below, 1000, 100);
  EXPECT_EQ(documentPosition("a"), documentPosition("a"));
}

TEST(Corpus, FindsFilesInOrderAndSeesChanges) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder.path / "sub");
  folder.write("b.txt", "bb");
  folder.write("sub/a.txt", "a");
  folder.write(".hidden", "x");
  folder.write("empty", "");
  Corpus corpus = findCorpus(folder.path);
  ASSERT_EQ(corpus.files.size(), 2u);
  EXPECT_EQ(corpus.files[0].name, "b.txt");
  EXPECT_EQ(corpus.files[1].name, "sub/a.txt");
  EXPECT_EQ(corpus.size, 3);
  folder.write("b.txt", "bbb");
  EXPECT_NE(findCorpus(folder.path).fingerprint, corpus.fingerprint);
  EXPECT_EQ(failure([&] { findCorpus(folder.path / "empty"); }),
            "expected text, but '" + (folder.path / "empty").string() + "' has none");
  EXPECT_EQ(failure([] { findCorpus("/nowhere"); }),
            "expected a file or folder of text, but '/nowhere' does not exist");
}

TEST(Corpus, LinksThatLeadNowhere) {
  TemporaryFolder folder;
  folder.write("a.txt", "a");
  for (std::string name : {"dangling", "loop"})
    std::filesystem::create_symlink(name == "loop" ? "loop" : "nowhere", folder.path / name);
  EXPECT_EQ(findCorpus(folder.path).files.size(), 1u); // left out in a folder
  std::string dangling = folder.path / "dangling", loop = folder.path / "loop";
  EXPECT_EQ(failure([&] { findCorpus(dangling); }),
            "expected a file or folder of text, but '" + dangling + "' does not exist");
  EXPECT_EQ(failure([&] { findCorpus(loop); }),
            "cannot read '" + loop + "': Too many levels of symbolic links");
  EXPECT_EQ(failure([] { findCorpus("/dev/null"); }),
            "expected a file or folder of text, but '/dev/null' is neither");
}

TEST(Corpus, FoldersThatCannotBeRead) { // without permission they are left out; without descriptors not
  TemporaryFolder folder;
  std::filesystem::path inner = folder.path;
  for (int depth = 0; depth < 16; ++depth)
    std::filesystem::create_directory(inner /= "inner");
  std::ofstream(inner / "a.txt") << "a";
  EXPECT_EQ(findCorpus(folder.path).files.size(), 1u);
  rlimit saved, few;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &saved), 0);
  int free = dup(0);
  close(free);
  std::string refused = "cannot read the folder '" + folder.path.string() + "': Too many open files";
  for (auto [more, expected] : {std::pair{0, refused}, {1, "(no error)"}}) { // one serves, however deep
    few = saved;
    few.rlim_cur = rlim_t(free + more);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    std::string message = failure([&] { findCorpus(folder.path); });
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &saved), 0);
    EXPECT_EQ(message, expected) << more;
  }
}

TEST(Corpus, TheDefaultIsThisMachinesHeaders) {
  Corpus corpus = findCorpus("");
  EXPECT_EQ(corpus.title, "LLVM and MLIR headers");
  EXPECT_GT(corpus.files.size(), 2000u);
  EXPECT_GT(corpus.size, 20 << 20);
}

TEST(AtomicFolder, AppearsWholeOrNotAtAll) {
  TemporaryFolder folder;
  std::filesystem::path target = folder.path / "sub" / "target";
  auto entries = [&] {
    auto all = std::filesystem::directory_iterator(target.parent_path());
    return std::distance(begin(all), end(all));
  };
  {
    AtomicFolder given(target);
    writeDurably(given.path() / "file", "one");
    EXPECT_FALSE(std::filesystem::exists(target));
  } // not committed
  EXPECT_EQ(entries(), 0);
  for (std::string contents : {"two", "three"}) {                              // new, then over an old one
    std::filesystem::create_directories(target.parent_path() / ".target.123"); // left by a kill
    AtomicFolder given(target);
    writeDurably(given.path() / "file", contents);
    given.commit();
    EXPECT_EQ(readFile(target / "file"), contents);
  }
  EXPECT_EQ(entries(), 1);
  EXPECT_NE(
      failure([] { writeDurably("/nowhere/file", ""); }).find("cannot write '/nowhere/file': No such file"),
      std::string::npos);
  EXPECT_NE(failure([] { writeDurably("/dev/full", "x"); }).find("cannot write '/dev/full': No space left"),
            std::string::npos);
}

TEST(Files, WhatCannotBeLookedAtOrRemoved) {
  TemporaryFolder folder;
  EXPECT_EQ(failure([] { sizeOf("/nowhere"); }), "cannot read '/nowhere': No such file or directory");
  EXPECT_EQ(failure([] { timeOf("/nowhere"); }), "cannot read '/nowhere': No such file or directory");
  std::filesystem::create_directories(folder.path / "a/b");
  EXPECT_EQ(failure([&] { removeFile(folder.path / "a"); }),
            "cannot remove '" + (folder.path / "a").string() + "': Directory not empty");
  removeFile(folder.path / "none");
}

TEST(Utf8, FindsTheFirstByteThatIsNot) {
  EXPECT_EQ(validUtf8Prefix("plain"), 5u);
  EXPECT_EQ(validUtf8Prefix("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), 9u);
  EXPECT_EQ(validUtf8Prefix("ab\xFFzz"), 2u);
  EXPECT_EQ(validUtf8Prefix("ab\xC3"), 2u);           // cut off
  EXPECT_EQ(validUtf8Prefix("\xC0\xAF"), 0u);         // overlong
  EXPECT_EQ(validUtf8Prefix("\xE0\x80\x80"), 0u);     // overlong
  EXPECT_EQ(validUtf8Prefix("\xED\xA0\x80"), 0u);     // surrogate
  EXPECT_EQ(validUtf8Prefix("\xF4\x90\x80\x80"), 0u); // beyond U+10FFFF
}

TEST(Tokenizer, RoundTripsSourceCode) {
  std::string sample;
  for (int i = 0; i < 300; ++i)
    sample += text("  if (x", i, " == 0) {\n\t  return value;\n  }\n\n");
  Tokenizer tokenizer(trainTokenizer({sample}, 400), "trained");
  EXPECT_EQ(tokenizer.vocabulary(), 400);
  for (std::string piece :
       {"  if (y) {\n\t\treturn;  }  \n", "   leading", "caf\xC3\xA9 \xF0\x9F\x98\x80\r\n", " "}) {
    std::vector<int> tokens = tokenizer.encode(piece);
    EXPECT_EQ(tokenizer.decode(tokens), piece);
    for (int token : tokens)
      EXPECT_LT(token, 400);
  }
  EXPECT_LT(tokenizer.encode("  if (x1 == 0) {").size(), 12u);
  EXPECT_NE(
      failure([&] { trainTokenizer({sample}, 4000); }).find("but got 4000; pass --set data.vocabulary="),
      std::string::npos);
  EXPECT_EQ(failure([] { Tokenizer("no model", "x.model"); }),
            "expected a SentencePiece model, but 'x.model' is not one");
}

TEST(TextStream, IsWhatAllTokensAreDecodedTo) {
  std::string sample;
  for (int i = 0; i < 300; ++i)
    sample += text("  if (x", i, " == 0) {\n\t  return caf\xC3\xA9;\n  }\n\n");
  std::string model = trainTokenizer({sample}, 400);
  // What a blank before a text does to its decoding: a message of protobuf that is appended is merged.
  std::string prefix = "\x1a\x02\x18\x01", extra = "\x1a\x02\x20\x01"; // add_dummy_prefix, remove_extra_..
  std::mt19937 random(1);
  for (const std::string &options : {std::string(), prefix, extra, prefix + extra}) {
    Tokenizer tokenizer(model + options, "");
    EXPECT_EQ(tokenizer.addsPrefix(), options.starts_with(prefix));
    std::vector<int> bytes, blanks; // pieces of one byte; pieces that begin with a blank
    for (int token = 0; token < 400; ++token) {
      if (tokenizer.piece(token).starts_with("<0x"))
        bytes.push_back(token);
      if (tokenizer.piece(token).starts_with("\xE2\x96\x81"))
        blanks.push_back(token);
    }
    ASSERT_EQ(bytes.size(), 256u);
    auto any = [&](const std::vector<int> &of) { return of[random() % of.size()]; };
    const std::string euro = "\xE2\x82\xAC", unknown = "\xEF\xBF\xBD";
    for (int kind = 0; kind < 6; ++kind)
      for (int round = 0; round < 4; ++round) {
        TextStream stream(tokenizer);
        std::vector<int> tokens;
        for (size_t i = 0; i < 300; ++i) {
          size_t old = tokens.size();
          if (i == 0 && round % 2) // a prompt
            tokens = tokenizer.encode("  x caf\xC3\xA9");
          else if (kind == 0)
            tokens.push_back(int(random() % 400));
          else if (kind == 1)
            tokens.push_back(any(bytes));
          else if (kind == 2)
            tokens.push_back(bytes[0x80 + random() % 0x80]); // seldom a character
          else if (kind == 3)
            tokens.push_back(random() % 2 ? any(blanks) : tokenizer.beginning());
          else // whole characters, and U+FFFD itself, byte after byte
            tokens.push_back(bytes[uint8_t((kind == 4 ? euro : unknown)[i % 3])]);
          stream.add(std::span(tokens).subspan(old));
          std::string all = tokenizer.decode(tokens);
          ASSERT_EQ(stream.text(), all) << kind << " " << i;
          ASSERT_TRUE(all.starts_with(stream.whole()));
        }
      }
  }
}

TEST(TextStream, CostsTheSameBehindALongText) { // all of it decoded each time would take minutes
  std::string sample;
  for (int i = 0; i < 300; ++i)
    sample += text("  if (x", i, " == 0) {\n");
  Tokenizer tokenizer(trainTokenizer({sample}, 300), "");
  int byte = 0;
  while (tokenizer.piece(byte) != "<0xFF>")
    ++byte;
  for (int token : {tokenizer.encode("x")[0], byte, tokenizer.beginning()}) {
    std::vector<int> tokens = tokenizer.encode("if (x");
    TextStream stream(tokenizer);
    stream.add(tokens);
    for (int i = 0; i < 50000; ++i) {
      stream.add({&token, 1});
      tokens.push_back(token);
    }
    EXPECT_EQ(stream.text(), tokenizer.decode(tokens));
  }
}

TEST(Tokenizer, SaysWhatSentencePieceRefuses) {
  std::string sample;
  for (int i = 0; i < 300; ++i)
    sample += text("  if (x", i, " == 0) {\n");
  // One more piece, the euro sign as a control symbol: SentencePiece loads that and fails on its text.
  std::string control = "\x0a\x07\x0a\x03\xE2\x82\xAC\x18\x03";
  Tokenizer tokenizer(trainTokenizer({sample}, 300) + control, "unsound");
  EXPECT_EQ(tokenizer.vocabulary(), 301);
  EXPECT_EQ(failure([&] { tokenizer.encode("5 \xE2\x82\xAC"); }),
            "cannot tokenize: all normalized characters are not consumed.");
  for (int token : {-1, 301})
    EXPECT_EQ(failure([&] { tokenizer.decode({5, token}); }),
              text("cannot turn tokens into text: Out of range: Invalid id: ", token));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Data.h"
#include "Failure.h"
#include "trainer/text/Corpus.h"
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
  std::string expected = "cannot read the folder '" + folder.path.string() + "': Too many open files";
  for (int more : {0, 4}) { // at the first folder, and inside
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
  EXPECT_NE(failure([&] { trainTokenizer({sample}, 4000); }).find("data.vocabulary = 4000"),
            std::string::npos);
  EXPECT_EQ(failure([] { Tokenizer("no model", "x.model"); }),
            "expected a SentencePiece model, but 'x.model' is not one");
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

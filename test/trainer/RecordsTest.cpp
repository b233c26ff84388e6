// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Records.h"
#include "Failure.h"
#include "trainer/support/Files.h"
#include "trainer/text/Corpus.h"
#include "trainer/text/RecordField.h"
#include <random>
#include <zlib.h>
#include <zstd.h>

using namespace taylor::trainer;
using namespace std::literals;

namespace {

std::string gzip(const std::string &bytes) {
  z_stream stream{};
  EXPECT_EQ(::deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string to(::deflateBound(&stream, bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef *>(to.data());
  stream.avail_out = uInt(to.size());
  EXPECT_EQ(::deflate(&stream, Z_FINISH), Z_STREAM_END);
  to.resize(stream.total_out);
  ::deflateEnd(&stream);
  return to;
}

std::string zstd(const std::string &bytes) {
  std::string to(::ZSTD_compressBound(bytes.size()), '\0');
  to.resize(::ZSTD_compress(to.data(), to.size(), bytes.data(), bytes.size(), 3));
  return to;
}

std::string readAll(const std::string &path, Compression compression, size_t room, int64_t skip = 0) {
  std::unique_ptr<Bytes> bytes = openBytes(path, compression);
  bytes->skip(skip);
  std::string all, piece(room, '\0');
  while (size_t count = bytes->read(piece.data(), room))
    all.append(piece, 0, count);
  EXPECT_EQ(bytes->consumed(), int64_t(std::filesystem::file_size(path)));
  EXPECT_EQ(bytes->read(piece.data(), room), 0u); // and stays there
  return all;
}

InputFile input(const std::string &path) {
  return describeInput(path, int64_t(std::filesystem::file_size(path)));
}

// Number, text and defect of every record, from a cursor on.
using Found = std::tuple<int64_t, std::string, int>;
std::vector<Found> recordsOf(const InputFile &file, const RecordOptions &options, Cursor from = {},
                             std::vector<std::pair<Cursor, size_t>> *ends = nullptr) {
  std::vector<Found> found;
  std::unique_ptr<RecordSource> source = openRecords(file, options, from);
  for (RecordBlock block; source->next(block);) {
    for (const RecordBlock::Record &record : block.records) {
      RecordText content = readRecord(file.format, options.field, block, record);
      found.push_back({record.number, content.text, content.defect ? int(*content.defect) : -1});
    }
    if (ends)
      ends->push_back({block.next, found.size()});
  }
  return found;
}

/// From wherever a block ended the rest is read as it was in one go.
void expectResumable(const InputFile &file, const RecordOptions &options, size_t blocks) {
  std::vector<std::pair<Cursor, size_t>> ends;
  std::vector<Found> all = recordsOf(file, options, {}, &ends);
  EXPECT_GE(ends.size(), blocks);
  for (const auto &[cursor, count] : ends)
    EXPECT_EQ(recordsOf(file, options, cursor), std::vector<Found>(all.begin() + count, all.end()));
}

std::string randomLines(int64_t bytes, int64_t longest) {
  std::mt19937 random(5);
  std::string text;
  while (int64_t(text.size()) < bytes) {
    text += std::string(random() % (random() % 10 ? 80 : longest), char('a' + random() % 26));
    text += "\n";
  }
  return text;
}

TEST(Bytes, AFileThatGoesIsReadOn) { // as it was when it was opened
  TemporaryFolder folder;
  std::string path = folder.write("a.txt", "0123456789");
  std::unique_ptr<Bytes> bytes = openBytes(path, Compression::None);
  std::filesystem::remove(path);
  bytes->skip(7);
  char rest[8];
  EXPECT_EQ(bytes->read(rest, sizeof rest), 3u);
  EXPECT_EQ(failure([&] { bytes->skip(1); }),
            "requires the files as they were when the preparation began, but one has become shorter");
}

TEST(Bytes, AllThreeReadTheSame) {
  TemporaryFolder folder;
  std::string contents = randomLines(3 << 20, 5000);
  std::string one = contents.substr(0, 1 << 20), two = contents.substr(1 << 20);
  std::string plain = folder.write("plain", contents), gz = folder.write("gz", gzip(one) + gzip(two)),
              padded =
                  folder.write("padded", gzip(one) + gzip(two) + std::string(3 << 18, '\0')), // as on tapes
      zst = folder.write("zst", zstd(one) + zstd(two)); // files may be joined
  for (size_t room : {1000, 1 << 18, 1 << 23})
    for (int64_t skip : {0, 1, 1 << 20, 3 << 20}) {
      EXPECT_EQ(readAll(plain, Compression::None, room, skip), contents.substr(skip));
      EXPECT_EQ(readAll(gz, Compression::Gzip, room, skip), contents.substr(skip));
      EXPECT_EQ(readAll(padded, Compression::Gzip, room, skip), contents.substr(skip));
      EXPECT_EQ(readAll(zst, Compression::Zstd, room, skip), contents.substr(skip));
    }
}

TEST(Bytes, DamagedFilesAreRefused) {
  TemporaryFolder folder;
  std::string contents = randomLines(1 << 20, 5000), path;
  for (Compression compression : {Compression::Gzip, Compression::Zstd}) {
    std::string whole = compression == Compression::Gzip ? gzip(contents) : zstd(contents);
    const char *name = compression == Compression::Gzip ? "gzip" : "zstd";
    auto message = [&](const std::string &bytes) {
      path = folder.write("damaged", bytes);
      return failure([&] { readAll(path, compression, 1000); });
    };
    for (size_t size : {whole.size() - 1, whole.size() / 2, size_t(3)})
      EXPECT_EQ(message(whole.substr(0, size)),
                text("expected ", name, " data, but '", path, "' is damaged near byte ", size,
                     ": it ends in the middle"));
    std::string flipped = whole;
    for (size_t i = whole.size() / 2; i < whole.size() / 2 + 64; ++i)
      flipped[i] ^= 0x55;
    EXPECT_NE(message(flipped).find(text("expected ", name, " data, but '", path, "' is damaged near byte")),
              std::string::npos);
    EXPECT_NE(message("plain text\n").find(text("expected ", name, " data, but")), std::string::npos);
    EXPECT_NE(message(whole + "more").find(text("expected ", name, " data, but")), std::string::npos);
  }
  EXPECT_EQ(failure([] { openBytes("/nowhere", Compression::None); }),
            "cannot read '/nowhere': No such file or directory");
  for (Compression compression : {Compression::None, Compression::Gzip}) {
    std::string file = folder.write("short", compression == Compression::Gzip ? gzip("abc") : "abc");
    EXPECT_EQ(failure([&] { openBytes(file, compression)->skip(4); }),
              "requires the files as they were when the preparation began, but one has become shorter");
  }
}

TEST(Records, EndingsTellWhatAFileIs) {
  auto kind = [](const char *name) {
    InputFile file = describeInput(name, 1);
    return std::pair(file.format, file.compression);
  };
  EXPECT_EQ(kind("a.jsonl"), std::pair(Format::JsonLines, Compression::None));
  EXPECT_EQ(kind("a.jsonl.gz"), std::pair(Format::JsonLines, Compression::Gzip));
  EXPECT_EQ(kind("a.b.jsonl.zst"), std::pair(Format::JsonLines, Compression::Zstd));
  EXPECT_EQ(kind("a.json.gz"), std::pair(Format::JsonLines, Compression::Gzip));
  EXPECT_EQ(kind("a.ndjson"), std::pair(Format::JsonLines, Compression::None));
  EXPECT_EQ(kind("a.parquet"), std::pair(Format::Parquet, Compression::None));
  EXPECT_EQ(kind("a.txt"), std::pair(Format::Text, Compression::None));
  EXPECT_EQ(kind("a.txt.gz"), std::pair(Format::Text, Compression::Gzip));
  EXPECT_EQ(kind("jsonl"), std::pair(Format::Text, Compression::None));
  for (const char *name : {"a.jsonl.bz2", "a.xz", "a.tar", "a.tar.gz", "a.tar.zst", "a.zip", "a.7z"})
    EXPECT_EQ(failure([&] { kind(name); }),
              text("unsupported compression or archive '", name,
                   "'; expected .gz, .zst, .parquet or what is not compressed: unpack it, or name the files "
                   "beside it"));
}

TEST(Records, WhatIsWrongWithALine) {
  TemporaryFolder folder;
  std::string path = folder.write("a.jsonl", "{\"text\": \"one\\u00e9\"}\n"
                                             "\n"
                                             " \t\r\n"
                                             "{\"text\": \"two\"\n"
                                             "[{\"text\": \"three\"}]\n"
                                             "{\"Text\": \"four\", \"more\": {\"text\": \"five\"}}\n"
                                             "{\"text\": 6}\n"
                                             "{\"text\": {\"text\": \"seven\"}}\n"
                                             "{\"text\": \"\xFF\"}\n"
                                             "{\"text\": \"\\ud800\"}\n"
                                             "{\"more\": [{\"text\": 1}], \"text\": \"ten\", \"x\": 1e3}\r\n"
                                             "{\"text\": \"\"}\n"
                                             "{\"text\": \"last\"}");
  std::vector<Found> expected = {{1, "one\xC3\xA9", -1},
                                 {4, "", int(Defect::NotJson)},
                                 {5, "", int(Defect::Array)},
                                 {6, "", int(Defect::NoField)},
                                 {7, "", int(Defect::NotText)},
                                 {8, "", int(Defect::NotText)},
                                 {9, "", int(Defect::NotUtf8)},
                                 {10, "", int(Defect::HalfPair)},
                                 {11, "ten", -1},
                                 {12, "", -1},
                                 {13, "last", -1}};
  EXPECT_EQ(recordsOf(input(path), {"text"}), expected);
  EXPECT_EQ(std::get<1>(recordsOf(input(path), {"Text"})[3]), "four");
  EXPECT_EQ(describeDefect(Defect::NoField, "body"), "no field 'body'");
  EXPECT_EQ(describeDefect(Defect::NotText, "body"), "field 'body' is no string");
  EXPECT_EQ(describeDefect(Defect::HalfPair, "body"), "half of a surrogate pair in field 'body'");
  EXPECT_EQ(describeDefect(Defect::TooLong, "body"), "longer than 32 MB");
}

// What is in fields that nothing reads does not matter, if it ends.
TEST(Records, NumbersAndStringsThatNobodyReads) {
  TemporaryFolder folder;
  std::string path =
      folder.write("a.jsonl", "\xEF\xBB\xBF{\"n\": NaN, \"text\": \"one\"}\n"
                              "{\"n\": [Infinity, -Infinity, 1e999, -0.5E-2], \"text\": \"two\"}\n"
                              "{\"n\": 123456789012345678901234567890, \"text\": \"three\"}\n"
                              "{\"\\ud800\": \"\\udc00\\ud800x\", \"text\": \"four\"}\n"
                              "{\"n\": \"\xFF\", \"text\": \"\\ud83d\\ude00 \\u20ac\\n\"}\n"
                              "{\"te\\ud800xt\": 1, \"text\": \"six\"}\n"
                              "{\"text\": \"\\ud83d\"}\n"
                              "{\"text\": NaN}\n"
                              "{\"text\": \"a\", \"text\": \"last\"}\n");
  EXPECT_EQ(recordsOf(input(path), {"text"}), (std::vector<Found>{{1, "one", -1},
                                                                  {2, "two", -1},
                                                                  {3, "three", -1},
                                                                  {4, "four", -1},
                                                                  {5, "\xF0\x9F\x98\x80 \xE2\x82\xAC\n", -1},
                                                                  {6, "six", -1},
                                                                  {7, "", int(Defect::HalfPair)},
                                                                  {8, "", int(Defect::NotText)},
                                                                  {9, "last", -1}}));
}

TEST(Records, WhatIsNoJson) {
  for (const char *line : {"{\"n\": 01}",
                           "{\"n\": 1.}",
                           "{\"n\": .5}",
                           "{\"n\": +1}",
                           "{\"n\": 1e}",
                           "{\"n\": nan}",
                           "{\"n\": True}",
                           "{\"n\": \"\\x\"}",
                           "{\"n\": \"\\u12g4\"}",
                           "{\"n\": \"\t\"}",
                           "{\"n\": [1, 2}",
                           "{\"n\": [1 2]}",
                           "{\"n\": [1,]}",
                           "{\"n\": 1,}",
                           "{\"n\" 1}",
                           "{n: 1}",
                           "{\"text\": \"x\"} x",
                           "{\"text\": \"x\"}{}",
                           "{\"text\": \"x\"",
                           "{\"n\": \"x",
                           "{,}",
                           "{\"n\": }",
                           "tru",
                           "\"x"})
    EXPECT_EQ(findField(line, "text").kind, RecordField::NotJson) << line;
  EXPECT_EQ(findField("{\"text\": \"x\"}\0"s, "text").kind, RecordField::NotJson);
  for (const char *line : {"3", "\"text\"", "null", "-0.0e+1"})
    EXPECT_EQ(findField(line, "text").kind, RecordField::NotAnObject) << line;
  for (const char *line : {"{}", " { \"n\" : [ ] , \"m\" : { } } ", "{\"n\": {\"text\": \"x\"}}",
                           "{\"n\": [{\"text\": \"x\"}]}"})
    EXPECT_EQ(findField(line, "text").kind, RecordField::Absent) << line;
}

TEST(Records, AFieldWithinAnother) {
  auto found = [](const char *json, const char *field) {
    RecordField result = findField(json, field);
    return result.kind == RecordField::Text ? result.text : "kind " + std::to_string(result.kind);
  };
  const char *both = R"({"data": {"text": "inner", "more": {"text": "deep"}}, "text": "outer"})";
  EXPECT_EQ(found(both, "text"), "outer");
  EXPECT_EQ(found(both, "data.text"), "inner");
  EXPECT_EQ(found(both, "data.more.text"), "deep");
  EXPECT_EQ(found(both, "data"), "kind 4"); // an object
  EXPECT_EQ(found(both, "more.text"), "kind 2");
  EXPECT_EQ(found(both, "data.text.more"), "kind 2");
  EXPECT_EQ(found(R"({"data.text": "one key", "data": {"text": "two"}})", "data.text"), "one key");
  EXPECT_EQ(found(R"({"data": {"text": "two"}, "data.text": "one key"})", "data.text"), "one key");
  EXPECT_EQ(found(R"({"data": [{"text": "x"}]})", "data.text"), "kind 2");
  EXPECT_EQ(found(R"({"x": {"data": {"text": "x"}}})", "data.text"), "kind 2");
  EXPECT_EQ(found(R"({"data": {"a": {"text": 1}, "text": "x"}, "b": {"text": "y"}})", "data.text"), "x");
}

TEST(Records, FilesOfOneArrayOrOverSeveralLines) {
  TemporaryFolder folder;
  EXPECT_EQ(
      recordsOf(input(folder.write("a.json", "[{\"text\": \"one\"},\n {\"text\": \"two\"}]\n")), {"text"})[0],
      (Found{1, "", int(Defect::Array)}));
  EXPECT_EQ(recordsOf(input(folder.write("a.json", "{\n\"text\": \"one\"\n}\n")), {"text"})[0],
            (Found{1, "", int(Defect::SeveralLines)}));
  EXPECT_EQ(describeDefect(Defect::Array, "text"), "an array");
  EXPECT_EQ(describeDefect(Defect::SeveralLines, "text"), "an object on several lines");
}

TEST(Records, DeeplyNestedJson) { // neither parser nor destructor recurses
  TemporaryFolder folder;
  std::string deep(1 << 20, '[');
  std::string path = folder.write("a.jsonl", "{\"x\": " + deep + "\n{\"x\": " + deep +
                                                 std::string(1 << 20, ']') + ", \"text\": \"found\"}\n");
  EXPECT_EQ(recordsOf(input(path), {"text"}),
            (std::vector<Found>{{1, "", int(Defect::NotJson)}, {2, "found", -1}}));
}

TEST(Records, LinesGoOnFromEveryBlock) {
  TemporaryFolder folder;
  std::string lines;
  for (int64_t i = 0; i < 60000; ++i)
    lines += text("{\"text\": \"", std::string(i % 97, 'x'), i, "\"}\n");
  for (auto [name, contents] :
       {std::pair{"a.jsonl", lines}, {"a.jsonl.gz", gzip(lines)}, {"a.jsonl.zst", zstd(lines)}})
    expectResumable(input(folder.write(name, contents)), {"text"}, 3);
}

TEST(Records, LinesOfAnyLength) {
  TemporaryFolder folder;
  auto line = [](int64_t size) { return "{\"text\": \"" + std::string(size - 12, 'x') + "\"}"; };
  for (int64_t longest : {kLongestRecord, kLongestRecord + 1}) {
    std::string path =
        folder.write("a.jsonl", line(20) + "\n" + line(longest) + "\n" + line(20) + "\n" + line(longest));
    std::vector<std::pair<Cursor, size_t>> ends;
    std::vector<Found> found = recordsOf(input(path), {"text"}, {}, &ends);
    ASSERT_EQ(found.size(), 4u);
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(std::get<0>(found[i]), i + 1);
      EXPECT_EQ(std::get<2>(found[i]), longest > kLongestRecord && i % 2 ? int(Defect::TooLong) : -1) << i;
    }
    auto [cursor, count] = ends[0]; // and on from there
    EXPECT_EQ(recordsOf(input(path), {"text"}, cursor),
              std::vector<Found>(found.begin() + count, found.end()));
  }
}

TEST(Records, TextIsCutAsDocumentsAre) {
  TemporaryFolder folder;
  std::string contents = randomLines(4 << 20, 50000);
  for (auto [name, bytes] : {std::pair{"a.txt", contents}, {"a.txt.gz", gzip(contents)}})
    for (int64_t pieceSize : {1000, 60000, 1 << 20}) {
      InputFile file = input(folder.write(name, bytes));
      std::vector<Found> expected;
      int64_t line = 1;
      for (std::string_view document : cutDocuments(contents, pieceSize)) {
        expected.push_back({line, std::string(document), -1});
        line += std::count(document.begin(), document.end(), '\n');
      }
      EXPECT_EQ(recordsOf(file, {"text", pieceSize}), expected);
      expectResumable(file, {"text", pieceSize}, 3);
    }
  // A line without an end is cut before a character.
  std::string euros = "a";
  while (int64_t(euros.size()) < kLongestRecord + 1000)
    euros += "\xE2\x82\xAC";
  InputFile file = input(folder.write("a.txt", euros + "\nshort\n"));
  std::vector<Found> found = recordsOf(file, {"text", 1000});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(std::get<1>(found[0]) + std::get<1>(found[1]) + std::get<1>(found[2]), euros + "\nshort\n");
  EXPECT_LE(int64_t(std::get<1>(found[0]).size()), kLongestRecord);
  EXPECT_EQ(validUtf8Prefix(std::get<1>(found[0])), std::get<1>(found[0]).size());
}

} // namespace

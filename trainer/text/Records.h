// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files to records, in blocks that can be read again from where one began.
#ifndef TAYLOR_TRAINER_TEXT_RECORDS_H
#define TAYLOR_TRAINER_TEXT_RECORDS_H
#include "trainer/text/Bytes.h"
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taylor::trainer {

struct RecordOptions {
  std::string field = "text"; // of a JSON object, column of a Parquet file; with dots also one within another
  int64_t pieceSize = 1 << 20; // longest document of a text file, bytes
};

/// What is read at once, about this many bytes; and what is read of one record at most.
constexpr int64_t kBlockBytes = 1 << 20, kLongestRecord = 1 << 25;

/// Where a file is read on: what lies before, in decompressed bytes (rows of a Parquet file) and in lines or
/// rows.
struct Cursor {
  int64_t offset = 0, number = 0;
  bool operator==(const Cursor &) const = default;
};

struct RecordBlock {
  struct Record {
    size_t begin, size; // in `bytes`; not the text yet where it is JSON
    int64_t number;     // line or row, from 1
    enum { Whole, Missing, TooLong } state = Whole;
  };
  std::string bytes;
  std::vector<Record> records;
  Cursor next;          // after the block
  int64_t consumed = 0; // bytes of the file read so far
  std::string_view of(const Record &record) const {
    return std::string_view(bytes).substr(record.begin, record.size);
  }
};

class RecordSource {
public:
  virtual ~RecordSource() = default;
  /// The next block; false at the end. Which records there are does not depend on how they come in blocks.
  /// Throws Error where the file cannot be read on.
  virtual bool next(RecordBlock &block) = 0;
};

/// Throws Error if the file cannot be opened, or is a Parquet file without that column of text.
std::unique_ptr<RecordSource> openRecords(const InputFile &file, const RecordOptions &options,
                                          Cursor from = {});
std::unique_ptr<RecordSource> openParquet(const InputFile &file, const RecordOptions &options, Cursor from);

/// Why a record is left out.
/// Their numbers are saved in unfinished preparations.
enum class Defect { NotJson, NotAnObject, NoField, NotText, NotUtf8, TooLong, Array, SeveralLines, HalfPair };
constexpr int kDefectCount = 9;
/// "not JSON", "no field 'text'": for messages and counts.
std::string describeDefect(Defect defect, const std::string &field);
/// What can be done, to be said after that, or nothing.
const char *wayOut(Defect defect);

/// A record's text, or what is wrong with it. Blank lines of JSON Lines are no records.
struct RecordText {
  std::string text;
  std::optional<Defect> defect;
};
RecordText readRecord(Format format, const std::string &field, const RecordBlock &block,
                      const RecordBlock::Record &record);

} // namespace taylor::trainer
#endif

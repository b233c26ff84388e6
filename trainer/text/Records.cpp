// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/Records.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/text/RecordField.h"
#include <algorithm>
#include <cstring>

namespace taylor::trainer {

namespace {

/// Reads ahead into a string.
class Ahead {
public:
  Ahead(const InputFile &file, Cursor from) : bytes(openBytes(file.path, file.compression)) {
    bytes->skip(from.offset);
  }
  /// Appends some bytes, or notes the end.
  void more(std::string &to) {
    constexpr size_t step = 1 << 18;
    size_t old = to.size();
    to.resize(old + step);
    size_t count = bytes->read(to.data() + old, step);
    to.resize(old + count);
    ended = count == 0;
  }
  bool ended = false;
  std::unique_ptr<Bytes> bytes;
};

/// A line is a record. The last one need not end.
class LineSource : public RecordSource {
public:
  LineSource(const InputFile &file, Cursor from) : ahead(file, from), position(from) {}

  bool next(RecordBlock &block) override {
    block.records.clear();
    block.bytes = std::move(rest);
    rest.clear();
    size_t end = std::string::npos; // after the last whole line
    for (size_t searched = 0, newline = end; end == std::string::npos;) {
      if (const void *found = ::memrchr(block.bytes.data() + searched, '\n', block.bytes.size() - searched))
        newline = static_cast<const char *>(found) - block.bytes.data();
      searched = block.bytes.size();
      if (int64_t(searched) >= kBlockBytes) {
        if (newline != std::string::npos)
          end = newline + 1;
        else if (int64_t(searched) > kLongestRecord)
          return skipLine(block);
      }
      if (end == std::string::npos)
        ahead.more(block.bytes);
      if (ahead.ended)
        end = block.bytes.size();
    }
    rest = block.bytes.substr(end);
    block.bytes.resize(end);
    for (size_t begin = 0; begin < end;) {
      size_t newline = std::min(block.bytes.find('\n', begin), end);
      ++position.number;
      if (block.bytes.find_first_not_of(" \t\r\n", begin) < newline)
        block.records.push_back({begin, newline - begin, position.number,
                                 int64_t(newline - begin) > kLongestRecord ? RecordBlock::Record::TooLong
                                                                           : RecordBlock::Record::Whole});
      begin = newline + 1;
    }
    position.offset += end;
    finish(block);
    return end > 0;
  }

private:
  /// Of a line without an end in sight nothing is kept.
  bool skipLine(RecordBlock &block) {
    size_t newline = std::string::npos;
    while (newline == std::string::npos && !ahead.ended) {
      position.offset += block.bytes.size();
      block.bytes.clear();
      ahead.more(block.bytes);
      newline = block.bytes.find('\n');
    }
    size_t end = newline == std::string::npos ? block.bytes.size() : newline + 1;
    position.offset += end;
    ++position.number;
    rest = block.bytes.substr(end);
    block.bytes.clear();
    block.records.push_back({0, 0, position.number, RecordBlock::Record::TooLong});
    finish(block);
    return true;
  }
  void finish(RecordBlock &block) {
    block.next = position;
    block.consumed = ahead.bytes->consumed();
  }

  Ahead ahead;
  Cursor position; // of what `rest` holds
  std::string rest;
};

/// A piece as cutDocuments cuts them is a record; its number is that of its first line.
class PieceSource : public RecordSource {
public:
  PieceSource(const InputFile &file, int64_t pieceSize, Cursor from)
      : ahead(file, from), pieceSize(pieceSize), position(from) {}

  bool next(RecordBlock &block) override {
    block.bytes.clear();
    block.records.clear();
    while (int64_t(block.bytes.size()) < kBlockBytes) {
      std::string_view piece = nextPiece();
      if (piece.empty())
        break;
      block.records.push_back({block.bytes.size(), piece.size(), position.number + 1});
      block.bytes += piece;
      position.number += std::count(piece.begin(), piece.end(), '\n');
      position.offset += piece.size();
      used += piece.size();
    }
    block.next = position;
    block.consumed = ahead.bytes->consumed();
    return !block.records.empty();
  }

private:
  std::string_view left() const { return std::string_view(rest).substr(used); }
  void more() {
    rest.erase(0, used);
    used = 0;
    ahead.more(rest);
  }
  /// Empty at the end.
  std::string_view nextPiece() {
    while (int64_t(left().size()) <= pieceSize && !ahead.ended)
      more();
    if (int64_t(left().size()) <= pieceSize)
      return left();
    size_t newline = left().rfind('\n', pieceSize - 1);
    for (size_t from = pieceSize; newline == std::string::npos;) {
      newline = left().find('\n', from);
      from = left().size();
      if (newline != std::string::npos || ahead.ended || int64_t(left().size()) > kLongestRecord)
        break;
      more();
    }
    size_t end = newline == std::string::npos ? left().size() : newline + 1;
    return left().substr(0, int64_t(end) > kLongestRecord ? characterEnd(kLongestRecord) : end);
  }
  /// The last end of a character up to there: for a line without an end in sight.
  size_t characterEnd(size_t end) const {
    while (end > 1 && (left()[end] & 0xC0) == 0x80)
      --end;
    return end;
  }

  Ahead ahead;
  int64_t pieceSize;
  Cursor position;
  std::string rest;
  size_t used = 0;
};

} // namespace

std::unique_ptr<RecordSource> openRecords(const InputFile &file, const RecordOptions &options, Cursor from) {
  switch (file.format) {
  case Format::JsonLines:
    return std::make_unique<LineSource>(file, from);
  case Format::Parquet:
    return openParquet(file, options, from);
  case Format::Text:
    break;
  }
  return std::make_unique<PieceSource>(file, options.pieceSize, from);
}

std::string describeDefect(Defect defect, const std::string &field) {
  switch (defect) {
  case Defect::NotJson:
    return "not JSON";
  case Defect::NotAnObject:
    return "no JSON object";
  case Defect::NoField:
    return "no field '" + field + "'";
  case Defect::NotText:
    return "field '" + field + "' is no string";
  case Defect::NotUtf8:
    return "not UTF-8";
  case Defect::HalfPair:
    return "half of a surrogate pair in field '" + field + "'";
  case Defect::Array:
    return "an array";
  case Defect::SeveralLines:
    return "an object on several lines";
  case Defect::TooLong:
    break;
  }
  return text("longer than ", kLongestRecord >> 20, " MB");
}

const char *wayOut(Defect defect) {
  switch (defect) {
  case Defect::NoField:
  case Defect::NotText:
    return " (--field names another)";
  case Defect::Array:
    return " (a record is a line: jq -c '.[]' FILE writes them so)";
  case Defect::SeveralLines:
    return " (a record is a line: jq -c . FILE writes them so)";
  default:
    return "";
  }
}

RecordText readRecord(Format format, const std::string &field, const RecordBlock &block,
                      const RecordBlock::Record &record) {
  std::string_view bytes = block.of(record);
  if (record.state == RecordBlock::Record::Missing)
    return {"", Defect::NotText};
  if (record.state == RecordBlock::Record::TooLong)
    return {"", Defect::TooLong};
  if (format != Format::JsonLines)
    return validUtf8Prefix(bytes) == bytes.size() ? RecordText{std::string(bytes), std::nullopt}
                                                  : RecordText{"", Defect::NotUtf8};
  constexpr std::string_view mark = "\xEF\xBB\xBF",
                             space = " \t\r"; // of byte order, which some programs begin with
  if (record.number == 1 && bytes.starts_with(mark))
    bytes.remove_prefix(mark.size());
  size_t begin = bytes.find_first_not_of(space);
  if (begin == bytes.npos)
    return {"", std::nullopt};
  bytes = bytes.substr(begin, bytes.find_last_not_of(space) + 1 - begin);
  if (bytes.starts_with('['))
    return {"", Defect::Array};
  if (bytes == "{")
    return {"", Defect::SeveralLines};
  RecordField found = findField(bytes, field);
  switch (found.kind) {
  case RecordField::Text:
    if (validUtf8Prefix(found.text) != found.text.size())
      return {"", Defect::NotUtf8};
    return {std::move(found.text), std::nullopt};
  case RecordField::HalfPair:
    return {"", Defect::HalfPair};
  case RecordField::NotJson:
    return {"", Defect::NotJson};
  case RecordField::NotAnObject:
    return {"", Defect::NotAnObject};
  case RecordField::Absent:
    return {"", Defect::NoField};
  case RecordField::Other:
    break;
  }
  return {"", Defect::NotText};
}

} // namespace taylor::trainer

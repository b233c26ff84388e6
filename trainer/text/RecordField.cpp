// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/RecordField.h"
#include <algorithm>
#include <optional>
#include <vector>

namespace taylor::trainer {

namespace {

/// A field as one key, and as those between its dots.
struct Path {
  explicit Path(std::string_view field) : whole(field) {
    for (size_t begin = 0;;) {
      size_t dot = field.find('.', begin);
      parts.push_back(field.substr(begin, dot - begin));
      if (dot == std::string_view::npos)
        break;
      begin = dot + 1;
    }
  }
  std::string_view whole;
  std::vector<std::string_view> parts;
};

void appendUtf8(std::string &to, unsigned point) {
  if (point < 0x80) {
    to += char(point);
  } else if (point < 0x800) {
    to += char(0xC0 | point >> 6);
    to += char(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    to += char(0xE0 | point >> 12);
    to += char(0x80 | (point >> 6 & 0x3F));
    to += char(0x80 | (point & 0x3F));
  } else {
    to += char(0xF0 | point >> 18);
    to += char(0x80 | (point >> 12 & 0x3F));
    to += char(0x80 | (point >> 6 & 0x3F));
    to += char(0x80 | (point & 0x3F));
  }
}

class FieldReader {
public:
  FieldReader(std::string_view json, std::string_view field) : rest(json), path(field) {}

  RecordField read() {
    RecordField result;
    skipSpace();
    bool isObject = rest.starts_with('{');
    if (!readAll())
      return result;
    result.kind = !isObject ? RecordField::NotAnObject : RecordField::Absent;
    if (std::optional<Found> &found = exact ? exact : nested) {
      result.kind = found->kind;
      result.text = std::move(found->text);
    }
    return result;
  }

private:
  struct Found {
    RecordField::Kind kind;
    std::string text;
  };
  enum Want { Nothing, Exact, Nested };

  void skipSpace() {
    size_t end = rest.find_first_not_of(" \t\r\n");
    rest.remove_prefix(std::min(end, rest.size()));
  }
  bool take(char c) {
    skipSpace();
    if (!rest.starts_with(c))
      return false;
    rest.remove_prefix(1);
    return true;
  }

  /// One value and nothing after it.
  bool readAll() {
    do {
      // At the beginning of a value, or of an object's key.
      if (!objects.empty() && objects.back()) {
        if (!readKey())
          return false;
      }
      skipSpace();
      if (rest.empty())
        return false;
      char first = rest[0];
      if (first == '{' || first == '[') {
        note(RecordField::Other);
        rest.remove_prefix(1);
        objects.push_back(first == '{');
        // Keys lead on where all of those so far are the path's.
        if (first == '{' && follows)
          matched = objects.size() - 1;
        follows = false;
        wanted = Nothing;
        if (!take(first == '{' ? '}' : ']'))
          continue;
        pop();
      } else if (!readScalar()) {
        return false;
      }
      // Behind a value: close what ends here, then a comma goes on.
      while (!objects.empty() && take(objects.back() ? '}' : ']'))
        pop();
      if (!objects.empty() && !take(','))
        return false;
    } while (!objects.empty());
    skipSpace();
    return rest.empty();
  }
  void pop() {
    objects.pop_back();
    matched = std::min(matched, objects.empty() ? 0 : objects.size() - 1);
  }

  bool readKey() {
    std::string key;
    skipSpace();
    if (!readString(&key) || !take(':'))
      return false;
    follows = !isHalved && matched == objects.size() - 1 && matched < path.parts.size() &&
              key == path.parts[matched];
    wanted = objects.size() == 1 && !isHalved && key == path.whole ? Exact
             : follows && matched + 1 == path.parts.size()         ? Nested
                                                                   : Nothing;
    return true;
  }

  /// The value under a wanted key.
  void note(RecordField::Kind kind, std::string text = {}) {
    if (wanted == Nothing)
      return;
    (wanted == Exact ? exact : nested) = Found{kind, std::move(text)};
    wanted = Nothing;
  }

  bool readScalar() {
    if (rest[0] == '"') {
      std::string text;
      if (!readString(wanted ? &text : nullptr))
        return false;
      note(isHalved ? RecordField::HalfPair : RecordField::Text, std::move(text));
      return true;
    }
    note(RecordField::Other);
    for (std::string_view word : {"true", "false", "null", "NaN", "Infinity", "-Infinity"})
      if (rest.starts_with(word)) {
        rest.remove_prefix(word.size());
        return true;
      }
    return readNumber();
  }

  size_t takeDigits() {
    size_t count = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest.remove_prefix(count);
    return count;
  }
  bool readNumber() {
    if (rest.starts_with('-'))
      rest.remove_prefix(1);
    bool isZero = rest.starts_with('0');
    size_t digits = takeDigits();
    if (digits == 0 || (isZero && digits > 1))
      return false;
    if (rest.starts_with('.')) {
      rest.remove_prefix(1);
      if (takeDigits() == 0)
        return false;
    }
    if (rest.starts_with('e') || rest.starts_with('E')) {
      rest.remove_prefix(1);
      if (rest.starts_with('+') || rest.starts_with('-'))
        rest.remove_prefix(1);
      return takeDigits() > 0;
    }
    return true;
  }

  std::optional<unsigned> readHex() {
    if (rest.size() < 4)
      return std::nullopt;
    unsigned value = 0;
    for (char c : rest.substr(0, 4)) {
      unsigned digit = c >= '0' && c <= '9'   ? c - '0'
                       : c >= 'a' && c <= 'f' ? c - 'a' + 10
                       : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                              : 16;
      if (digit == 16)
        return std::nullopt;
      value = value * 16 + digit;
    }
    rest.remove_prefix(4);
    return value;
  }
  /// Behind \u: a character, or the two halves of a surrogate pair. One half alone is no character.
  bool readUnicode(std::string *to) {
    std::optional<unsigned> point = readHex();
    if (!point)
      return false;
    if (*point >= 0xD800 && *point <= 0xDBFF && rest.starts_with("\\u")) {
      std::string_view before = rest;
      rest.remove_prefix(2);
      std::optional<unsigned> low = readHex();
      if (low && *low >= 0xDC00 && *low <= 0xDFFF)
        point = 0x10000 + ((*point - 0xD800) << 10) + (*low - 0xDC00);
      else
        rest = before;
    }
    if (*point >= 0xD800 && *point <= 0xDFFF)
      isHalved = true;
    else if (to)
      appendUtf8(*to, *point);
    return true;
  }
  /// Into `to`, if that is not null.
  bool readString(std::string *to) {
    if (!rest.starts_with('"'))
      return false;
    rest.remove_prefix(1);
    isHalved = false;
    for (;;) {
      size_t plain = 0;
      while (plain < rest.size() && rest[plain] != '"' && rest[plain] != '\\' &&
             (unsigned char)rest[plain] >= 0x20)
        ++plain;
      if (to)
        to->append(rest.substr(0, plain));
      rest.remove_prefix(plain);
      if (rest.empty() || (unsigned char)rest[0] < 0x20)
        return false;
      bool ends = rest[0] == '"';
      rest.remove_prefix(1);
      if (ends)
        return true;
      if (rest.empty())
        return false;
      constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
      char escape = rest[0];
      rest.remove_prefix(1);
      if (size_t place = names.find(escape); place != std::string_view::npos) {
        if (to)
          *to += values[place];
      } else if (escape != 'u' || !readUnicode(to)) {
        return false;
      }
    }
  }

  std::string_view rest;
  Path path;
  std::vector<bool> objects; // what the reader is in: objects and arrays
  size_t matched = 0;        // of these the outermost whose keys are the path's
  bool follows = false;      // the value to come is that of the path's next key
  bool isHalved = false;     // the last string had half of a surrogate pair
  Want wanted = Nothing;
  std::optional<Found> exact, nested;
};

} // namespace

RecordField findField(std::string_view json, std::string_view field) {
  return FieldReader(json, field).read();
}

} // namespace taylor::trainer

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TEXT_RECORDFIELD_H
#define TAYLOR_TRAINER_TEXT_RECORDFIELD_H
#include <string>
#include <string_view>

namespace taylor::trainer {

struct RecordField {
  /// HalfPair: a string with half of a surrogate pair, which is no character.
  enum Kind { NotJson, NotAnObject, Absent, Text, Other, HalfPair } kind = NotJson;
  std::string text;
};

/// The string under a key of a JSON object, the last one where the key stands twice. A field with dots is the
/// key of that name, or else what the keys between the dots lead to: "data.text" of {"data": {"text": ".."}}.
///
/// What other keys have is passed over, and only has to end: their numbers may be NaN, infinite or larger
/// than a double, as Python writes them, and their strings may hold halves of surrogate pairs. Neither the
/// stack nor memory grows with the record's nesting, except for a bit a level.
RecordField findField(std::string_view json, std::string_view field);

} // namespace taylor::trainer
#endif

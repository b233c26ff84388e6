// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/support/Json.h"

namespace taylor::trainer {

bool isPlainJson(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF"))
    return false;
  int depth = 0;
  bool inString = false;
  for (size_t i = 0; i < bytes.size(); ++i) {
    char byte = bytes[i];
    if (byte == '\0')
      return false;
    if (inString) {
      i += byte == '\\';
      inString = byte != '"';
    } else if (byte == '"') {
      inString = true;
    } else if (byte == '[' || byte == '{') {
      if (++depth > kDeepestJson)
        return false;
    } else if (byte == ']' || byte == '}') {
      --depth;
    }
  }
  return true;
}

} // namespace taylor::trainer

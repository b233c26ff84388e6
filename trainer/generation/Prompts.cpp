// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/generation/Prompts.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include "trainer/support/Json.h"
#include <sstream>

using nlohmann::json;

namespace taylor::trainer {

std::vector<std::string> readPrompts(const std::filesystem::path &path) {
  std::string contents = readFile(path);
  constexpr std::string_view mark = "\xEF\xBB\xBF"; // of byte order
  if (contents.starts_with(mark))
    contents.erase(0, mark.size());
  std::istringstream lines(contents);
  std::vector<std::string> prompts;
  bool isJson = path.extension() == ".jsonl";
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.ends_with('\r'))
      line.pop_back();
    if (size_t valid = validUtf8Prefix(line); valid != line.size())
      fail("expected UTF-8 in '", path.string(), "', but byte ", valid, " of line ", number, " is not");
    if (isJson && line.find_first_not_of(" \t\r") == std::string::npos)
      continue; // as prepare passes over them
    if (isJson) {
      json parsed = parseJson(line);
      if (!parsed.is_object() || !parsed.contains("prompt") || !parsed["prompt"].is_string())
        fail("expected {\"prompt\": \"..\"} on each line of '", path.string(), "', but line ", number,
             " is something else");
      line = parsed["prompt"];
    }
    prompts.push_back(line);
  }
  if (prompts.empty())
    fail("expected prompts, one per line, but '", path.string(), "' has none");
  return prompts;
}

} // namespace taylor::trainer

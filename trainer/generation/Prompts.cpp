// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/generation/Prompts.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include <nlohmann/json.hpp>

using nlohmann::json;

namespace taylor::trainer {

std::vector<std::string> readPrompts(const std::filesystem::path &path) {
  std::istringstream lines(readFile(path));
  std::vector<std::string> prompts;
  bool isJson = path.extension() == ".jsonl";
  for (std::string line; std::getline(lines, line);) {
    size_t number = prompts.size() + 1;
    if (line.ends_with('\r'))
      line.pop_back();
    if (size_t valid = validUtf8Prefix(line); valid != line.size())
      fail("expected UTF-8 in '", path.string(), "', but byte ", valid, " of line ", number, " is not");
    if (isJson) {
      json parsed = json::parse(line, nullptr, /*allow_exceptions=*/false);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/figures/Pictures.h"
#include "trainer/support/Error.h"

namespace taylor::trainer {

std::string beginPicture(size_t columns, size_t rows) {
  return text(R"(# gnuplot -c THIS OUTPUT.png|OUTPUT.svg
set encoding utf8
columns = )",
              columns, R"(
if (ARG1[strlen(ARG1) - 3:] eq ".png") {
  set terminal pngcairo size 200 + 620 * columns, )",
              500 * rows, R"( font "Sans,11"
} else {
  set terminal svg size 200 + 620 * columns, )",
              500 * rows, R"( font "Sans,13" background "white"
}
set output ARG1
set grid
)");
}

std::string csvField(const std::string &text) {
  if (text.find_first_of(",\"\n") == std::string::npos)
    return text;
  std::string result = "\"";
  for (char c : text)
    result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

} // namespace taylor::trainer

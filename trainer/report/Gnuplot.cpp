// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/report/Gnuplot.h"
#include "runtime/Error.h"
#include "runtime/Process.h"
#include "trainer/support/Error.h"

namespace fs = std::filesystem;

namespace taylor::trainer {

void requireGnuplot() {
  try {
    if (runtime::runProcess({"gnuplot", "--version"}, 1e9, [] {}).exitCode == 0)
      return;
  } catch (const runtime::Error &) { // it could not be started
  }
  fail("requires gnuplot for the pictures (Debian package gnuplot-nox); or pass --no-plots");
}

/// The last lines of what gnuplot says tell what is wrong; it leaves status 0 at times.
void drawPlot(const fs::path &script, const fs::path &picture, const fs::path &data) {
  runtime::ProcessResult result =
      runtime::runProcess({"gnuplot", "-c", script.string(), picture.string(), data.string()}, 1e9, [] {});
  std::error_code error;
  if (result.exitCode != 0 || !fs::is_regular_file(picture, error) || fs::file_size(picture, error) == 0)
    fail("gnuplot could not draw '", picture.filename().string(), "': ", result.errors,
         "; --no-plots leaves the pictures out");
}

std::string quotedForPlot(const std::string &text) {
  std::string result = "'";
  for (char c : text)
    result += c == '\'' ? "''" : std::string(1, c == '\n' ? ' ' : c);
  return result + "'";
}

} // namespace taylor::trainer

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_REPORT_GNUPLOT_H
#define TAYLOR_TRAINER_REPORT_GNUPLOT_H
#include <filesystem>
#include <string>

namespace taylor::trainer {

/// Throws Error, with a way out, where there is no gnuplot.
void requireGnuplot();

/// Runs `script` with the arguments PICTURE and DATA (ARG1, ARG2 there). Throws Error, with what gnuplot
/// said, where no picture comes of it.
void drawPlot(const std::filesystem::path &script, const std::filesystem::path &picture,
              const std::filesystem::path &data);

/// A gnuplot string in single quotes, in which nothing is replaced but a quote that is doubled.
std::string quotedForPlot(const std::string &text);

} // namespace taylor::trainer
#endif

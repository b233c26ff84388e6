// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the pictures and tables of all figures share.
#ifndef TAYLOR_TRAINER_FIGURES_PICTURES_H
#define TAYLOR_TRAINER_FIGURES_PICTURES_H
#include <cstddef>
#include <string>

namespace taylor::trainer {

/// The beginning of a gnuplot script, called as `gnuplot -c SCRIPT OUTPUT.png|OUTPUT.svg`: the terminal
/// that fits the ending and so many plots; a variable `columns`.
std::string beginPicture(size_t columns, size_t rows);

/// A field of a CSV file (RFC 4180).
std::string csvField(const std::string &text);

} // namespace taylor::trainer
#endif

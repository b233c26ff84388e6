// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What pictures, tables and queues of all figures share.
#ifndef TAYLOR_TRAINER_FIGURES_PICTURES_H
#define TAYLOR_TRAINER_FIGURES_PICTURES_H
#include "trainer/config/Config.h"
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

namespace taylor::trainer {

//===----------------------------------------------------------------------===//
// What the pictures and tables of all figures share.
//===----------------------------------------------------------------------===//

/// The beginning of a gnuplot script, called as `gnuplot -c SCRIPT OUTPUT.png|OUTPUT.svg`: the terminal
/// that fits the ending and so many plots; a variable `columns`.
std::string beginPicture(size_t columns, size_t rows);

/// A field of a CSV file (RFC 4180).
std::string csvField(const std::string &text);

//===----------------------------------------------------------------------===//
// Whether the results of one run may stand for those of another.
//===----------------------------------------------------------------------===//

/// What `other` has that a run of `config` has not, "train.steps = 2 instead of 4": of the settings in their
/// order the first that differs, or the specification's text. Settings that change no number except for its
/// rounding, such as the number of threads, do not count.
std::optional<std::string> differenceOf(const Config &other, const Config &config);

/// The same of what lies in a run's folder, whose settings and specification are there; nothing where there
/// is no run. Throws Error where its settings cannot be read.
std::optional<std::string> differenceOf(const std::filesystem::path &folder, const Config &config);

/// Throws Error, with a way out, where there is one.
void requireSameRun(const std::filesystem::path &folder, const Config &config);

} // namespace taylor::trainer
#endif

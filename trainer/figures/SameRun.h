// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the results of one run may stand for those of another.
#ifndef TAYLOR_TRAINER_FIGURES_SAMERUN_H
#define TAYLOR_TRAINER_FIGURES_SAMERUN_H
#include "trainer/config/Config.h"
#include <filesystem>
#include <optional>

namespace taylor::trainer {

/// What `other` has that a run of `config` has not, "train.steps = 2 instead of 4": of the settings in their
/// order the first that differs, or the specification's text. Settings that change no number but for its
/// rounding, such as the number of threads, do not count.
std::optional<std::string> differenceOf(const Config &other, const Config &config);

/// The same of what lies in a run's folder, whose settings and specification are there; nothing where there
/// is no run. Throws Error where its settings cannot be read.
std::optional<std::string> differenceOf(const std::filesystem::path &folder, const Config &config);

/// Throws Error, with a way out, where there is one.
void requireSameRun(const std::filesystem::path &folder, const Config &config);

} // namespace taylor::trainer
#endif

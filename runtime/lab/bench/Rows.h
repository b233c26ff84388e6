// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measured times as rows of a table.
#ifndef TAYLOR_RUNTIME_LAB_BENCH_ROWS_H
#define TAYLOR_RUNTIME_LAB_BENCH_ROWS_H
#include "runtime/lab/bench/Measure.h"
#include <nlohmann/json_fwd.hpp>

namespace taylor::bench {

/// The form in which the processor's code runs a function for these sizes.
const runtime::FormCode &chosenForm(const Manifest &manifest, const std::string &function,
                                    const Shape &shape);

/// The row of contender `own`, which is compiled by Taylor, as JSON: its time, share of the peak and memory,
/// next to those of the others.
nlohmann::json describeRow(const Request &request, const std::string &direction, const Manifest &manifest,
                           const Rounds &rounds, const std::vector<Contender> &contenders, size_t own);

/// Adds how many times as long as the row's own calls another's took, in the same rounds: "ratio", and from 6
/// rounds on "interval".
void addRatio(nlohmann::json &row, const std::string &name, const std::vector<double> &other,
              const std::vector<double> &own);

/// The ratios of a row for people, without the end of a line; for artifacts with their intervals.
void printRatios(const nlohmann::json &row);

/// A row of describeRow for people, on one line.
void printRow(const nlohmann::json &row);

} // namespace taylor::bench

#endif

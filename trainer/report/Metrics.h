// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_REPORT_METRICS_H
#define TAYLOR_TRAINER_REPORT_METRICS_H
#include "trainer/report/EventFile.h"
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace taylor::trainer {

/// One line of metrics.jsonl and of metrics.csv: names and values in the order they are to be read. A value
/// that is not finite is written as null, which JSON has no better word for.
using Measurements = std::vector<std::pair<std::string, double>>;

/// metrics.jsonl in the run's folder, a line per call, and the same numbers as metrics.csv and for
/// TensorBoard. A resumed run drops what was logged after the step it resumes from, so that every step stands
/// there once.
class Metrics {
public:
  /// `step`: the last step whose lines stay; -1 starts anew. `evaluated`: the last one that the run which
  /// goes on knows to be evaluated; later lines with a validation_loss go too. Throws Error if the files
  /// cannot be written. `columns`: of metrics.csv, after the step; none: no such file. What a line does not
  /// measure is empty there.
  Metrics(const std::filesystem::path &folder, int64_t step, int64_t evaluated, bool tensorboard,
          std::vector<std::string> columns = {});
  /// TensorBoard sees "loss" as train/loss and "validation_x" as validation/x.
  void write(int64_t step, const Measurements &measurements);

private:
  std::string tableRow(int64_t step, const Measurements &measurements) const;

  std::filesystem::path path;
  std::vector<std::string> columns;
  std::ofstream lines, table;
  std::unique_ptr<EventFile> events;
};

} // namespace taylor::trainer
#endif

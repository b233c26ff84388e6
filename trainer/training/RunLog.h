// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_RUNLOG_H
#define TAYLOR_TRAINER_TRAINING_RUNLOG_H
#include "trainer/model/Cost.h"
#include "trainer/report/Metrics.h"
#include "trainer/report/Progress.h"
#include "trainer/training/RunState.h"
#include "trainer/training/Speed.h"
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace taylor::trainer {

/// What a step was, and what it took.
struct StepReport {
  double loss, learningRate, gradientNorm;
  double speed;   ///< tokens per second
  double waited;  ///< seconds, for data
  int64_t memory; ///< bytes, the most so far
};

/// What a run tells: lines and a bar on stderr, the files of metrics, the summary. Of several processes the
/// first alone tells anything. It changes nothing of the run.
class RunLog {
public:
  /// All must live as long as this. Measures what the device could do.
  RunLog(const Config &config, const AttentionKernel &attention, const Data &data, const Model &model,
         const Updates &updates, const RunState &state, const Pace &pace, const Group &group);

  /// Begins the files of metrics, or goes on with them after the run's state, and says what the run is.
  void open();
  /// From now on, lines stand above a bar.
  void begin();
  /// A line for the user.
  void say(const std::string &line);
  /// say(), for those who warn.
  std::function<void(const std::string &)> warn() {
    return [this](const std::string &warning) { say(warning); };
  }
  /// A line of metrics for a step.
  void write(int64_t step, const StepReport &made);
  /// So too for the last evaluation.
  void writeEvaluation();
  /// The bar comes to a step.
  void show(int64_t step, const StepReport &made);
  /// The bar's end.
  void end();
  /// summary.json, and the last line.
  void summarise(int64_t step);

private:
  void describe() const;
  Measurements measurementsOf(const StepReport &made) const;
  std::string note(const StepReport &made) const;
  /// "updates left out: 2" after `separator`; empty if none was.
  std::string leftOut(const char *separator) const;
  /// The share of the device's peak at a speed; not a number where the peak is unknown.
  double shareOfPeak(double speed) const { return peak > 0 ? speed * cost.trainingPerToken() / peak : NAN; }

  const Config &config;
  const AttentionKernel &attention;
  const Data &data;
  const Model &model;
  const Updates &updates;
  const RunState &state;
  const Pace &pace;
  const Group &group;
  ModelCost cost;
  double peak;                      // operations per second; 0: unknown
  std::unique_ptr<Metrics> metrics; // null in all processes but the first
  std::optional<Progress> progress; // so too
};

} // namespace taylor::trainer
#endif

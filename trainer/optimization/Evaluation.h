// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_OPTIMIZATION_EVALUATION_H
#define TAYLOR_TRAINER_OPTIMIZATION_EVALUATION_H
#include "trainer/distributed/Group.h"
#include "trainer/model/Model.h"
#include "trainer/text/Validation.h"
#include <cmath>

namespace taylor::trainer {

/// Means over all validation targets, so a batch counts as much as its targets do.
struct EvaluationResult {
  double loss = NAN;
  double accuracy = NAN; // share of targets that are the most likely token
};

/// The loss on the validation sequences, and whether it still falls.
class Evaluation {
public:
  Evaluation(const Config &config, const Model &model, const ValidationSequences &sequences,
             const Group &group);

  /// Processes share the sequences.
  EvaluationResult run() const;

  struct State {
    double best = INFINITY; // lowest finite loss so far
    int64_t count = 0;      // evaluations so far
    int64_t since = 0;      // evaluations in a row without a lower one
  };
  /// Whether to stop: `loss` is the evaluation.patience-th in a row that is no new best.
  bool stopsAt(double loss);
  const State &state() const { return current; }
  void restore(const State &state) { current = state; }

private:
  const Config &config;
  const Model &model;
  const ValidationSequences &sequences;
  const Group &group;
  State current;
};

} // namespace taylor::trainer
#endif

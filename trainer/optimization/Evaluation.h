// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_OPTIMIZATION_EVALUATION_H
#define TAYLOR_TRAINER_OPTIMIZATION_EVALUATION_H
#include "trainer/distributed/Group.h"
#include "trainer/model/Model.h"
#include "trainer/text/Validation.h"

namespace taylor::trainer {

// The loss on the validation text, and whether it still falls.
class Evaluation {
public:
  Evaluation(const Config &config, const Model &model, const ValidationText &text, const Group &group);

  // The mean over all targets, so a batch counts as much as its targets do. Processes share the sequences.
  double run() const;

  struct State {
    double best = 0;   // lowest loss so far; of no meaning before the first evaluation
    int64_t count = 0; // evaluations so far
    int64_t since = 0; // evaluations in a row without a lower one
  };
  // Whether to stop: `loss` is the evaluation.patience-th in a row that is no new best.
  bool stopsAt(double loss);
  const State &state() const { return current; }
  void restore(const State &state) { current = state; }

private:
  const Config &config;
  const Model &model;
  const ValidationText &text;
  const Group &group;
  State current;
};

} // namespace taylor::trainer
#endif

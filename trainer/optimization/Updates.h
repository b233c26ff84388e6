// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_OPTIMIZATION_UPDATES_H
#define TAYLOR_TRAINER_OPTIMIZATION_UPDATES_H
#include "trainer/distributed/GradientReducer.h"
#include "trainer/optimization/Batch.h"
#include "trainer/optimization/Optimizer.h"
#include "trainer/optimization/Outliers.h"

namespace taylor::trainer {

/// What an update leaves for the next ones, besides weights and the optimizer's moments.
struct UpdateState {
  int64_t skipped = 0;               // updates left out so far
  std::vector<double> losses, norms; // OutlierDetector::values()
};

struct UpdateResult {
  double loss = 0;         // weighted mean over the batch's targets
  double gradientNorm = 0; // before clipping
  double learningRate = 0;
  bool skipped = false;
  std::string why; // of the first update that was left out for a loss or gradient that is not finite: which,
                   // and where
  int signal = 0;  // that one of the processes was sent (interrupted()), or 0
};

/// One step of training: gradients of the mean loss over a batch's targets (Batch::weights), summed over
/// micro-batches and processes; what is done where they are not finite or unusually large; the optimizer's
/// update. Every process makes the same decisions from the same numbers.
class Updates {
public:
  /// Gives all processes the model of the first.
  Updates(const Config &config, const Model &model, Optimizer &optimizer, const Group &group);

  /// `batch`: this process' share. `step` counts from 0. Throws Error at a loss or gradient that is not
  /// finite, before the update, unless these are to be skipped.
  UpdateResult update(const Batch &batch, int64_t step);

  UpdateState state() const { return {skipped, losses.values(), norms.values()}; }
  void restore(UpdateState state);

private:
  /// Adds the gradients of all micro-batches; this process' part of the batch's mean loss.
  double backward(const Batch &batch);
  /// Whether the update is to be made; says why not.
  bool accepts(UpdateResult &result, int64_t step, const Batch &batch);
  /// "the gradient of 'lm_head.weight'": where numbers stop being finite, in this process' share of the
  /// batch; empty where it is not found there.
  std::string findNonFinite(const Batch &batch) const;

  const Config &config;
  const Model &model;
  Optimizer &optimizer;
  const Group &group;
  GradientReducer reducer;
  OutlierDetector losses, norms;
  int64_t skipped = 0;
  int64_t skippedInRow = 0; // for what is not finite
};

} // namespace taylor::trainer
#endif

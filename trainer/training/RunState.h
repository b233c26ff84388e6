// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_TRAINING_RUNSTATE_H
#define TAYLOR_TRAINER_TRAINING_RUNSTATE_H
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/distributed/Group.h"
#include "trainer/model/AttentionKernel.h"
#include "trainer/text/Data.h"
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace taylor::trainer {

/// How far a run is, and the checkpoints from which it goes on: what they keep, what a run that goes on must
/// have in common with what it began as, and which of them has all of the present state. Of several processes
/// the first alone reads and writes, and tells the others, which may be on machines without the run's folder.
class RunState {
public:
  /// What a checkpoint of the run says besides how far it is. All must live as long as this.
  RunState(const Config &config, const AttentionKernel &attention, const Data &data, const Model &model,
           Optimizer &optimizer, Updates &updates, Evaluation &evaluation, const Group &group);

  /// Goes on from the newest checkpoint, if there is one. Returns lines for the user. Throws Error with a way
  /// out where it is damaged, and where it is another run's.
  std::vector<std::string> resume();
  /// A step begins: no checkpoint has what it changes.
  void beginStep() { newest.reset(); }
  /// Its update is made, from so many targets.
  void addStep(double loss, int64_t targets);
  /// The evaluation after a step.
  void addEvaluation(int64_t step, const EvaluationResult &result);
  /// Writes the checkpoint of a step, and removes old ones.
  void save(int64_t step, const std::function<void(const std::string &)> &warn);
  /// Removes those that are beyond checkpoint.keep.
  void removeOld(const std::function<void(const std::string &)> &warn) const;

  /// That of the last checkpoint which was read or written; 0 before there is one.
  int64_t step() const { return checkpoint.state.step; }
  /// Targets that steps have learned from.
  int64_t learned() const { return checkpoint.state.learned; }
  /// Of the last steps, at most 20.
  const std::vector<double> &losses() const { return checkpoint.state.losses; }
  /// The step of the last evaluation, or -1, and what it found.
  int64_t evaluatedStep() const { return checkpoint.state.evaluatedStep; }
  const EvaluationResult &evaluated() const { return checkpoint.state.evaluated; }
  /// The checkpoint that has all of the present state, if there is one.
  const std::optional<std::filesystem::path> &saved() const { return newest; }
  /// The resolved config.toml, as checkpoints have it.
  const std::string &settings() const { return checkpoint.settings; }

private:
  const Config &config;
  const Data &data;
  const Model &model;
  Optimizer &optimizer;
  Updates &updates;
  Evaluation &evaluation;
  const Group &group;
  std::filesystem::path folder; // of checkpoints
  Checkpoint checkpoint;
  std::optional<std::filesystem::path> newest;
};

} // namespace taylor::trainer
#endif

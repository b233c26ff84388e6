// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/config/Preset.h"

namespace taylor::trainer {

namespace {

/// As the paper's published code trains (arXiv 2507.23632, its train.py), where that and its appendix D
/// differ too: one GPU's half of the batch is a group, updates count from 0 to 100 000 (one more than there
/// are steps), and the rate falls towards a horizon of a million steps. Its loss scale, which bf16 does not
/// need, leaves updates out whose gradients are not finite. Gated variants add optimizer.clip = 1.
void applyPaper(Config &config) {
  ModelConfig &model = config.model;
  model.hidden = 1024;
  model.intermediate = 2048;
  model.layers = 20;
  model.heads = 16;
  model.normEpsilon = 1e-5;
  model.initialization = "uniform";
  model.initialDeviation = 0.02;
  TrainConfig &train = config.train;
  train.steps = 100001;
  train.batch = 36;
  train.context = 1024;
  train.precision = "bf16";
  train.activationCheckpointing = true;
  train.onNonFinite = "skip";
  config.data.sampler = "documents";
  config.data.validationFraction = 0.001; // of text that is not prepared, or has no test split of its own
  config.data.groups = 2;
  OptimizerConfig &optimizer = config.optimizer;
  optimizer.learningRate = 1e-4;
  optimizer.beta1 = 0.9;
  optimizer.beta2 = 0.999;
  optimizer.epsilon = 1e-7;
  optimizer.weightDecay = 0.01;
  optimizer.decay = "all";
  optimizer.clip = 0;
  ScheduleConfig &schedule = config.schedule;
  schedule.kind = "linear";
  schedule.warmup = 10000;
  schedule.horizon = 1000000;
  schedule.final = 0;
  schedule.lag = 2; // its warm-up begins at 0, and is one update late
  // Its first test is after update 10 000, the 10 001st; the last is here that of the end, and not one more
  // a step before it.
  config.evaluation.every = 10001;
  config.evaluation.sequences = 0;
  config.checkpoint.every = 1000;
  config.log.every = 10;
}

} // namespace

std::vector<std::string> presets() { return {"paper"}; }

void applyPreset(const std::string &name, Config &config) {
  if (name == "paper")
    applyPaper(config);
}

} // namespace taylor::trainer

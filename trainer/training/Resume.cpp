// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Hash.h"
#include "trainer/support/Error.h"
#include "trainer/training/Beginning.h"
#include <set>

namespace fs = std::filesystem;

namespace taylor::trainer {

TrainingState commonState(const Config &config, const std::string &specification, const Data &data) {
  TrainingState state;
  const std::set<std::string> same = {
      "run.seed",     "attention.mask", "attention.parameters", "model.heads",        "model.norm_epsilon",
      "data.sampler", "data.symbols",   "data.pairs",           "data.document_mask", "data.groups",
      "train.batch",  "train.context",  "train.precision"};
  const std::set<std::string> told = {"train.on_nonfinite", "train.skip_above",  "optimizer.beta1",
                                      "optimizer.beta2",    "optimizer.epsilon", "optimizer.weight_decay",
                                      "optimizer.decay",    "optimizer.clip",    "optimizer.learning_rate",
                                      "schedule.kind",      "schedule.warmup",   "schedule.horizon",
                                      "schedule.final",     "schedule.lag"};
  for (const WrittenSetting &setting : writtenSettings(config)) {
    if (same.contains(setting.key))
      state.settings.push_back({setting.key, setting.value});
    if (told.contains(setting.key))
      state.changeable.push_back({setting.key, setting.value});
  }
  state.specification = runtime::sha256(specification);
  state.text = runtime::sha256(data.fingerprint());
  state.trainingTokens = data.training.size();
  return state;
}

// What reading a checkpoint's file throws, with a way out.
template <typename Read> static auto orGoOnFromOlder(const fs::path &checkpoint, Read read) {
  try {
    return read();
  } catch (const Error &error) {
    fail(error.what(), "; if the model's settings are those of its config.toml, it is damaged: remove '",
         checkpoint.string(), "' to go on from the checkpoint before it");
  }
}

std::string readState(const fs::path &checkpoint) {
  return orGoOnFromOlder(checkpoint, [&] { return readFile(checkpoint / "state.json"); });
}

void loadTensors(const fs::path &checkpoint, const Model &model, const Optimizer::State &moments) {
  orGoOnFromOlder(checkpoint, [&] {
    loadModel(Weights(checkpoint), model);
    loadOptimizer(checkpoint, moments);
  });
}

} // namespace taylor::trainer

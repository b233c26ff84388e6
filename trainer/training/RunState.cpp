// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/RunState.h"
#include "runtime/Hash.h"
#include "trainer/distributed/GradientReducer.h"
#include "trainer/support/Error.h"
#include <set>

namespace fs = std::filesystem;

namespace taylor::trainer {

constexpr size_t kLossWindow = 20; // steps whose mean is the summary's train_loss and the bar's loss

/// What a run that goes on must have in common with what it began as, and which other settings it tells where
/// they have changed. (Sizes of tensors are compared where these are read.)
static TrainingState commonState(const Config &config, const std::string &specification, const Data &data) {
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

/// What reading a checkpoint's file throws, with a way out.
template <typename Read> static auto orGoOnFromOlder(const fs::path &checkpoint, Read read) {
  try {
    return read();
  } catch (const Error &error) {
    fail(error.what(), "; if the model's settings are those of its config.toml, it is damaged: remove '",
         checkpoint.string(), "' to go on from the checkpoint before it");
  }
}

/// The content of state.json.
static std::string readState(const fs::path &checkpoint) {
  return orGoOnFromOlder(checkpoint, [&] { return readFile(checkpoint / "state.json"); });
}

static void loadTensors(const fs::path &checkpoint, const Model &model, const Optimizer::State &moments) {
  orGoOnFromOlder(checkpoint, [&] {
    loadModel(Weights(checkpoint), model);
    loadOptimizer(checkpoint, moments);
  });
}

RunState::RunState(const Config &config, const AttentionKernel &attention, const Data &data,
                   const Model &model, Optimizer &optimizer, Updates &updates, Evaluation &evaluation,
                   const Group &group)
    : config(config), data(data), model(model), optimizer(optimizer), updates(updates),
      evaluation(evaluation), group(group), folder(fs::path(config.run.folder) / "checkpoints") {
  bool bf16 = config.train.precision == "bf16";
  checkpoint.description = {config.model,
                            data.tokenizer->vocabulary(),
                            config.train.context,
                            attention.file,
                            config.attention.parameters,
                            config.attention.mask,
                            bf16,
                            computesLlamaAttention(attention.function, config.model, bf16),
                            /*text=*/{},
                            /*passedOver=*/{}};
  checkpoint.specification = attention.text;
  checkpoint.settings = writeConfig(config);
  checkpoint.state = commonState(config, attention.text, data);
}

std::vector<std::string> RunState::resume() {
  std::string found, state;
  Optimizer::State moments;
  if (group.isFirst())
    found = newestCheckpoint(folder).value_or(fs::path()).string();
  found = group.broadcastBytes(found);
  if (found.empty())
    return {};
  if (group.isFirst()) {
    state = readState(found);
    readTrainingState(state, found, checkpoint.state); // before what takes long
    moments = optimizer.room();
    loadTensors(found, model, moments);
  }
  checkpoint.state = readTrainingState(group.broadcastBytes(state), found, checkpoint.state);
  broadcastParameters(group, model.parameters());
  optimizer.restore(moments);
  updates.restore(checkpoint.state.updates);
  evaluation.restore(checkpoint.state.evaluations);
  newest = found;
  std::vector<std::string> lines = {"resuming   " + found};
  for (const std::string &change : checkpoint.state.changes)
    lines.push_back("changed    " + change);
  return lines;
}

void RunState::addStep(double loss, int64_t targets) {
  std::vector<double> &losses = checkpoint.state.losses;
  checkpoint.state.learned += targets;
  losses.push_back(loss);
  if (losses.size() > kLossWindow)
    losses.erase(losses.begin());
}

void RunState::addEvaluation(int64_t step, const EvaluationResult &result) {
  checkpoint.state.evaluatedStep = step;
  checkpoint.state.evaluated = result;
  newest.reset();
}

void RunState::save(int64_t step, const std::function<void(const std::string &)> &warn) {
  checkpoint.state.step = step;
  checkpoint.state.updates = updates.state();
  checkpoint.state.evaluations = evaluation.state();
  group.requireSame("parameters", "--resume goes on from the last checkpoint, where they were the same",
                    [&] { return model.checksum(); });
  Optimizer::State moments = optimizer.state();
  if (group.isFirst())
    saveCheckpoint(folder, checkpoint, model, moments, *data.tokenizer, config.checkpoint.keep, warn);
  newest = checkpointOf(folder, step);
}

void RunState::removeOld(const std::function<void(const std::string &)> &warn) const {
  removeOldCheckpoints(folder, config.checkpoint.keep, warn);
}

} // namespace taylor::trainer

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/Training.h"
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/model/AttentionKernel.h"
#include "trainer/model/Cost.h"
#include "trainer/optimization/Batches.h"
#include "trainer/optimization/Evaluation.h"
#include "trainer/optimization/Optimizer.h"
#include "trainer/optimization/Updates.h"
#include "trainer/report/Metrics.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/support/Interrupt.h"
#include "trainer/text/Data.h"
#include "trainer/text/Sampler.h"
#include "trainer/training/Profile.h"
#include "trainer/training/RunFolder.h"
#include "trainer/training/Speed.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <chrono>
#include <cmath>
#include <deque>
#include <nlohmann/json.hpp>
#include <numeric>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t lossWindow = 20; // steps whose mean is the summary's train_loss and the bar's loss

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double mean(const std::deque<double> &values) {
  return values.empty() ? NAN : std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

std::unique_ptr<Sampler> makeSampler(const Config &config, const Data &data) {
  if (config.data.sampler == "documents")
    return std::make_unique<DocumentSampler>(data.training, config.train.context, config.train.batch,
                                             config.data.groups, config.run.seed, data.tokenizer->end());
  return std::make_unique<PackedSampler>(data.training, config.train.context, config.train.batch,
                                         config.run.seed);
}

// One run from its configuration: builds everything in its constructor, so that whatever is wrong is said at
// once.
class Run {
public:
  Run(const Config &config, Existing existing);
  int loop();

private:
  void describe() const;
  void resume();
  // One step, from 1: batch, update, measurements.
  Measurements advance(int64_t step);
  // Whether to stop.
  bool evaluateAndLog(int64_t step);
  fs::path save(int64_t step);
  void finish(int64_t step);
  std::string note(const Measurements &measurements) const;

  Config config;
  fs::path folder;
  AttentionKernel attention;
  Data data;
  bool bf16;
  Model model;
  Optimizer optimizer;
  std::unique_ptr<Sampler> sampler;
  ValidationText validationText;
  Updates updates;
  Evaluation evaluation;
  Checkpoint checkpoint;
  ModelCost cost;
  double peak; // operations per second; 0: unknown
  Profile profile;
  std::unique_ptr<Metrics> metrics;
  std::unique_ptr<BatchLoader> batches;
  int64_t lastEvaluated = -1;
  double validationLoss = NAN;
  bool warm = false;         // after this process's first step, which pays for pages and caches
  double trainedSeconds = 0; // of warm steps
  int64_t trainedTokens = 0;
  double waitedSeconds = 0; // for data, of warm steps
  std::deque<double> losses;
};

// What metrics.csv has, in this order.
const std::vector<std::string> columns = {"loss",      "lr",        "grad_norm", "tokens_per_second", "mfu",
                                          "data_wait", "memory_mb", "skipped",   "validation_loss"};

// First what takes no time, then the specification and the text: what is most often wrong.
Run::Run(const Config &theConfig, Existing existing)
    : config(theConfig), folder(checkFolder(config.run.folder, existing)),
      attention(compileAttention(config.attention, config.model, config.train.precision == "bf16",
                                 config.run.device, config.data.usesDocuments())),
      data(prepareData(config.data, at::get_num_threads())), bf16(config.train.precision == "bf16"),
      model(config.model, data.tokenizer->vocabulary(), attention.function, bf16, config.run.seed),
      optimizer(config.optimizer, model.parameters()), sampler(makeSampler(config, data)),
      validationText(data.validation, config.train.context, config.evaluation.sequences,
                     config.data.sampler == "documents", data.tokenizer->end()),
      updates(config, model, optimizer), evaluation(config, model, validationText),
      cost(costOf(model, config.train.context)), peak(peakOf(config, model.device())),
      profile(config.log, folder, model.device()) {
  claimFolder(folder, existing);
  model.setActivationCheckpointing(config.train.activationCheckpointing);
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_current_seed(config.run.seed);
  checkpoint.description = {config.model,
                            data.tokenizer->vocabulary(),
                            config.train.context,
                            attention.file,
                            config.attention.parameters,
                            config.attention.mask,
                            bf16,
                            computesLlamaAttention(attention.function, config.model, bf16)};
  checkpoint.specification = attention.text;
  checkpoint.settings = writeConfig(config);
  checkpoint.state.seed = config.run.seed;
  checkpoint.state.batch = config.train.batch;
  checkpoint.state.context = config.train.context;
  checkpoint.state.sampler = config.data.sampler;
  checkpoint.state.groups = config.data.groups;
  checkpoint.state.trainingTokens = data.training.size();
  if (existing == Existing::Resume)
    resume();
  // No earlier than here: an error above leaves an old run's files as they were.
  metrics = std::make_unique<Metrics>(folder, checkpoint.state.step > 0 ? checkpoint.state.step : -1,
                                      config.log.tensorboard,
                                      config.log.csv ? columns : std::vector<std::string>());
  replaceDurably(folder / "config.toml", checkpoint.settings);
  replaceDurably(folder / attention.file, attention.text);
  describe();
}

void Run::describe() const {
  const ModelConfig &m = config.model;
  std::fprintf(stderr, "attention  %s (%s)\n", attention.name.c_str(),
               config.attention.specification.c_str());
  std::fprintf(stderr, "model      %s parameters: %lld layers, %lld wide, %lld heads of %lld, %s%s%s\n",
               formatCount(model.parameterCount()).c_str(), (long long)m.layers, (long long)m.hidden,
               (long long)m.heads, (long long)m.headWidth(), config.train.precision.c_str(),
               config.run.device == "cpu" ? "" : " on ",
               config.run.device == "cpu" ? "" : config.run.device.c_str());
  std::fprintf(stderr, "text       %s: %s tokens to train on, %s to validate with\n", data.title.c_str(),
               formatCount(data.training.size()).c_str(), formatCount(data.validation.size()).c_str());
  std::fprintf(stderr, "run        %s: %lld steps of %lld x %lld tokens, %d threads\n", folder.c_str(),
               (long long)config.train.steps, (long long)config.train.batch, (long long)config.train.context,
               at::get_num_threads());
}

void Run::resume() {
  std::optional<fs::path> newest = newestCheckpoint(folder / "checkpoints");
  if (!newest)
    return;
  loadModel(*newest, model);
  checkpoint.state = loadTraining(*newest, optimizer, checkpoint.state);
  updates.restore(checkpoint.state.updates);
  evaluation.restore(checkpoint.state.evaluations);
  std::fprintf(stderr, "resuming   %s\n", newest->c_str());
}

Measurements Run::advance(int64_t step) {
  Clock::time_point start = Clock::now();
  double waited = 0;
  Batch batch = batches->next(waited);
  profile.begin(step);
  UpdateResult result = updates.update(batch, step - 1);
  double seconds = secondsSince(start);
  if (fs::path trace = profile.end(step, step == config.train.steps); !trace.empty())
    std::fprintf(stderr, "profile    %s\n", trace.c_str());
  if (warm) {
    trainedSeconds += seconds;
    trainedTokens += batch.counted;
    waitedSeconds += waited;
  }
  warm = true;
  losses.push_back(result.loss);
  if (losses.size() > lossWindow)
    losses.pop_front();
  double speed = batch.counted / seconds;
  Measurements measurements = {{"loss", result.loss},
                               {"lr", result.learningRate},
                               {"grad_norm", result.gradientNorm},
                               {"tokens_per_second", speed}};
  if (peak > 0)
    measurements.push_back({"mfu", speed * cost.trainingPerToken() / peak});
  measurements.push_back({"data_wait", waited});
  measurements.push_back({"memory_mb", double(peakMemory(model.device()) >> 20)});
  if (int64_t skipped = updates.state().skipped)
    measurements.push_back({"skipped", double(skipped)});
  return measurements;
}

bool Run::evaluateAndLog(int64_t step) {
  validationLoss = evaluation.run();
  lastEvaluated = step;
  metrics->write(step, {{"validation_loss", validationLoss}});
  return evaluation.stopsAt(validationLoss);
}

fs::path Run::save(int64_t step) {
  checkpoint.state.step = step;
  checkpoint.state.updates = updates.state();
  checkpoint.state.evaluations = evaluation.state();
  return saveCheckpoint(folder / "checkpoints", checkpoint, model, optimizer, *data.tokenizer,
                        config.checkpoint.keep);
}

std::string Run::note(const Measurements &measurements) const {
  std::string validation =
      lastEvaluated >= 0 ? "  validation " + formatNumber("%.3f", validationLoss) : std::string();
  return "loss " + formatNumber("%.3f", measurements[0].second) + validation + "  " +
         formatNumber("%.0f", measurements[3].second) + " tokens/s";
}

int Run::loop() {
  int64_t steps = config.train.steps, first = checkpoint.state.step, patience = config.evaluation.patience;
  bool stopped = patience > 0 && evaluation.state().since >= patience;
  if ((first >= steps || stopped) && !fs::exists(folder / "summary.json")) {
    // Ended between its last checkpoint, in front of which its evaluation was logged, and its summary.
    validationLoss = evaluation.run();
    lastEvaluated = first;
    finish(first);
    return 0;
  }
  if (first >= steps) {
    std::fprintf(stderr, "nothing to do: the run is at step %lld of %lld; raise train.steps to go on\n",
                 (long long)first, (long long)steps);
    return 0;
  }
  if (stopped) {
    std::fprintf(stderr,
                 "nothing to do: the run stopped at step %lld, %lld evaluations behind its best; raise "
                 "evaluation.patience to go on\n",
                 (long long)first, (long long)evaluation.state().since);
    return 0;
  }
  auto isDue = [](int64_t step, int64_t every) { return every > 0 && step % every == 0; };
  fs::remove(folder / "summary.json"); // of an earlier end: the run goes on behind it
  catchInterrupts();
  batches = std::make_unique<BatchLoader>(*sampler, config.data.usesDocuments(), 0, config.train.batch, first,
                                          steps);
  Progress progress("training", steps, first, /*eager=*/true);
  for (int64_t step = first + 1; step <= steps; ++step) {
    Measurements measurements = advance(step);
    if (isDue(step, config.log.every) || step == steps)
      metrics->write(step, measurements);
    bool stops = isDue(step, config.evaluation.every) && step < steps && evaluateAndLog(step);
    progress.update(step, text("step ", step, "/", steps, "  ", note(measurements)));
    if (int signal = interrupted()) {
      fs::path saved = save(step);
      progress.message(text("stopped by signal ", signal, " after step ", step, "; saved '", saved.string(),
                            "', and --resume goes on from there"));
      return 128 + signal;
    }
    if (stops) {
      progress.message(text("stopped after step ", step, ": ", patience,
                            " evaluations in a row without a lower loss than ",
                            formatNumber("%.4f", evaluation.state().best)));
      finish(step);
      return 0;
    }
    if (isDue(step, config.checkpoint.every) && step < steps)
      save(step);
  }
  progress.finish();
  finish(steps);
  return 0;
}

void Run::finish(int64_t step) {
  if (lastEvaluated != step)
    evaluateAndLog(step);
  fs::path saved = save(step);
  double speed = trainedTokens ? trainedTokens / trainedSeconds : NAN;
  double mfu = peak > 0 ? speed * cost.trainingPerToken() / peak : NAN;
  nlohmann::ordered_json summary = {{"spec", attention.name},
                                    {"specification", config.attention.specification},
                                    {"parameters", model.parameterCount()},
                                    {"steps", step},
                                    {"tokens", step * config.train.batch * config.train.context},
                                    {"tokens_per_second", speed},
                                    {"mfu", mfu},
                                    {"data_wait_share", trainedTokens ? waitedSeconds / trainedSeconds : NAN},
                                    {"skipped_updates", updates.state().skipped},
                                    {"train_loss", mean(losses)},
                                    {"validation_loss", validationLoss},
                                    {"peak_memory_mb", peakMemory(model.device()) >> 20},
                                    {"seed", config.run.seed},
                                    {"precision", config.train.precision},
                                    {"device", config.run.device},
                                    {"checkpoint", saved.string()}};
  replaceDurably(folder / "summary.json", summary.dump(2) + "\n");
  std::fprintf(stderr,
               "done       train loss %.4f (mean of %zu steps), validation loss %.4f, %.0f tokens/s; %s\n",
               mean(losses), losses.size(), validationLoss, speed, saved.c_str());
}

} // namespace

int train(const Config &config, Existing existing) {
  config.check();
  if (config.run.threads)
    at::set_num_threads(config.run.threads);
  return Run(config, existing).loop();
}

} // namespace taylor::trainer

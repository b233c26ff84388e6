// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/Training.h"
#include "trainer/checkpoint/Checkpoint.h"
#include "trainer/model/AttentionKernel.h"
#include "trainer/report/Metrics.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/support/Interrupt.h"
#include "trainer/text/Data.h"
#include "trainer/text/Sampler.h"
#include "trainer/training/Optimizer.h"
#include "trainer/training/Schedule.h"
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sys/resource.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t lossWindow = 20; // steps whose mean is the summary's train_loss and the bar's loss

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// "5.32 M", for counts of parameters and tokens.
std::string formatCount(int64_t count) {
  char buffer[32];
  double value = count;
  const char *unit = value >= 1e9 ? " G" : value >= 1e6 ? " M" : value >= 1e3 ? " k" : "";
  value /= value >= 1e9 ? 1e9 : value >= 1e6 ? 1e6 : value >= 1e3 ? 1e3 : 1;
  std::snprintf(buffer, sizeof buffer, "%.*f%s", *unit ? 2 : 0, value, unit);
  return buffer;
}

std::string formatNumber(const char *format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

double mean(const std::deque<double> &values) {
  return values.empty() ? NAN : std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

// Refuses a folder with a run in it, and one that cannot be made or written; leaves everything as it is.
fs::path checkFolder(const fs::path &folder, Existing existing) {
  std::error_code error;
  fs::path nearest = fs::absolute(folder);
  while (!fs::exists(nearest, error) && nearest.has_relative_path())
    nearest = nearest.parent_path();
  if (!fs::is_directory(nearest, error))
    fail("requires a folder for the run, but '", nearest.string(),
         "' is a file; name another with --out FOLDER");
  if (::access(nearest.c_str(), W_OK | X_OK) != 0)
    fail("requires a folder that can be written for the run, but got '", folder.string(), "': '",
         nearest.string(), "': ", std::strerror(errno), "; name another with --out FOLDER");
  if (existing == Existing::Refuse && fs::exists(folder / "metrics.jsonl", error))
    fail("expected an empty run folder, but '", folder.string(),
         "' has a run; pass --resume to continue it, "
         "--overwrite to begin anew, or --out FOLDER");
  return folder;
}

// Makes the folder, or empties it of what a run leaves there.
void claimFolder(const fs::path &folder, Existing existing) {
  std::error_code error;
  if (existing == Existing::Overwrite)
    for (const char *name : {"checkpoints", "metrics.jsonl", "summary.json", "config.toml"})
      fs::remove_all(folder / name, error);
  fs::create_directories(folder, error);
  if (error)
    fail("cannot create the run folder '", folder.string(), "': ", error.message());
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
  Measurements update(int64_t step);
  double evaluate() const;
  void evaluateAndLog(int64_t step);
  fs::path save(int64_t step);
  void finish();
  std::string note(const Measurements &measurements) const;

  Config config;
  fs::path folder;
  AttentionKernel attention;
  Data data;
  bool bf16;
  Model model;
  Optimizer optimizer;
  PackedSampler sampler;
  std::vector<int64_t> evaluationSequences;
  Checkpoint checkpoint;
  std::unique_ptr<Metrics> metrics;
  int64_t lastSaved = -1, lastEvaluated = -1;
  double validationLoss = NAN;
  bool warm = false;         // after this process's first step, which pays for pages and caches
  double trainedSeconds = 0; // of warm steps
  int64_t trainedSteps = 0;
  std::deque<double> losses;
};

// First what takes no time, then the specification and the text: what is most often wrong.
Run::Run(const Config &theConfig, Existing existing)
    : config(theConfig), folder(checkFolder(config.run.folder, existing)),
      attention(compileAttention(config.attention, config.model, config.train.precision == "bf16",
                                 config.run.device)),
      data(prepareData(config.data, at::get_num_threads())), bf16(config.train.precision == "bf16"),
      model(config.model, data.tokenizer->vocabulary(), attention.function, bf16, config.run.seed),
      optimizer(config.optimizer, model.parameters()),
      sampler(data.training, config.train.context, config.train.batch, config.run.seed),
      evaluationSequences(
          evaluationStarts(data.validation, config.train.context, config.evaluation.sequences)) {
  claimFolder(folder, existing);
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
  checkpoint.state = {0, config.run.seed, config.train.batch, config.train.context, data.training.size()};
  if (existing == Existing::Resume)
    resume();
  // No earlier than here: an error above leaves an old run's files as they were.
  metrics = std::make_unique<Metrics>(folder, checkpoint.state.step > 0 ? checkpoint.state.step : -1,
                                      config.log.tensorboard);
  writeDurably(folder / "config.toml", checkpoint.settings);
  writeDurably(folder / attention.file, attention.text);
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
  lastSaved = checkpoint.state.step;
  std::fprintf(stderr, "resuming   %s\n", newest->c_str());
}

// One optimizer step; `step` counts from 1.
Measurements Run::update(int64_t step) {
  Clock::time_point start = Clock::now();
  int64_t batch = config.train.batch, context = config.train.context;
  at::Tensor inputs = at::empty({batch, context}, at::kLong),
             targets = at::empty({batch, context}, at::kLong);
  for (int64_t i = 0; i < batch; ++i)
    sampler.sample(step - 1, i, inputs.mutable_data_ptr<int64_t>() + i * context,
                   targets.mutable_data_ptr<int64_t>() + i * context);
  double learningRate =
      config.optimizer.learningRate * learningRateFactor(config.schedule, config.train.steps, step - 1);

  at::Tensor loss = model.loss(inputs.to(model.device()), targets.to(model.device()));
  double lossValue = loss.item<double>();
  auto requireFinite = [&](double value, const char *what) {
    if (!std::isfinite(value))
      fail(
          "expected a finite ", what, ", but got ", value, " at step ", step, " (learning rate ",
          learningRate,
          "); the run stops before that update. A lower optimizer.learning_rate, a longer schedule.warmup or "
          "optimizer.clip = 1 may prevent it");
  };
  requireFinite(lossValue, "loss");
  optimizer.zeroGradients();
  loss.backward();
  double gradientNorm = optimizer.clipGradients();
  requireFinite(gradientNorm, "gradient norm");
  optimizer.step(learningRate);

  double seconds = secondsSince(start);
  if (warm) {
    trainedSeconds += seconds;
    ++trainedSteps;
  }
  warm = true;
  losses.push_back(lossValue);
  if (losses.size() > lossWindow)
    losses.pop_front();
  return {{"loss", lossValue},
          {"lr", learningRate},
          {"grad_norm", gradientNorm},
          {"tokens_per_second", batch * context / seconds}};
}

// The mean over all tokens, so the last batch counts as much as its sequences do.
double Run::evaluate() const {
  c10::NoGradGuard noGrad;
  int64_t context = config.train.context, count = evaluationSequences.size();
  double total = 0;
  Progress progress("evaluating", count);
  for (int64_t begin = 0; begin < count; begin += config.train.batch) {
    int64_t batch = std::min(config.train.batch, count - begin);
    at::Tensor tokens = at::empty({batch, context + 1}, at::kLong);
    for (int64_t i = 0; i < batch; ++i)
      data.validation.copy(evaluationSequences[begin + i], context + 1,
                           tokens.mutable_data_ptr<int64_t>() + i * (context + 1));
    tokens = tokens.to(model.device());
    at::Tensor loss = model.loss(tokens.narrow(1, 0, context), tokens.narrow(1, 1, context).contiguous());
    total += loss.item<double>() * batch;
    progress.update(begin + batch, "");
  }
  progress.finish();
  return total / count;
}

void Run::evaluateAndLog(int64_t step) {
  validationLoss = evaluate();
  lastEvaluated = step;
  metrics->write(step, {{"validation_loss", validationLoss}});
}

fs::path Run::save(int64_t step) {
  checkpoint.state.step = step;
  lastSaved = step;
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
  int64_t steps = config.train.steps, first = checkpoint.state.step;
  if (first >= steps) {
    std::fprintf(stderr, "nothing to do: the run is at step %lld of %lld; raise train.steps to go on\n",
                 (long long)first, (long long)steps);
    return 0;
  }
  auto isDue = [](int64_t step, int64_t every) { return every > 0 && step % every == 0; };
  catchInterrupts();
  Progress progress("training", steps, first, /*eager=*/true);
  for (int64_t step = first + 1; step <= steps; ++step) {
    Measurements measurements = update(step);
    if (isDue(step, config.log.every) || step == steps)
      metrics->write(step, measurements);
    if (isDue(step, config.evaluation.every) && step < steps)
      evaluateAndLog(step);
    progress.update(step, text("step ", step, "/", steps, "  ", note(measurements)));
    if (int signal = interrupted()) {
      fs::path saved = save(step);
      progress.message(text("stopped by signal ", signal, " after step ", step, "; saved '", saved.string(),
                            "', and --resume goes on from there"));
      return 128 + signal;
    }
    if (isDue(step, config.checkpoint.every) && step < steps)
      save(step);
  }
  progress.finish();
  finish();
  return 0;
}

void Run::finish() {
  int64_t steps = config.train.steps;
  evaluateAndLog(steps);
  fs::path saved = save(steps);
  struct rusage usage;
  ::getrusage(RUSAGE_SELF, &usage);
  double speed =
      trainedSteps ? trainedSteps * config.train.batch * config.train.context / trainedSeconds : NAN;
  nlohmann::ordered_json summary = {{"spec", attention.name},
                                    {"specification", config.attention.specification},
                                    {"parameters", model.parameterCount()},
                                    {"steps", steps},
                                    {"tokens", steps * config.train.batch * config.train.context},
                                    {"tokens_per_second", speed},
                                    {"train_loss", mean(losses)},
                                    {"validation_loss", validationLoss},
                                    {"peak_memory_mb", usage.ru_maxrss / 1024},
                                    {"seed", config.run.seed},
                                    {"precision", config.train.precision},
                                    {"device", config.run.device},
                                    {"checkpoint", saved.string()}};
  writeDurably(folder / "summary.json", summary.dump(2) + "\n");
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/RunLog.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include <ATen/Parallel.h>
#include <nlohmann/json.hpp>
#include <numeric>

namespace fs = std::filesystem;

namespace taylor::trainer {

static double mean(const std::vector<double> &values) {
  return values.empty() ? NAN : std::accumulate(values.begin(), values.end(), 0.0) / values.size();
}

RunLog::RunLog(const Config &config, const AttentionKernel &attention, const Data &data, const Model &model,
               const Updates &updates, const RunState &state, const Pace &pace, const Group &group)
    : config(config), attention(attention), data(data), model(model), updates(updates), state(state),
      pace(pace), group(group), cost(costOf(model, config.train.context)),
      peak(group.size() * peakOf(config, model.device())) {}

/// What metrics.csv has, in this order.
static const std::vector<std::string> kColumns = {
    "loss",      "lr",        "grad_norm", "tokens_per_second", "mfu",
    "data_wait", "memory_mb", "skipped",   "validation_loss",   "validation_accuracy"};

void RunLog::open() {
  if (!group.isFirst())
    return;
  metrics = std::make_unique<Metrics>(config.run.folder, state.step() > 0 ? state.step() : -1,
                                      state.evaluatedStep(), config.log.tensorboard,
                                      config.log.csv ? kColumns : std::vector<std::string>());
  describe();
}

void RunLog::describe() const {
  const ModelConfig &m = config.model;
  std::fprintf(stderr, "attention  %s (%s)\n", attention.name.c_str(),
               config.attention.specification.c_str());
  std::fprintf(stderr, "model      %s parameters: %lld layers, %lld wide, %lld heads of %lld, %s%s%s\n",
               formatCount(model.parameterCount()).c_str(), (long long)m.layers, (long long)m.hidden,
               (long long)m.heads, (long long)m.headWidth(), config.train.precision.c_str(),
               config.run.device == "cpu" ? "" : " on ",
               config.run.device == "cpu" ? "" : config.run.device.c_str());
  if (config.data.sampler == "recall")
    std::fprintf(stderr, "task       associative recall: %lld pairs of %lld symbols\n",
                 (long long)config.data.pairs, (long long)config.data.symbols);
  else
    std::fprintf(stderr, "text       %s: %s tokens to train on, %s to validate with\n", data.title.c_str(),
                 formatCount(data.training.size()).c_str(), formatCount(data.validation.size()).c_str());
  std::string processes = group.size() > 1 ? text(group.size(), " processes, each ") : std::string();
  std::fprintf(stderr, "run        %s: %lld steps of %lld x %lld tokens, %s%d threads\n",
               config.run.folder.c_str(), (long long)config.train.steps, (long long)config.train.batch,
               (long long)config.train.context, processes.c_str(), at::get_num_threads());
}

void RunLog::begin() {
  if (group.isFirst())
    progress.emplace("training", config.train.steps, state.step(), /*eager=*/true);
}

void RunLog::say(const std::string &line) {
  if (!group.isFirst())
    return;
  if (progress)
    progress->message(line);
  else
    std::fprintf(stderr, "%s\n", line.c_str());
}

Measurements RunLog::measurementsOf(const StepReport &made) const {
  Measurements measurements = {{"loss", made.loss},
                               {"lr", made.learningRate},
                               {"grad_norm", made.gradientNorm},
                               {"tokens_per_second", made.speed}};
  if (peak > 0)
    measurements.push_back({"mfu", shareOfPeak(made.speed)});
  measurements.push_back({"data_wait", made.waited});
  measurements.push_back({"memory_mb", double(made.memory >> 20)});
  if (int64_t skipped = updates.state().skipped)
    measurements.push_back({"skipped", double(skipped)});
  return measurements;
}

void RunLog::write(int64_t step, const StepReport &made) {
  if (metrics)
    metrics->write(step, measurementsOf(made));
}

void RunLog::writeEvaluation() {
  const EvaluationResult &result = state.evaluated();
  if (metrics)
    metrics->write(state.evaluatedStep(),
                   {{"validation_loss", result.loss}, {"validation_accuracy", result.accuracy}});
}

void RunLog::show(int64_t step, const StepReport &made) {
  if (progress)
    progress->update(step, text("step ", step, "/", config.train.steps, "  ", note(made)));
}

void RunLog::end() {
  if (progress)
    progress->finish();
}

std::string RunLog::note(const StepReport &made) const {
  std::string validation = state.evaluatedStep() >= 0
                               ? "  validation " + formatNumber("%.3f", state.evaluated().loss)
                               : std::string();
  return "loss " + formatNumber("%.3f", made.loss) + validation + "  " + formatNumber("%.0f", made.speed) +
         " tokens/s" + formatWaiting("  ", pace.waitedShare()) + leftOut("  ");
}

std::string RunLog::leftOut(const char *separator) const {
  int64_t skipped = updates.state().skipped;
  return skipped ? text(separator, "updates left out: ", skipped) : std::string();
}

void RunLog::summarise(int64_t step) {
  if (!group.isFirst())
    return;
  if (int64_t skipped = updates.state().skipped; 10 * skipped > step)
    say(text(
        "warning: ", skipped, " of ", step,
        " updates were left out: their losses or gradients were not finite, or ",
        "beyond train.skip_above; a lower optimizer.learning_rate or optimizer.clip = 1 may prevent it"));
  double speed = pace.speed();
  nlohmann::ordered_json summary = {{"spec", attention.name},
                                    {"specification", config.attention.specification},
                                    {"parameters", model.parameterCount()},
                                    {"steps", step},
                                    {"tokens", state.learned()},
                                    {"tokens_per_second", speed},
                                    {"mfu", shareOfPeak(speed)},
                                    {"start_seconds", pace.startSeconds()},
                                    {"first_step_seconds", pace.firstStepSeconds()},
                                    {"data_wait_share", pace.waitedShare()},
                                    {"skipped_updates", updates.state().skipped},
                                    {"train_loss", mean(state.losses())},
                                    {"validation_loss", state.evaluated().loss},
                                    {"validation_accuracy", state.evaluated().accuracy},
                                    {"peak_memory_mb", peakMemory(model.device()) >> 20},
                                    {"seed", config.run.seed},
                                    {"precision", config.train.precision},
                                    {"device", config.run.device},
                                    {"processes", group.size()},
                                    {"checkpoint", state.saved()->string()}};
  if (!config.attention.parameters.empty())
    summary["attention_parameters"] = config.attention.parameters;
  if (config.log.state)
    summary["state_bytes"] = decodingBytes(model, config.train.context);
  replaceDurably(fs::path(config.run.folder) / "summary.json", summary.dump(2) + "\n");
  std::fprintf(stderr, "done       train loss %.4f (mean of %zu steps), validation loss %.4f%s%s%s; %s\n",
               mean(state.losses()), state.losses().size(), state.evaluated().loss,
               std::isfinite(speed) ? formatNumber(", %.0f tokens/s", speed).c_str() : "",
               formatWaiting(", ", pace.waitedShare()).c_str(), leftOut(", ").c_str(),
               state.saved()->c_str());
}

} // namespace taylor::trainer
